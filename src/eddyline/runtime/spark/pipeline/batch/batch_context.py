"""Everything that the batches of a pipeline need, opened once in a process: registry, state, versions, sinks."""

from __future__ import annotations

import fcntl
import time
from collections import OrderedDict
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from eddyline.config import OrderSettings
from eddyline.errors import FileError, RegistryError, SchemaError
from eddyline.model.catalog import Stream
from eddyline.registry import Registry
from eddyline.runtime.spark.base.secrets import HIDDEN, Secret, revealed, scrubbed, secrets_in
from eddyline.runtime.spark.base.settings import PipelineSettings, SourceSettings
from eddyline.runtime.spark.base.values import PipelineIdentity
from eddyline.runtime.spark.feedback.learning import Learning
from eddyline.runtime.spark.functions import spark_resolver
from eddyline.runtime.spark.pipeline.batch.calls import Callers
from eddyline.runtime.spark.pipeline.batch.counting import Counting
from eddyline.runtime.spark.pipeline.batch.dead_letters import DeadLetters
from eddyline.runtime.spark.pipeline.batch.version_plan import VersionPlan
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource
from eddyline.runtime.spark.sessions import session_checks
from eddyline.runtime.spark.sinks import Sink, make_router, make_sink
from eddyline.runtime.spark.versions import StateFolder, VersionLog, Versions
from eddyline.runtime.spark.versions.orders import Orders
from eddyline.runtime.spark.versions.state import SETS
from eddyline.runtime.spark.versions.working_folder import WorkingFolder
from eddyline.runtime.spark.watching import Metrics
from eddyline.runtime.spark.watching.kept_metrics import KeptMetrics
from eddyline.sql.resolver import Resolver
from eddyline.storage.durable import make_folder
from eddyline.storage.ownership import UNOWNED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_OPEN: Final = 4  # versions whose plans are kept
FORGET: Final = 3600.0  # seconds between two looks for old records
PATIENCE: Final = 5.0  # seconds that a batch waits for a registry that is locked


