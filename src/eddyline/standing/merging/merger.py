"""Merging of segments beside everything else, so that there are few of them and no push waits.

    due        segments of a level that are too many, or mostly dead ──► one segment       at once, in a thread
    worn       more rows of the table that nobody needs than others ──► a shorter table
    at rest    nothing has changed for a second ──► one segment for each stream, if that is worth it

A change takes in only the youngest segment while it is small, and a merge only the others, so they rarely meet; where they
do, what was merged is thrown away.
"""

from __future__ import annotations

import logging
import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from eddyline.execute.placed import Placed
from eddyline.execute.segment import SegmentExecutor
from eddyline.model.numbering import Numbering
from eddyline.standing.merging import policy
from eddyline.standing.merging.builder_process import BuilderProcess, Job
from eddyline.standing.merging.building import Culprits, Members, members_of
from eddyline.standing.merging.turn_lock import TurnLock
from eddyline.standing.version import Version

if TYPE_CHECKING:
    from eddyline.standing.standing import Standing

WORTH_A_PROCESS: Final = 64  # queries from which on sending them to another process pays
REST: Final = 1.0  # seconds without a change after which there is time to tidy up
Where = Literal["thread", "process"]
Choose = Callable[[Sequence[Placed]], tuple[Placed, ...]]
log = logging.getLogger("eddyline.engine")


@dataclass(frozen=True, slots=True)
class Merge:
    """Segments of one stream that become one, as a version has them."""

    version: Version
    stream: str
    segments: tuple[Placed, ...]


