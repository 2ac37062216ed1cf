"""A pipeline that runs: its sources supervised, its reports, the end of it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from copy import copy
from typing import TYPE_CHECKING, Any, Final

from eddyline.errors import EddylineError, RegistryError
from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext, sources_of
from eddyline.runtime.spark.pipeline.supervision import Supervisor
from eddyline.runtime.spark.watching import BatchReport, PipelineTotals, Tail
from eddyline.runtime.spark.watching.prometheus import QUERIES_SHOWN, Endpoint, exposition

if TYPE_CHECKING:
    from types import TracebackType

    from pyspark.sql import SparkSession

RECENT: Final = 1_000  # reports that are kept
LOOK: Final = 0.1  # seconds


class RunningPipeline:
    """What `Pipeline.start` gives. When one source gives up, the others end their batch and stop too."""

    def __init__(self, settings: PipelineSettings, spark: SparkSession) -> None:
        self.settings = settings
        self.endpoint: Endpoint | None = None
        self._reports: deque[BatchReport] = deque(maxlen=RECENT)
        self._reading = threading.Lock()
        self._closing = threading.Lock()
        self._open = ExitStack()
        self._ends: list[Callable[[], object]] = []
        try:
            self._shop = BatchContext(settings, spark)
            self._open.callback(self._shop.close)
            self._shop.own()
            self._shop.state.refuse_lost_checkpoints()
            self._tail = Tail(self._shop.metrics.path)
            self._tail.skip()
            self._begin = copy(self._tail)
            sources = sources_of(settings, self._shop.registry)
            for source in sources:
                source.check(spark, begun=self._shop.log.last(source.settings.name) is not None)
            self._shop.current()
            if settings.prometheus is not None:
                self.endpoint = self._open.enter_context(
                    Endpoint(settings.prometheus, self._scrape, trouble=self._trouble)
                )
            self._supervisors = [Supervisor(spark, self._shop, source) for source in sources]
        except BaseException:
            self._open.close()
            raise
        for supervisor in self._supervisors:
            supervisor.start()

    def at_end(self, action: Callable[[], object]) -> None:
        """Have something done when everything has ended and is closed."""
        self._ends.append(action)

    @property
    def id(self) -> str:
        """The pipeline's id, which outputs carry; that of its checkpoint."""
        return self._shop.identity.id

    @property
    def is_active(self) -> bool:
        """Whether any source still runs."""
        return any(not supervisor.join(0) for supervisor in self._supervisors)

    @property
    def exception(self) -> EddylineError | None:
        """Why the pipeline stopped by itself; None where it did not."""
        return next((one.failure for one in self._supervisors if one.failure is not None), None)

    @property
    def problems(self) -> dict[str, str]:
        """The queries that are left out of the newest version, and why."""
        return dict(self._shop.versions.problems)

    def reports(self) -> list[BatchReport]:
        """The reports of the batches of this run, the last thousand of them."""
        with self._reading:
            self._reports.extend(self._tail.read())
            return list(self._reports)

    def follow(self) -> Tail:
        """Gives all reports of this run as they come, for somebody who reads them one after the other."""
        return copy(self._begin)

    @property
    def totals(self) -> PipelineTotals:
        """The sums of all batches, of earlier runs too."""
        with self._reading:
            self._reports.extend(self._tail.read())
            return self._tail.totals

    @property
    def status(self) -> dict[str, Any]:
        """How it is going, for machines."""
        return {
            "name": self.settings.name,
            "id": self.id,
            "active": self.is_active,
            "trouble": self._trouble(),
            "sources": {
                one.name: {"state": one.state, "failures_in_a_row": one.attempts} for one in self._supervisors
            },
        }

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most so many seconds; whether it has come. A pipeline that failed raises why."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.is_active:
            if self.exception is not None:
                self._ask(now=False)
            left = LOOK if deadline is None else min(LOOK, deadline - time.monotonic())
            if left <= 0:
                return False
            next(one for one in self._supervisors if not one.join(0)).join(left)
        self._close()
        if self.exception is not None:
            raise self.exception
        return True

    def stop(self, *, now: bool = False, timeout: float | None = None) -> bool:
        """Stop after the batches that run, or at once; whether everything ended within `timeout` seconds.

        A batch that is stopped at once runs again, with the same version, when the pipeline is started again.
        """
        self._ask(now=now)
        deadline = None if timeout is None else time.monotonic() + timeout
        for supervisor in self._supervisors:
            supervisor.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
        if self.is_active:
            return False
        self._close()
        return True

    def __enter__(self) -> RunningPipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _ask(self, *, now: bool) -> None:
        for supervisor in self._supervisors:
            supervisor.stop(now=now)

    def _close(self) -> None:
        with self._closing:
            self._open.close()
            while self._ends:
                self._ends.pop()()

    def _scrape(self) -> str:
        totals = self.totals
        return exposition(totals, pipeline=self.settings.name, queries=self._counted(totals))

    def _counted(self, totals: PipelineTotals) -> dict[str, int] | None:
        """The registry's counts of the queries that are shown; None where it cannot be asked now."""
        counters, busiest = self._shop.registry.counters, totals.busiest(QUERIES_SHOWN)
        try:
            return {id: counters(id).get(id, {}).get("matches", 0) for id in busiest}
        except RegistryError:
            return None

    def _trouble(self) -> str | None:
        failure = self.exception
        waiting = [one.name for one in self._supervisors if one.state == "waiting"]
        if failure is not None:
            return failure.message
        if waiting:
            return f"waiting to start again: {', '.join(waiting)}"
        troubles = [one.trouble for one in self._supervisors if one.trouble is not None]
        return troubles[0] if troubles else self._shop.versions.trouble
