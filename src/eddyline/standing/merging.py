"""New queries into segments: a new segment takes in small ones, so that there are few and each query moves seldom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.errors import QueryError
from eddyline.execute.placed import Placed
from eddyline.execute.segment import SegmentExecutor
from eddyline.index.segment import Segment, build_segment
from eddyline.model.numbering import Numbering
from eddyline.model.query import NormalQuery
from eddyline.standing.table import Table

MERGE: Final = 2  # a new segment takes in those of up to so many times its size
Members = list[tuple[int, NormalQuery]]  # queries with their numbers


@dataclass(frozen=True, slots=True)
class Merging:
    """What is needed to compile queries into segments."""

    compiler: Compiler
    table: Table
    settings: IndexSettings

    def merged(
        self, segments: Sequence[Placed], pending: Iterable[tuple[int, NormalQuery]]
    ) -> tuple[Placed, ...]:
        """Segments with more queries in them."""
        by_stream: dict[str, Members] = {}
        for number, query in pending:
            by_stream.setdefault(query.stream, []).append((number, query))
        for stream, members in by_stream.items():
            segments = self._merged(segments, stream, members)
        return tuple(segments)

    def _merged(self, segments: Sequence[Placed], stream: str, members: Members) -> list[Placed]:
        """Segments with a new one; it takes in those that are not much larger than itself, removed queries left out."""
        limit = self.settings.segment_size
        left = list(segments)
        passed: list[Placed] = []
        before: list[Placed] = []
        while limit is None:
            small = [
                p for p in left if p.segment.stream == stream and self._is_small(p.segment, len(members))
            ]
            if not small:
                break
            taken = min(small, key=lambda placed: placed.segment.size)
            left.remove(taken)
            try:
                members = [*self._alive(taken), *members]
                before.append(taken)
            except QueryError:  # needs a function that the resolver no longer knows; compiled it stays usable
                passed.append(taken)
        return [*left, *passed, *self._built(stream, members, before)]

    def _built(self, stream: str, members: Members, before: list[Placed]) -> list[Placed]:
        live = [(number, query) for number, query in members if not self.table.is_gone(number)]
        live.sort(key=lambda member: member[0])
        step = self.settings.segment_size or max(1, len(live))
        replaced = [placed.executor for placed in before]
        built: list[Placed] = []
        for start in range(0, len(live), step):
            piece = live[start : start + step]
            numbers, queries = [number for number, _ in piece], [query for _, query in piece]
            segment = build_segment(stream, queries, self.settings)
            executor = SegmentExecutor(segment, self.settings.order, replaced)
            built.append(Placed(executor, Numbering.of(numbers)))
        return built

    def _is_small(self, segment: Segment, members: int) -> bool:
        """Whether a new segment of so many queries takes in this one."""
        size, largest = segment.size, self.settings.largest_merge
        return size <= MERGE * members and (largest is None or size <= largest)

    def _alive(self, placed: Placed) -> Members:
        """The queries of a segment that are not removed, compiled again."""
        table = self.table
        numbers = [n for n in placed.numbering.all().tolist() if not table.is_gone(n)]
        return [(n, self.compiler.compile(table.query(n))) for n in numbers]