class Merger:
    """Merges what is due, in a thread that lives as long as something is, and a little longer to tidy up."""

    def __init__(self, standing: Standing, where: Where = "thread") -> None:
        self._standing = standing
        self._process = BuilderProcess() if where == "process" else None
        self._thread: threading.Thread | None = None
        self._urgent = threading.Event()  # ends a rest: something is due, or the merger is closed
        self._changed_at = 0.0
        # One merge at a time. Taken before the lock of the set: `wake`, which is called in that one, must not take it.
        self._one = TurnLock()
        self._broken: set[SegmentExecutor] = set()  # those whose merge failed: not tried again
        self._closed = False

    def close(self) -> None:
        """Let go of the other process, and of the thread where it waits."""
        self._closed = True
        self._urgent.set()
        if self._process is not None:
            self._process.close()

    def wake(self) -> None:
        """Hear of a change; the caller holds the lock of the set."""
        self._changed_at = monotonic()
        is_due = self._is_due()
        if is_due:
            self._urgent.set()
        if self._closed or self._thread is not None or not (is_due or self._is_untidy()):
            return
        thread = threading.Thread(target=self._run, name="eddyline-merging", daemon=True)
        try:
            thread.start()
            self._thread = thread
        except RuntimeError as error:  # no more threads: the change stands, and the next one tries again
            log.warning("segments are not merged now: %s", error)

    def merge(self, *, everything: bool = False) -> None:
        """Merge in this thread what is due, or all segments of a stream into one."""
        with self._one:
            if everything:
                for stream in dict.fromkeys(p.segment.stream for p in self._standing.current.segments):
                    self._merge_all(stream)
            else:
                while (merge := self._next(self._due)) is not None:
                    self._carry_out(merge)
            self._compact()

    def _merge_all(self, stream: str) -> None:
        """All segments of a stream into one; where changes come in between, they wait for the second attempt."""
        merge = self._next(_everything, stream)
        if merge is not None and not self._carry_out(merge):
            with self._standing.lock:
                again = self._next(_everything, stream)
                if again is not None:
                    self._carry_out(again)

    def _is_due(self) -> bool:
        return self._next(self._due) is not None or self._is_worn()

    def _is_untidy(self) -> bool:
        return self._next(policy.untidy) is not None

    def _run(self) -> None:
        try:
            while self._step():
                pass
        except BaseException:
            with self._standing.lock:
                self._thread = None  # the next change starts another one
            raise

    def _step(self) -> bool:
        """One merge, or one look for another; False when the thread ends."""
        with self._one:
            self._compact()
            merge = self._next(self._due)
        if merge is None and self._is_untidy() and self._waited_for_rest():
            merge = self._next(policy.untidy)
        # In the lock that `wake` is called in: a change either sees this thread and relies on it, or starts another.
        with self._standing.lock:
            if self._closed or (merge is None and not self._is_due() and not self._is_untidy()):
                self._thread = None
                return False
        if merge is not None:
            with self._one:
                self._try(merge)
        return True

    def _waited_for_rest(self) -> bool:
        """Wait for a second without a change; False if something that is due comes first.

        Changes do not wake the thread: beside pushes every turn that it takes costs them some.
        """
        while (left := self._changed_at + REST - monotonic()) > 0:
            if self._urgent.wait(left):
                self._urgent.clear()
                return False
        return True

    def _try(self, merge: Merge) -> None:
        try:
            self._carry_out(merge)
        except Exception:  # the set goes on as it is, only slower
            self._broken.update(placed.executor for placed in merge.segments)
            log.exception("merging %d segments of stream %s failed", len(merge.segments), merge.stream)

    def _due(self, segments: Sequence[Placed]) -> tuple[Placed, ...]:
        return policy.due(segments, self._standing.building.settings.largest_merge)

    def _next(self, choose: Choose, only: str | None = None) -> Merge | None:
        version = self._standing.current
        if self._standing.building.settings.segment_size is not None:
            choose = _all_dead  # the others stay as small as they are wanted
        for stream, segments in _by_stream(version):
            if only not in (None, stream):
                continue
            chosen = choose([placed for placed in segments if placed.executor not in self._broken])
            if chosen:
                return Merge(version, stream, chosen)
        return None

    def _carry_out(self, merge: Merge) -> bool:
        """Build the one segment, then put it into the place of the others; who was removed meanwhile is dead in it.

        Gives whether that was possible.
        """
        self._standing.gate.wait()
        merged = self._merged(merge)
        if len(merged) > 1:  # they cannot be compiled together: chosen again they would never end
            self._broken.update(placed.executor for placed in merged)
        return self._standing.swap(lambda now: now.replaced(merge.segments, merged, merge.version.epoch))

    def _merged(self, merge: Merge) -> list[Placed]:
        """The one segment; none if nobody in them is alive."""
        if self._process is not None and sum(placed.size for placed in merge.segments) >= WORTH_A_PROCESS:
            try:
                return self._merged_elsewhere(merge, self._process)
            except (OSError, EOFError, pickle.PickleError) as error:
                log.warning("merging goes on in this process, since the other one failed: %s", error)
                self._process = None
        building, version, members = self._standing.building, merge.version, Members()
        with self._standing.gate.compiling():
            for placed in merge.segments:
                members += members_of(placed, version.table, version.compiler)
        culprits = Culprits()
        merged = building.segments(merge.stream, members, merge.segments, culprits)
        for problem in culprits.values():  # each of them was compiled before
            raise problem
        return merged

    def _merged_elsewhere(self, merge: Merge, process: BuilderProcess) -> list[Placed]:
        building, version = self._standing.building, merge.version
        dense = np.sort(np.concatenate([placed.numbering.all() for placed in merge.segments]))
        dense = dense[version.table.alive_among(dense)]
        if not len(dense):
            return []
        job = Job(
            tuple(version.compiler.streams),
            version.compiler.time_zone,
            version.compiler.join_window,
            building.settings_for(len(dense)),
            merge.stream,
            [version.table.query(each) for each in dense.tolist()],
        )
        before = [placed.executor for placed in merge.segments]
        return [building.placed(process.build(job), Numbering.of(dense), before)]

    def _is_worn(self) -> bool:
        return self._standing.current.is_worn

    def _compact(self) -> None:
        if self._is_worn():
            self._standing.compact()


def _by_stream(version: Version) -> Iterator[tuple[str, list[Placed]]]:
    streams = dict.fromkeys(placed.segment.stream for placed in version.segments)
    for stream in streams:
        yield stream, [placed for placed in version.segments if placed.segment.stream == stream]


def _all_dead(segments: Sequence[Placed]) -> tuple[Placed, ...]:
    return tuple([placed for placed in segments if not placed.alive])


def _everything(segments: Sequence[Placed]) -> tuple[Placed, ...]:
    return tuple(segments) if len(segments) > 1 or any(placed.dead for placed in segments) else ()
