"""What a version of a set is compiled into, and the queries that wait to be compiled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from eddyline.errors import PASSED_ON, QueryError
from eddyline.execute.placed import Placed
from eddyline.execute.rescue.uncompilable import find_uncompilable
from eddyline.execute.segment import SegmentExecutor
from eddyline.queryset.merging import Members, Merging
from eddyline.queryset.pending import Pending

Segments = tuple[Placed, ...]
LeaveOut = Callable[[Mapping[int, QueryError]], Merging]


class Compilation:
    """The segments of one version, and its queries that are in none yet; threads may share it.

    Both change together, when the waiting queries are compiled: as one value, so that nobody who grows another version
    out of this one sees queries in a segment that still wait, and would have them twice.
    """

    def __init__(self, segments: Segments = (), pending: Pending | None = None) -> None:
        self._both = segments, Pending() if pending is None else pending
        self._compiling = threading.Lock()

    @property
    def segments(self) -> Segments:
        """What is compiled already."""
        return self._both[0]

    @property
    def pending(self) -> Pending:
        """What waits."""
        return self._both[1]

    def compiled(self, merging: Merging, leave_out: LeaveOut) -> Segments:
        """All segments; those of the waiting queries are made now, by whichever thread comes first.

        Queries of which no segment can be made are left out: `leave_out` gets them, and says how to go on without them.
        """
        segments, pending = self._both
        if len(pending):
            with self._compiling:
                segments, pending = self._both
                if len(pending):
                    segments = _merged(merging, segments, pending, leave_out)
                    self._both = segments, Pending()
        return segments

    def with_members(self, members: Members) -> Compilation:
        """That of a version with more queries."""
        segments, pending = self._both
        return Compilation(segments, pending.add(members))

    def copied(self) -> Compilation:
        """That of a version with other removed queries, which compiles for itself what waits."""
        return Compilation(*self._both)

    def served_by(self, executors: Sequence[SegmentExecutor]) -> Compilation:
        """The same with other executors for what is compiled."""
        segments, pending = self._both
        served = zip(executors, segments, strict=True)
        return Compilation(
            tuple([Placed(executor, placed.numbering) for executor, placed in served]), pending
        )


def _merged(merging: Merging, segments: Segments, pending: Pending, leave_out: LeaveOut) -> Segments:
    try:
        return merging.merged(segments, pending)
    except PASSED_ON:
        raise
    except Exception:
        culprits = find_uncompilable(pending, merging.settings)
        if not culprits:
            raise
        return leave_out(culprits).merged(segments, pending)
