"""An immutable compiled part of a query set: its queries, each compiled for the executor that serves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.index.boxes import Boxes
from eddyline.index.kinds.kind import Index
from eddyline.index.kinds.table import KINDS
from eddyline.model.expression import Call, Expression, externals_of, own_columns_of
from eddyline.model.query import NormalQuery


@dataclass(frozen=True)
class Segment:
    """Compiled queries of one stream, `size` of them, never-true ones included.

    Queries are known by *slots*, their places in the list that was compiled: what they are called elsewhere is not
    known here, so nothing of a segment changes when that does. `indexes` are by the name of their kind (`index/kinds/`);
    each query that may be true is in one of them.
    """

    stream: str
    size: int
    indexes: Mapping[str, Index]

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
        return tuple(dict.fromkeys(subject for index in self.indexes.values() for subject in index.subjects))

    @cached_property
    def boxes(self) -> tuple[Boxes, ...]:
        """Queries that are plain boxes, as far as their indexes can tell."""
        return tuple(
            [
                boxes
                for kind in KINDS
                if kind.NAME in self.indexes
                for boxes in kind.boxes(self.indexes[kind.NAME])
            ]
        )


def build_segment(
    stream: str,
    queries: Sequence[NormalQuery],
    settings: IndexSettings = DEFAULT_INDEX,
) -> Segment:
    """Compile queries of one stream; the place of each is its slot."""
    predicates = [query.predicate for query in queries]
    indexes: dict[str, Index] = {}
    left: Sequence[int] = range(len(queries))
    for kind in KINDS:
        index, left = kind.build(predicates, left, settings)
        if index is not None:
            indexes[kind.NAME] = index
    assert not left, "the last kind takes every query"
    return Segment(stream, len(queries), indexes)
