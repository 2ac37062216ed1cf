"""One source's streaming query, kept running: started again from its checkpoint after a failure, with longer pauses.

A batch that comes to its end makes the count of failures start again. What cannot pass by itself (columns that do not
fit, an output of somebody else) is not tried again. Neither is anything when Java has ended: every further attempt in this
process would be made against nobody.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from eddyline.delivery.retry import Patience
from eddyline.errors import (
    BrokenFileError,
    EddylineError,
    OwnershipError,
    PipelineError,
    SchemaError,
    SetupError,
    SinkError,
    SparkGoneError,
)
from eddyline.model.catalog import Stream
from eddyline.runtime.spark.base.failures import in_words, missing_package
from eddyline.runtime.spark.base.remote_folders import local_path
from eddyline.runtime.spark.base.secrets import Secret, secrets_in
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext
from eddyline.runtime.spark.pipeline.batch.run import StreamChanged
from eddyline.runtime.spark.pipeline.function import BatchFunction, StopRequested
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource
from eddyline.runtime.spark.pipeline.input.waiting_files import WaitingFiles, waiting_files
from eddyline.runtime.spark.pipeline.source_watch import SourceWatch
from eddyline.runtime.spark.sessions.alive import count_executors, has_executors, is_remote, why_gone
from eddyline.runtime.spark.versions import Served
from eddyline.runtime.spark.watching.logs import event
from eddyline.runtime.spark.watching.vitals import SourceVitals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LASTING: Final = (  # failures that trying again does not mend
    BrokenFileError,
    OwnershipError,
    SchemaError,
    SetupError,
    SinkError,
    SparkGoneError,
)
PAUSES: Final = Patience(first=1.0, longest=60.0)
BUGS: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
LOOK: Final = 0.2  # seconds between two looks at whether a query has ended
LOOK_CLOSER: Final = 1.0  # seconds between two looks at how it is, which ask more of Spark
LONGEST_STOP: Final = 60.0  # seconds that a batch may take to end after a stop, where only Spark knows of it

log = logging.getLogger("eddyline.pipeline")


class Supervisor:
    """A thread that runs a source until it has ended, is stopped, or has failed too often."""

    def __init__(self, spark: SparkSession, context: BatchContext, source: PipelineSource) -> None:
        self.source = source
        self.state = "starting"
        self.attempts = 0  # failures in a row
        self.restarts = 0
        self.failure: EddylineError | None = None  # why it has given up
        self.trouble: str | None = None  # what is wrong and may pass
        self._spark = spark
        self._context = context
        self._stopping = threading.Event()
        self._at_once = threading.Event()
        self._ended = threading.Event()
        self._function = BatchFunction(context.settings, source, context)
        self._watch = SourceWatch()
        self._files: WaitingFiles | None = None
        self._on_cluster = False
        self._looked = 0.0
        self._thread = threading.Thread(target=self._run, name=f"eddyline-{self.name}", daemon=True)

    @property
    def name(self) -> str:
        """The source's name."""
        return self.source.settings.name

    @property
    def vitals(self) -> SourceVitals:
        """How it is, as it was last seen; Spark is not asked."""
        last, since = self._watch.last, self._watch.seconds_since
        return SourceVitals(
            name=self.name,
            state=self.state,
            failure=None if self.failure is None else self.failure.message,
            trouble=self.trouble,
            failures_in_a_row=self.attempts,
            restarts=self.restarts,
            silent=since(last.at) or 0.0,
            trigger=since(last.trigger_since),
            idle=last.idle,
            between=last.between,
            executors=last.executors,
            no_executor=since(last.no_executor_since) or 0.0,
            backlog=last.backlog,
        )

    def counted(self) -> SourceVitals:
        """How it is, with the files that wait, for which the folder of the source is listed."""
        vitals = self.vitals
        files = None if self._files is None else self._files.count()
        return vitals if files is None else replace(vitals, backlog={**vitals.backlog, "files": files})

    def start(self) -> None:
        """Begin."""
        checkpoint = local_path(self._context.state.checkpoint(self.name).address)
        if checkpoint is not None:
            self._files = waiting_files(self.source.settings, checkpoint)
        self._on_cluster = has_executors(self._spark)
        self._thread.start()

    def stop(self, *, now: bool = False) -> None:
        """Ask it to stop, after the batch that runs or at once; does not wait for it."""
        self._function.stopping.set()
        self._stopping.set()
        if now:
            self._at_once.set()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; whether it has."""
        return self._ended.wait(
            timeout
        )  # a Ctrl-C in Thread.join makes Python 3.11 take the thread for ended

    def _run(self) -> None:
        try:
            self._keep_running()
        except Exception as error:  # nothing may leave others waiting for ever
            failed = PipelineError(f'source "{self.name}" failed: {type(error).__name__}: {error}')
            self.failure = self._gone() or failed
        finally:
            self.state = "failed" if self.failure else "stopped" if self._stopping.is_set() else "ended"
            self._ended.set()

    def _keep_running(self) -> None:
        while not self._stopping.is_set():
            before = self._last_served()
            reason = self._run_once()
            if isinstance(reason, StreamChanged):
                self._reopen(reason.stream)
                continue
            if reason is None:
                break
            served = self._last_served()
            if served is not None and served != before:
                self.attempts = 0
            self.attempts += 1
            if isinstance(reason, LASTING) or self.attempts > self._context.settings.retries:
                self.failure = self._given_up(reason)
                event(log, str(self.failure), level=logging.ERROR, source=self.name)
                break
            self._pause(reason)

    def _last_served(self) -> Served | None:
        """The newest batch; None if there is none, or its record cannot be read now, which must not end a source."""
        try:
            return self._context.log.last_served(self.name)
        except (OSError, SetupError):  # the store is away, or Java is gone
            return None

    def _reopen(self, stream: Stream) -> None:
        """Go on with other columns."""
        event(log, f"source {self.name} is opened again: its stream has other columns", source=self.name)
        self.source = PipelineSource(self.source.settings, stream)
        self._function = BatchFunction(self._context.settings, self.source, self._context)
        if self._stopping.is_set():
            self._function.stopping.set()

    def _run_once(self) -> EddylineError | StreamChanged | None:
        """Start the query and stay with it; why it failed, None where it ended or was stopped."""
        self._context.failures.pop(self.name, None)
        self._watch.begin()
        try:
            query: Any = self._started()  # pyspark says that it waits whole seconds only, and does not
            self.state = "running"
            while not query.awaitTermination(LOOK):
                self._look()
                self._look_closer(query)
                if self._stopping.is_set():
                    self._stop(query)
            return None
        except Exception as error:
            return self._reason(error)

    def _look(self) -> None:
        """Spark takes a folder that is gone for an empty one; somebody should know."""
        missing = self.source.missing_folder()
        trouble = None if missing is None else f"source {self.name}: there is no folder {missing}"
        if trouble is not None and trouble != self.trouble:
            event(log, trouble, level=logging.WARNING, source=self.name)
        self.trouble = trouble

    def _look_closer(self, query: StreamingQuery) -> None:
        """See how the query is, for those who ask.

        That Spark does not answer must not end a query that may run: whoever asks sees that the last look is long ago.
        """
        if time.monotonic() < self._looked + LOOK_CLOSER:
            return
        self._looked = time.monotonic()
        with suppress(Exception):
            progress = query.lastProgress
            executors = count_executors(self._spark) if self._on_cluster else None
            told = None if progress is None else progress.json
            self._watch.see(query.status, told, self._function.calls, executors)

    def _started(self) -> StreamingQuery:
        settings = self._context.settings
        writer = (
            self.source.open(self._spark)
            .writeStream.foreachBatch(self._function)
            .queryName(f"eddyline {settings.name} {self.name} {self._context.identity.id[:8]}")
            .option("checkpointLocation", self._context.state.checkpoint(self.name).address)
        )
        if settings.available_now:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=settings.trigger).start()

    def _stop(self, query: StreamingQuery) -> None:
        """Stop the query between two batches, as far as that can be seen."""
        remote = is_remote(self._spark)
        waited = 0.0
        while query.isActive and not self._at_once.wait(0.02):
            status: Any = query.status if remote else {}
            if not (status.get("isTriggerActive") if remote else self._function.busy):
                break
            waited += 0.02
            if remote and waited > LONGEST_STOP:
                break
            self._look_closer(query)  # a batch may take long: Spark still answers
        query.stop()

    def _reason(self, error: Exception) -> EddylineError | StreamChanged | None:
        """Why the query failed, in words without secrets and without Java's stack."""
        own = self._context.failures.pop(self.name, None)
        if isinstance(own, StopRequested) or (self._stopping.is_set() and self._at_once.is_set()):
            return None
        gone = self._gone()
        if gone is not None:
            return gone
        if isinstance(own, EddylineError | StreamChanged):
            return own
        if isinstance(error, EddylineError):
            return error
        if own is None and StreamChanged.__name__ in str(
            error
        ):  # in the process where Spark Connect runs batches
            pin = self._context.log.last(self.name)
            assert pin is not None, "what changed was seen in a batch"
            return StreamChanged(self._context.plan(pin.version).queries.stream(self.source.stream.name))
        lacking = missing_package(own or error)
        if lacking is not None:
            return lacking
        text = _first_words(own or error, secrets_in(self._context.settings))
        return PipelineError(f'source "{self.name}" failed: {text}')

    def _gone(self) -> SparkGoneError | None:
        """What there is to say where Java has ended; None where it has not."""
        gone = why_gone(self._spark)
        if gone is None:
            return None
        return SparkGoneError(
            f'source "{self.name}" stopped: {gone}',
            hint="start the pipeline again in a new process: it goes on where it was",
        )

    def _given_up(self, reason: EddylineError) -> EddylineError:
        if self.attempts == 1 or isinstance(reason, SparkGoneError):
            return reason
        return PipelineError(
            f'source "{self.name}" failed {self.attempts} times in a row, the last time: {reason.message}',
            hint=reason.hint or "start the pipeline again when that is mended: it goes on where it was",
        )

    def _pause(self, reason: EddylineError) -> None:
        pause = PAUSES.pause(self.attempts, random.random())
        event(
            log,
            f"source {self.name} failed, it is started again in {pause:.1f} s: {reason.message}",
            level=logging.WARNING,
            source=self.name,
            attempt=self.attempts,
        )
        self.state = "waiting"
        self.restarts += 1
        self._watch.begin()
        self._stopping.wait(pause)


def _first_words(error: BaseException, secrets: list[Secret]) -> str:
    """A message of Spark's in short; what looks like a bug of ours keeps its name."""
    text = in_words(error, secrets=secrets)
    return f"{type(error).__name__}: {text}" if isinstance(error, BUGS) else text
