"""An immutable compiled part of a query set: queries found by key, sliced, or evaluated row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.index.choose import choose
from eddyline.index.keyed import KeyedIndex, build_keyed
from eddyline.index.rowwise import RowwiseIndex, build_rowwise, choose_rowwise
from eddyline.index.sliced import SlicedIndex, build_sliced
from eddyline.model.expression import Call, Expression, externals_of, own_columns_of
from eddyline.model.query import NormalQuery


@dataclass(frozen=True)
class Segment:
    """Compiled queries of one stream, `size` of them, never-true ones included.

    Queries are known by *slots*, their places in the list that was compiled: what they are called elsewhere is not
    known here, so nothing of a segment changes when that does.

    For batches that `rowwise` serves it takes the place of `sliced`, which holds the same queries or, where nothing else
    is to serve any batch, none.
    """

    stream: str
    size: int
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
    settings: IndexSettings = DEFAULT_INDEX,
) -> Segment:
    """Compile queries of one stream; the place of each is its slot."""
    predicates = [query.predicate for query in queries]
    slots = range(len(queries))
    if settings.executor == "rowwise":
        rowwise = build_rowwise(predicates, slots)
        rowwise = replace(rowwise, rest=_filtered(rowwise.rest, settings))
        return Segment(stream, len(slots), build_sliced([], []), build_keyed([], []), rowwise)
    keyed, others = choose(predicates, settings)
    shared = [predicates[slot] for slot in others]
    sliced = _filtered(build_sliced(shared, others, settings.direct), settings)
    small = choose_rowwise(shared, others, sliced, settings)
    return Segment(stream, len(slots), sliced, build_keyed(keyed, slots), small)


def _filtered(index: SlicedIndex, settings: IndexSettings) -> SlicedIndex:
    """With or without what tells rows that match nothing."""
    return replace(index, hulls=()) if settings.prefilter == "off" else index
