"""Compiling in another process, which takes nothing from the threads of this one.

Beside a push, a thread that compiles wants Python for itself half of the time. A process of its own compiles from the SQL
texts and sends the segment; taking it in costs about half a millisecond, whatever its size.
"""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.index.segment import Segment, build_segment
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.query import Query
from eddyline.standing.merging.own_process import collect_rarely

_SERVE: Final = "import sys; from eddyline.standing.merging.builder_process import serve; serve(sys.stdin.buffer, sys.stdout.buffer)"


@dataclass(frozen=True, slots=True)
class Job:
    """Queries of one stream to be compiled."""

    streams: tuple[Stream, ...]
    time_zone: str
    join_window: Length | None
    settings: IndexSettings
    stream: str
    queries: Sequence[Query]


class BuilderProcess:
    """The other process; it is started at once, which takes a second, and ends when this one does or lets go of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):  # told when there is a job
            self._started()

    def build(self, job: Job) -> Segment:
        """The segment of a job; an `OSError`, `EOFError` or `PickleError` if the process does not give it."""
        with self._lock:
            process = self._started()
            assert process.stdin is not None and process.stdout is not None, "both ends are pipes"
            pickle.dump(job, process.stdin)
            process.stdin.flush()
            found = pickle.load(process.stdout)
        if isinstance(found, Segment):
            return found
        raise OSError(f"the process that compiles failed: {found}")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            self._end = weakref.finalize(self, _end, self._process)
        return self._process

    def close(self) -> None:
        """End the process; the next job starts another one."""
        with self._lock:
            if self._process is not None:
                self._process = None
                self._end()


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None and process.stdout is not None, "both ends are pipes"
    with contextlib.suppress(OSError):  # it is gone already
        process.stdin.close()
    process.wait()
    process.stdout.close()


def serve(jobs: BinaryIO, segments: BinaryIO) -> None:
    """Compile jobs until there are no more, in a process that does nothing else."""
    collect_rarely()
    compilers: dict[tuple[object, ...], Compiler] = {}
    while True:
        try:
            job: Job = pickle.load(jobs)
        except EOFError:
            return
        try:
            key = (job.streams, job.time_zone, job.join_window)
            if key not in compilers:
                made = Compiler(job.streams, time_zone=job.time_zone, join_window=job.join_window)
                compilers = {key: made}
            queries = [compilers[key].member(query) for query in job.queries]
            found: object = build_segment(job.stream, queries, job.settings)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        pickle.dump(found, segments)
        segments.flush()
