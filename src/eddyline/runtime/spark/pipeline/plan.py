"""What a pipeline would do, found out without doing it: nothing is written but a scratch folder, which is removed."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eddyline.errors import EddylineError
from eddyline.registry import Registry
from eddyline.runtime.spark.base.secrets import HIDDEN, Secret, Value, scrubbed, secrets_in
from eddyline.runtime.spark.base.settings import PipelineSettings, SinkSettings
from eddyline.runtime.spark.base.values import Batch, PipelineIdentity
from eddyline.runtime.spark.functions import spark_resolver
from eddyline.runtime.spark.pipeline.batch.batch_context import folder_of, open_registry, sources_of
from eddyline.runtime.spark.pipeline.batch.matching import columns_sent, results_of
from eddyline.runtime.spark.pipeline.batch.version_plan import VersionPlan
from eddyline.runtime.spark.pipeline.input.identity import WORDS
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource
from eddyline.runtime.spark.sinks import make_router, make_sink
from eddyline.runtime.spark.versions import Pin, StateFolder, VersionLog, Versions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """A source: what it reads, as which columns, for how many queries."""

    name: str
    stream: str
    format: str
    path: str | None
    options: Mapping[str, str]
    columns: Mapping[str, str]
    sent: tuple[str, ...]  # columns that queries need, and so go to Python
    identity: str
    queries: int
    shadows: int
    next_batch: int
    spark_plan: str


@dataclass(frozen=True, slots=True)
class SinkPlan:
    """A sink: where it writes, what it guarantees, how many SELECT lists come to it."""

    name: str
    format: str
    path: str | None
    default: bool
    guarantee: str
    options: Mapping[str, str]
    select_lists: int


@dataclass(frozen=True, slots=True)
class PipelinePlan:
    """All of a pipeline, as it would start now. `left_out` and `without_sink` are findings: queries and reasons."""

    name: str
    registry: str
    version: int
    queries: int
    checkpoint: str
    goes_on: bool  # whether the checkpoint is there already
    trigger: str
    time_zone: str
    dead_letters: str
    session: Mapping[str, str]
    sources: tuple[SourcePlan, ...]
    sinks: tuple[SinkPlan, ...]
    compiled: str
    left_out: Mapping[str, str] = field(default_factory=dict)
    without_sink: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_findings(self) -> bool:
        """Whether some query would not be evaluated or not delivered."""
        return bool(self.left_out or self.without_sink)

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def make_plan(settings: PipelineSettings, spark: SparkSession) -> PipelinePlan:
    """Check everything, in the order in which a start does, and say what would happen."""
    state = _state(settings)
    with open_registry(settings) as registry, tempfile.TemporaryDirectory(prefix="eddyline-") as scratch:
        if state is not None:
            state.refuse_other_registry(registry.identity)
        sources = sources_of(settings, registry)
        for source in sources:
            source.check(spark, begun=_last_batch(state, source) is not None)
        sinks = _sinks(settings, state)
        resolver = spark_resolver(spark, registry.streams(), allowed=settings.functions)
        versions = Versions(registry, Path(scratch), time_zone=settings.time_zone, resolver=resolver)
        version = versions.current()
        shipment = versions.shipment(version)
        plan = VersionPlan(shipment, shipment.open(), versions.table(version), make_router(settings.sinks))
        return PipelinePlan(
            name=settings.name,
            registry=_registry_name(settings, registry),
            version=version,
            queries=len(plan.queries),
            checkpoint=settings.checkpoint,
            goes_on=state is not None,
            trigger=settings.trigger,
            time_zone=settings.time_zone,
            dead_letters=settings.dead_letter_folder,
            session=_shown(settings.session.settings),
            sources=tuple(_source_plan(settings, plan, source, spark, state) for source in sources),
            sinks=tuple(_sink_plan(sink, guarantee, plan) for sink, guarantee in sinks),
            compiled=plan.queries.explain().partition(": ")[2],  # the version is told above
            left_out=dict(versions.problems),
            without_sink=plan.without_sink(),
        )


def _state(settings: PipelineSettings) -> StateFolder | None:
    """The checkpoint, if it is there; what is wrong with it is raised, as at a start."""
    where = settings.checkpoint
    if not StateFolder.exists(where):
        return None
    names = [source.name for source in settings.sources]
    state = StateFolder.find(where)
    if state.name != settings.name:
        return StateFolder.open(where, name=settings.name, sources=names)  # says what is wrong
    running = StateFolder.is_running(where)
    if running is not None:
        raise EddylineError(f"the state in {where} is used by {running}", hint="stop that pipeline first")
    state.refuse_lost_checkpoints()
    return state


def _sinks(settings: PipelineSettings, state: StateFolder | None) -> list[tuple[SinkSettings, str]]:
    identity = None if state is None else PipelineIdentity(state.id, state.name, state.address)
    found = []
    for settings_of_sink in settings.sinks:
        sink = make_sink(settings_of_sink, folder=folder_of(settings))
        sink.inspect(identity)
        found.append((settings_of_sink, sink.guarantee))
    return found


def _source_plan(
    settings: PipelineSettings,
    plan: VersionPlan,
    source: PipelineSource,
    spark: SparkSession,
    state: StateFolder | None,
) -> SourcePlan:
    rows = source.open(spark)
    empty = spark.createDataFrame([], rows.schema)
    batch = Batch("", settings.name, source.settings.name, 0, plan.table.version, datetime.now(UTC))
    results = results_of(settings, plan, source, empty, batch)
    last = _last_batch(state, source)
    numbers = plan.of_stream(source.stream.name)
    return SourcePlan(
        name=source.settings.name,
        stream=source.stream.name,
        format=source.settings.format,
        path=source.settings.path,
        options=_shown(source.settings.options),
        columns={name: str(kind) for name, kind in source.stream.types.items()},
        sent=tuple(name for name in columns_sent(plan, source) if name in source.stream.types),
        identity=WORDS[source.identity.kind],
        queries=len(numbers),
        shadows=int(plan.table.shadow[numbers].sum()),
        next_batch=0 if last is None else last.batch_id + 1,
        spark_plan=scrubbed(_explained(rows) + _explained(results), secrets_in(settings)),
    )


def _last_batch(state: StateFolder | None, source: PipelineSource) -> Pin | None:
    return None if state is None else VersionLog(state.batches).last(source.settings.name)


def _sink_plan(sink: SinkSettings, guarantee: str, plan: VersionPlan) -> SinkPlan:
    return SinkPlan(
        name=sink.name,
        format=sink.format,
        path=sink.path,
        default=sink.default,
        guarantee=guarantee,
        options=_shown(sink.options),
        select_lists=len(plan.select_lists.get(sink.name, ())),
    )


def _explained(df: DataFrame) -> str:
    """Spark's plan as text; `explain` only prints."""
    text = io.StringIO()
    with redirect_stdout(text):
        df.explain()
    return text.getvalue()


def _shown(options: Mapping[str, Value]) -> dict[str, str]:
    return {name: HIDDEN if isinstance(value, Secret) else value for name, value in options.items()}


def _registry_name(settings: PipelineSettings, registry: Registry) -> str:
    return HIDDEN if isinstance(settings.registry, Secret) else registry.where
