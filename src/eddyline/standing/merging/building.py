"""Queries into segments: made lazily for a set that somebody may never match, or ready for the next batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import compress
from typing import Final

from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.errors import PASSED_ON, InternalError, QueryError
from eddyline.execute.placed import Placed
from eddyline.execute.segment import SegmentExecutor
from eddyline.index.segment import Segment, build_segment
from eddyline.model.numbering import Numbering
from eddyline.model.pacing import paced
from eddyline.model.query import NormalQuery
from eddyline.standing.merging.gate import Gate
from eddyline.standing.merging.policy import OPEN
from eddyline.standing.rows.table import Table

SMALL: Final = 256  # so few queries cost a batch little; what would make it less costs more to build
KEEP_QUERIES: Final = 4_096  # smaller segments keep their normal forms, since they will be merged soon
Members = list[tuple[int, NormalQuery]]  # queries with their dense ids
Culprits = dict[int, QueryError]  # queries of which no segment can be made, by dense id, each with the reason


@dataclass(frozen=True, slots=True)
class Building:
    """How segments are made.

    With a `gate` they are made beside pushes: compiling pauses for these, nothing is left for the first push to work
    out, and small segments do without what takes longer to build than it saves them.
    """

    settings: IndexSettings
    gate: Gate | None = None

    def segments(
        self, stream: str, members: Members, before: Sequence[Placed], culprits: Culprits
    ) -> list[Placed]:
        """Queries of one stream, in one segment unless settings want more of them; `before` are those it replaces.

        Queries of which none can be made are entered into `culprits`.
        """
        members = sorted(members, key=lambda member: member[0])  # dense ids have to ascend with slots
        step = self.settings.segment_size or max(1, len(members))
        learned = [placed.executor for placed in before]
        found: list[Placed] = []
        for start in range(0, len(members), step):
            found += self._made(stream, members[start : start + step], learned, culprits)
        return found

    def settings_for(self, size: int) -> IndexSettings:
        """The settings for a segment of a size."""
        small = self.gate is not None and size < SMALL
        return replace(self.settings, rowwise_bytes=0, prefilter="off") if small else self.settings

    def placed(
        self,
        segment: Segment,
        numbering: Numbering,
        before: Iterable[SegmentExecutor],
        queries: Sequence[NormalQuery] | None = None,
    ) -> Placed:
        """A segment with its executor, which takes over what those before it have learned of the data."""
        executor = SegmentExecutor(segment, self.settings.order, before)
        if self.gate is not None:
            if segment.size >= SMALL:
                self.gate.wait()
            with self._turns(segment.size):
                executor.prepare()
        return Placed(executor, numbering, queries=queries if segment.size < KEEP_QUERIES else None)

    def _made(
        self, stream: str, members: Members, before: Sequence[SegmentExecutor], culprits: Culprits
    ) -> list[Placed]:
        """One segment of queries; of more than one, or of fewer queries, only where compiling fails.

        That is a bug of ours, which must not take those with it who have no part in it: they are looked for by halves.
        Where they fail only together, the halves stay.
        """
        try:
            return [self._segment(stream, members, before)]
        except PASSED_ON:
            raise
        except Exception as error:
            if len(members) == 1:
                ((dense, query),) = members
                culprits[dense] = InternalError(error, query.id, query.sql)
                return []
        middle, lost = len(members) // 2, len(culprits)
        halves = [members[:middle], members[middle:]]
        found = [each for half in halves for each in self._made(stream, half, before, culprits)]
        if len(found) > 1 and len(culprits) > lost:
            sound = [(dense, query) for dense, query in members if dense not in culprits]
            try:
                return [self._segment(stream, sound, before)]
            except PASSED_ON:
                raise
            except Exception:
                return found
        return found

    def _segment(self, stream: str, members: Members, before: Sequence[SegmentExecutor]) -> Placed:
        numbers, queries = [dense for dense, _ in members], [query for _, query in members]
        if self.gate is not None:
            self.gate.wait()
        with self._turns(len(members)):
            segment = build_segment(stream, queries, self.settings_for(len(members)))
        return self.placed(segment, Numbering.of(numbers), before, queries)

    def _turns(self, size: int) -> AbstractContextManager[None]:
        """In here building pauses for pushes; a small segment does not, since it is built sooner than a push ends."""
        return nullcontext() if self.gate is None or size <= OPEN else self.gate.compiling()


def members_of(placed: Placed, table: Table, compiler: Compiler) -> Members:
    """The queries of a segment that are not gone, in normal form."""
    numbers = placed.numbering.all()
    alive = table.alive_among(numbers)
    if placed.queries is not None:
        pairs = zip(numbers.tolist(), placed.queries, strict=True)
        return list(compress(pairs, alive.tolist()))
    return [(dense, compiler.member(table.query(dense))) for dense in paced(numbers[alive].tolist())]
