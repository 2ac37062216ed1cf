"""An immutable compiled part of a query set: some queries found by key, the others sliced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.index.choose import choose
from eddyline.index.keyed import KeyedIndex, build_keyed
from eddyline.index.sliced import SlicedIndex, build_sliced
from eddyline.model.expression import columns_of
from eddyline.model.query import NormalQuery


@dataclass(frozen=True)
class Segment:
    """Compiled queries of one stream; `members` are their numbers, never-true ones included."""

    stream: str
    members: npt.NDArray[np.int32]
    sliced: SlicedIndex
    keyed: KeyedIndex

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns of the stream that any query reads in its condition."""
        subjects = [cutting.subject for cutting in (*self.sliced.cuttings, *self.keyed.cuttings)]
        subjects += [group.text for group in self.sliced.patterns]
        return tuple(dict.fromkeys(name for subject in subjects for name in sorted(columns_of(subject))))


def build_segment(
    stream: str,
    queries: Sequence[NormalQuery],
    numbers: Sequence[int],
    settings: IndexSettings = DEFAULT_INDEX,
) -> Segment:
    """Compile queries of one stream, which have the given numbers."""
    predicates = [query.predicate for query in queries]
    keyed, sliced = choose(predicates, settings)
    return Segment(
        stream,
        np.asarray(numbers, np.int32),
        build_sliced([predicates[i] for i in sliced], [numbers[i] for i in sliced]),
        build_keyed(keyed, numbers),
    )
