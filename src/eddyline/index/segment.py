"""An immutable compiled part of a query set: queries found by key, sliced, or evaluated row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.index.choose import choose
from eddyline.index.keyed import KeyedIndex, build_keyed
from eddyline.index.rowwise import RowwiseIndex, build_rowwise, choose_rowwise
from eddyline.index.sliced import SlicedIndex, build_sliced
from eddyline.model.expression import Call, Expression, externals_of, own_columns_of
from eddyline.model.query import NormalQuery


@dataclass(frozen=True)
class Segment:
    """Compiled queries of one stream; `members` are their numbers, never-true ones included.

    For batches that `rowwise` serves it takes the place of `sliced`, which holds the same queries or, where nothing else
    is to serve any batch, none.
    """

    stream: str
    members: npt.NDArray[np.int32]
    sliced: SlicedIndex
    keyed: KeyedIndex
    rowwise: RowwiseIndex | None = None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns of the stream that any query reads in its condition, other than those that only Spark reads."""
        names = (name for subject in self.subjects for name in sorted(own_columns_of(subject)))
        return tuple(dict.fromkeys(names))

    @cached_property
    def externals(self) -> tuple[Call, ...]:
        """The outermost calls in any query's condition that only Spark can compute."""
        return tuple(dict.fromkeys(call for subject in self.subjects for call in externals_of(subject)))

    @cached_property
    def subjects(self) -> tuple[Expression, ...]:
        """What the conditions of all queries speak about."""
        cuttings = [*self.sliced.cuttings, *self.keyed.cuttings]
        groups = list(self.sliced.patterns)
        if self.rowwise is not None:
            cuttings += [*self.rowwise.ascs.cuttings, *self.rowwise.rest.cuttings]
            groups += self.rowwise.rest.patterns
        subjects = [*(cutting.subject for cutting in cuttings), *(group.text for group in groups)]
        return tuple(dict.fromkeys(subjects))


def build_segment(
    stream: str,
    queries: Sequence[NormalQuery],
    numbers: Sequence[int],
    settings: IndexSettings = DEFAULT_INDEX,
) -> Segment:
    """Compile queries of one stream, whose numbers ascend."""
    predicates = [query.predicate for query in queries]
    members = np.asarray(numbers, np.int32)
    if settings.executor == "rowwise":
        rowwise = build_rowwise(predicates, numbers)
        rowwise = replace(rowwise, rest=_filtered(rowwise.rest, settings))
        return Segment(stream, members, build_sliced([], []), build_keyed([], []), rowwise)
    keyed, others = choose(predicates, settings)
    shared, own = [predicates[i] for i in others], [numbers[i] for i in others]
    sliced = _filtered(build_sliced(shared, own, settings.direct), settings)
    small = choose_rowwise(shared, own, sliced, settings)
    return Segment(stream, members, sliced, build_keyed(keyed, numbers), small)


def _filtered(index: SlicedIndex, settings: IndexSettings) -> SlicedIndex:
    """With or without what tells rows that match nothing."""
    return replace(index, hulls=()) if settings.prefilter == "off" else index
