"""New queries into segments: a new segment takes in small ones, so that there are few and each query moves seldom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.errors import PASSED_ON, InternalError, QueryError
from eddyline.execute.placed import Placed
from eddyline.execute.segment import SegmentExecutor
from eddyline.index.segment import Segment, build_segment
from eddyline.model.numbering import Numbering
from eddyline.model.query import NormalQuery
from eddyline.standing.table import Table

MERGE: Final = 2  # a new segment takes in those of up to so many times its size
Members = list[tuple[int, NormalQuery]]  # queries with their numbers
Compiled = tuple[Members, Segment]
Culprits = dict[int, QueryError]  # queries of which no segment can be made, by number, each with the reason


@dataclass(frozen=True, slots=True)
class Merging:
    """What is needed to compile queries into segments."""

    compiler: Compiler
    table: Table
    settings: IndexSettings

    def merged(
        self, segments: Sequence[Placed], pending: Iterable[tuple[int, NormalQuery]]
    ) -> tuple[tuple[Placed, ...], Culprits]:
        """Segments with more queries in them, and the queries of which no segment can be made: these are in none."""
        by_stream: dict[str, Members] = {}
        for number, query in pending:
            by_stream.setdefault(query.stream, []).append((number, query))
        culprits: Culprits = {}
        for stream, members in by_stream.items():
            segments = self._merged(segments, stream, members, culprits)
        return tuple(segments), culprits

    def _merged(
        self, segments: Sequence[Placed], stream: str, members: Members, culprits: Culprits
    ) -> list[Placed]:
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
        return [*left, *passed, *self._built(stream, members, before, culprits)]

    def _built(
        self, stream: str, members: Members, before: list[Placed], culprits: Culprits
    ) -> Iterator[Placed]:
        live = [(number, query) for number, query in members if not self.table.is_gone(number)]
        live.sort(key=lambda member: member[0])
        step = self.settings.segment_size or max(1, len(live))
        replaced = [placed.executor for placed in before]
        for start in range(0, len(live), step):
            for piece, segment in self._segments(stream, live[start : start + step], culprits):
                executor = SegmentExecutor(segment, self.settings.order, replaced)
                yield Placed(executor, Numbering.of([number for number, _ in piece]))

    def _segments(self, stream: str, members: Members, culprits: Culprits) -> list[Compiled]:
        """One segment of queries; of more than one, or of fewer queries, only where compiling fails.

        That is a bug of ours, which must not take those with it who have no part in it: they are looked for by halves.
        Where they fail only together, the halves stay.
        """
        try:
            return [(members, build_segment(stream, [query for _, query in members], self.settings))]
        except PASSED_ON:
            raise
        except Exception as error:
            if len(members) == 1:
                ((number, query),) = members
                culprits[number] = InternalError(error, query.id, query.sql)
                return []
        middle = len(members) // 2
        halves = [members[:middle], members[middle:]]
        found = [each for half in halves for each in self._segments(stream, half, culprits)]
        sound = [member for piece, _ in found for member in piece]
        if len(found) > 1 and len(sound) < len(members):
            try:
                return [(sound, build_segment(stream, [query for _, query in sound], self.settings))]
            except PASSED_ON:
                raise
            except Exception:
                return found
        return found

    def _is_small(self, segment: Segment, members: int) -> bool:
        """Whether a new segment of so many queries takes in this one."""
        size, largest = segment.size, self.settings.largest_merge
        return size <= MERGE * members and (largest is None or size <= largest)

    def _alive(self, placed: Placed) -> Members:
        """The queries of a segment that are not removed, compiled again."""
        table = self.table
        numbers = [n for n in placed.numbering.all().tolist() if not table.is_gone(n)]
        return [(n, self.compiler.compile(table.query(n))) for n in numbers]