class BatchContext:
    """What batches share. Several sources run at the same time: what is changed here has a lock of its own."""

    def __init__(
        self, settings: PipelineSettings, spark: SparkSession, *, own: bool, shared: bool = False
    ) -> None:
        """With `own` the state is owned until this is closed, and refused while another process owns it.

        Without, another process of the pipeline does. `shared` says that several have contexts, one for each source.
        """
        self.settings = settings
        self._shared = shared
        self._open = ExitStack()
        names = [source.name for source in settings.sources]
        self.state = StateFolder.open(settings.checkpoint, name=settings.name, sources=names)
        # Before anything of it is read, as the owner before may still change it; and let go of last, when all is written.
        self.owner = self.state.lock() if own else UNOWNED
        self._open.callback(self.owner.close)
        try:
            self.identity = PipelineIdentity(self.state.id, settings.name, self.state.address, self.owner)
            self.log = VersionLog(self.state.batches, self.owner)
            self.folder = WorkingFolder.of(self.state)
            self.learning = Learning(OrderSettings(strategy=settings.order, drift="visits"), self._recorded)
            self._open.callback(self.learning.close)
            self.failures: dict[str, BaseException] = {}  # the last one of each source
            # By source: the batch from which results may again be written by the job that makes them.
            self.kept_until: dict[str, int] = {}
            self._plans: OrderedDict[int, VersionPlan] = OrderedDict()
            self._finding = Lock()
            self._forgotten = 0  # versions below are deleted
            self._forget_again = 0.0  # when old records of batches are looked for
            self.metrics = self._metrics()
            self.registry = self._open.enter_context(open_registry(settings))
            self.counting = Counting(self.registry, self.state.storage, self.state.id)
            self.resolver = spark_resolver(spark, self.registry.streams(), allowed=settings.functions)
            self.callers = Callers(self.resolver)
            self.versions = open_versions(settings, spark, self.registry, self.folder, self.resolver)
            self.state.remember(self.registry.identity)  # after its history was seen to fit
            self.sinks = {
                sink.name: self._opened(make_sink(sink, folder=folder_of(settings)))
                for sink in settings.sinks
            }
            self.sink_locks = {name: Lock() for name in self.sinks}
            self.router = make_router(settings.sinks)
            self.dead_letters = DeadLetters(settings.dead_letter_folder, folder_of(settings))
            self.dead_letters.open(self.identity)
        except OSError as error:  # of a store that refuses
            self.close()
            raise FileError(f"the state in {self.state.address} cannot be used: {error}") from error
        except BaseException:
            self.close()
            raise

    def _metrics(self) -> Metrics:
        if self.folder.kept is None:
            return Metrics(self.folder.metrics)
        metrics = KeptMetrics(self.folder.metrics, self.folder.kept, self.owner)
        self._open.callback(metrics.close)
        return metrics

    def _opened(self, sink: Sink) -> Sink:
        sink.open(self.identity)
        self._open.callback(sink.close)
        return sink

    def _recorded(self, source: str) -> Orders:
        last = self.log.last(source)
        return () if last is None else last.orders

    def current(self) -> int:
        """The newest version; processes that share the folder of versions write into it one after the other."""
        make_folder(self.folder.sets)  # for good, although it is only for the lock: versions are saved in it
        with (self.folder.sets / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return self.versions.current()

    def plan(self, version: int) -> VersionPlan:
        """What batches of a version need to know; the newest few are kept."""
        with self._finding:
            found = self._plans.get(version)
            if found is None:
                found = self._plans[version] = VersionPlan(
                    self.versions.shipment(version),
                    self.versions.queries(version),
                    self.versions.table(version),
                    self.router,
                )
                while len(self._plans) > MAX_OPEN:
                    self._plans.popitem(last=False)
            self._plans.move_to_end(version)
            return found

    def forget(self, version: int) -> None:
        """Delete compiled versions that no batch needs any more, when a version has come after them, and old records of batches.

        Only where all that use them can be seen.
        """
        self._forget_batches()
        with self._finding:
            if self._shared or version <= self._forgotten:
                return
            self._forgotten = version
        self.owner.check()  # the next owner may need what this one would delete
        needed = {pin.version for pin in self.log.uncommitted()}
        self.versions.forget(version, keep=needed)

    def _forget_batches(self) -> None:
        with self._finding:
            if self._shared or time.monotonic() < self._forget_again:
                return
            self._forget_again = time.monotonic() + FORGET
        before = datetime.now(UTC) - timedelta(days=self.settings.keep_days)
        for source in self.settings.sources:
            self.log.forget(source.name, before)

    def close(self) -> None:
        """Let go of everything."""
        self._open.close()


def open_versions(
    settings: PipelineSettings,
    spark: SparkSession,
    registry: Registry,
    folder: WorkingFolder,
    resolver: Resolver,
) -> Versions:
    """Versions of a registry as the pipeline compiles them."""
    return Versions(
        registry,
        folder.sets,
        kept=None if folder.kept is None else folder.kept.within(SETS),
        shared=session_checks.is_local(spark),
        time_zone=settings.time_zone,
        resolver=resolver,
        resolver_key=" ".join([spark.version, *sorted(settings.functions)]),
    )


def open_registry(settings: PipelineSettings) -> Registry:
    """The pipeline's registry, which must be there."""
    where = revealed(settings.registry)
    shown = "of the settings" if isinstance(settings.registry, Secret) else f'"{where}"'
    is_file = "://" not in where or where.startswith("sqlite:")
    if is_file and not Path(where.removeprefix("sqlite:///").partition("?")[0]).exists():
        raise RegistryError(f"there is no registry {shown}", hint="eddyline query add and import make one")
    hidden = secrets_in(settings.registry)
    try:
        return Registry.open(where, timeout=PATIENCE, shown=HIDDEN if hidden else None)
    except RegistryError as error:  # the database itself may name host and user
        raise RegistryError(scrubbed(error.message, hidden), hint=error.hint) from None


def sources_of(settings: PipelineSettings, registry: Registry) -> list[PipelineSource]:
    """The sources with their streams, as the registry declares them now."""
    streams = {stream.name.lower(): stream for stream in registry.streams()}
    return [PipelineSource(source, _stream_of(source, streams)) for source in settings.sources]


def _stream_of(source: SourceSettings, streams: dict[str, Stream]) -> Stream:
    found = streams.get(source.stream.lower())
    if found is None:
        known = ", ".join(sorted(stream.name for stream in streams.values())) or "none"
        raise SchemaError(
            f'source "{source.name}": the registry has no stream "{source.stream}"',
            hint=f"its streams are {known}; a source of another name says stream = ...",
        )
    return found


def folder_of(settings: PipelineSettings) -> Path:
    """What paths of settings that were not read from a file are relative to."""
    return Path.cwd() if settings.file is None else Path(settings.file).absolute().parent
