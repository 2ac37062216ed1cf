"""A pipeline that runs: its sources supervised, its reports, the end of it."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from eddyline.errors import EddylineError, RegistryError
from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext, sources_of
from eddyline.runtime.spark.pipeline.supervision import Supervisor
from eddyline.runtime.spark.watching import BatchReport, PipelineTotals, Tail
from eddyline.runtime.spark.watching.endpoint import Answers, Endpoint
from eddyline.runtime.spark.watching.prometheus import QUERIES_SHOWN, exposition
from eddyline.runtime.spark.watching.vitals import PipelineVitals, not_ready, unhealthy

if TYPE_CHECKING:
    from types import TracebackType

    from pyspark.sql import SparkSession

RECENT: Final = 1_000  # reports that are kept
LOOK: Final = 0.1  # seconds


def open_endpoint(settings: PipelineSettings) -> Endpoint | None:
    """The endpoint of a pipeline that is starting, if it is to have one; it says so, and when that takes too long."""
    if settings.prometheus is None:
        return None
    since = time.time()

    def vitals() -> PipelineVitals:
        host, pid = socket.gethostname(), os.getpid()
        return PipelineVitals(pipeline=settings.name, host=host, pid=pid, since=since, starting=True)

    def metrics() -> str:
        return exposition(
            PipelineTotals(),
            pipeline=settings.name,
            vitals=vitals(),
            stalled_after=settings.stalled_after,
        )

    answers = Answers(
        metrics,
        unhealthy=lambda: unhealthy(vitals(), settings.stalled_after),
        not_ready=lambda: not_ready(vitals(), settings.stalled_after),
    )
    return Endpoint(settings.prometheus, answers)


class RunningPipeline:
    """What `Pipeline.start` gives. When one source gives up, the others end their batch and stop too."""

    def __init__(
        self, settings: PipelineSettings, spark: SparkSession, endpoint: Endpoint | None = None
    ) -> None:
        """`endpoint` is one that is open already; it is closed with the pipeline, or when this fails."""
        self.settings = settings
        self.endpoint = endpoint
        self._since = time.time()
        self._give_up_at: float | None = None  # on the others, when one source has failed
        self._stopping = False
        self._reports: deque[BatchReport] = deque(maxlen=RECENT)
        self._reading = threading.Lock()
        self._closing = threading.Lock()
        self._open = ExitStack()
        self._ends = ExitStack()
        if endpoint is not None:
            self._open.enter_context(endpoint)
        try:
            self._context = BatchContext(settings, spark, own=True)
            self._open.callback(self._context.close)
            self._context.state.refuse_lost_checkpoints()
            self._tail = Tail(self._context.metrics.path)
            self._tail.skip()
            self._begin = copy(self._tail)
            sources = sources_of(settings, self._context.registry)
            for source in sources:
                source.check(spark, begun=self._context.log.last(source.settings.name) is not None)
            self._context.current()
            self._supervisors = [Supervisor(spark, self._context, source) for source in sources]
            if endpoint is not None:
                endpoint.answers = Answers(
                    self._scrape,
                    unhealthy=lambda: unhealthy(self.vitals, settings.stalled_after),
                    not_ready=lambda: not_ready(self.vitals, settings.stalled_after),
                )
        except BaseException:
            self._open.close()
            raise
        for supervisor in self._supervisors:
            supervisor.start()

    def at_end(self, action: Callable[[], object]) -> None:
        """Have something done when everything has ended and is closed."""
        self._ends.callback(action)

    @property
    def id(self) -> str:
        """The pipeline's id, which outputs carry; that of its checkpoint."""
        return self._context.identity.id

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
        return dict(self._context.versions.problems)

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
        """How it is going, for machines; files that wait are counted for whoever asks the endpoint, not here."""
        vitals = self.vitals
        return {
            "name": self.settings.name,
            "id": self.id,
            "active": self.is_active,
            "trouble": not_ready(vitals, self.settings.stalled_after),
            "sources": {
                one.name: {
                    "state": one.state,
                    "failures_in_a_row": one.failures_in_a_row,
                    "restarts": one.restarts,
                    "idle": one.idle,
                    "backlog": dict(one.backlog),
                }
                for one in vitals.sources
            },
        }

    @property
    def vitals(self) -> PipelineVitals:
        """How it is right now; nobody has to be asked for it, neither Spark nor the registry."""
        return PipelineVitals(
            pipeline=self.settings.name,
            host=socket.gethostname(),
            pid=os.getpid(),
            since=self._since,
            stopping=self._stopping and self.is_active,
            sources=tuple(one.vitals for one in self._supervisors),
            trouble=self._context.versions.trouble,
            left_out=len(self._context.versions.problems),
        )

    def _scraped(self) -> PipelineVitals:
        """The same with what takes a look at the registry and at folders, which health must not depend on."""
        try:
            newest = self._context.registry.version
        except RegistryError:
            newest = None
        counted = tuple(one.counted() for one in self._supervisors)
        return replace(self.vitals, newest_version=newest, sources=counted)

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most so many seconds; whether it has come. A pipeline that failed raises why."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.is_active:
            if self.exception is not None:
                self._end_others()
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
        self.ask_to_stop(now=now)
        deadline = None if timeout is None else time.monotonic() + timeout
        for supervisor in self._supervisors:
            supervisor.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
        if self.is_active:
            return False
        self._close()
        return True

    def ask_to_stop(self, *, now: bool = False) -> None:
        """Have it stop after the batches that run, or at once, and do not wait for it."""
        self._stopping = True
        for supervisor in self._supervisors:
            supervisor.stop(now=now)

    def __enter__(self) -> RunningPipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _end_others(self) -> None:
        """One source has failed: the others may end their batch, within the time that any stop has."""
        if self._give_up_at is None:
            self._give_up_at = time.monotonic() + self.settings.stop_within
        self.ask_to_stop(now=time.monotonic() >= self._give_up_at)

    def _close(self) -> None:
        with self._closing:
            try:
                self._open.close()
            finally:
                self._ends.close()

    def _scrape(self) -> str:
        totals = self.totals
        return exposition(
            totals,
            pipeline=self.settings.name,
            queries=self._counted(totals),
            vitals=self._scraped(),
            stalled_after=self.settings.stalled_after,
        )

    def _counted(self, totals: PipelineTotals) -> dict[str, int] | None:
        """The registry's counts of the queries that are shown; None where it cannot be asked now."""
        counters, busiest = self._context.registry.counters, totals.busiest(QUERIES_SHOWN)
        try:
            return {id: counters(id).get(id, {}).get("matches", 0) for id in busiest}
        except RegistryError:
            return None
