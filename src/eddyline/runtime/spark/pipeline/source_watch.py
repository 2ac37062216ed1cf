"""What is seen of a source's streaming query by looking at it now and then.

Whoever asks how the source is (over HTTP, say) gets the last look, and never has to wait for Spark: a Java that hangs shows
as a look that is long ago.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eddyline.runtime.spark.watching.backlog import backlog_in


@dataclass(frozen=True, slots=True)
class Look:
    """One look; moments are those of the watch's clock, but `between` is in seconds since 1970."""

    at: float
    mark: object = None  # changes with every trigger that has rows
    trigger_since: float | None = None
    idle: bool = False
    between: float | None = None
    executors: int | None = None
    no_executor_since: float | None = None
    backlog: Mapping[str, int] = field(default_factory=dict)


class SourceWatch:
    """The looks at one query after the other; `last` may be read from any thread."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, wall_clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._wall_clock = wall_clock
        self.last = Look(clock())

    def begin(self) -> None:
        """A query is about to be started: what was seen of the one before it is over."""
        self.last = Look(self._clock(), between=self.last.between)

    def see(
        self, status: Mapping[str, Any], progress: str | None, calls: int, executors: int | None = None
    ) -> None:
        """Take in Spark's status of the query, its last progress as JSON, and how many batches were called for.

        Triggers may follow one another without a pause. So a trigger counts as another one where a batch began or
        ended, or where Spark tells of another batch.
        """
        now, last = self._clock(), self.last
        told = json.loads(progress) if progress else {}
        mark = (calls, told.get("runId"), told.get("batchId"), told.get("timestamp"))
        active = bool(status.get("isTriggerActive"))
        idle = not active and not status.get("isDataAvailable")
        backlog = backlog_in(told)
        since = last.trigger_since if mark == last.mark and last.trigger_since is not None else now
        none = now if last.no_executor_since is None else last.no_executor_since
        self.last = replace(
            last,
            at=now,
            mark=mark,
            trigger_since=since if active else None,
            idle=idle,
            between=last.between if active else self._wall_clock(),
            executors=executors,
            no_executor_since=none if executors == 0 else None,
            # Spark tells no more progress while nothing comes: then all that was behind has been read
            backlog=dict.fromkeys(backlog, 0) if idle else backlog,
        )

    def seconds_since(self, moment: float | None) -> float | None:
        """Seconds from a moment of a look until now."""
        return None if moment is None else max(0.0, self._clock() - moment)
