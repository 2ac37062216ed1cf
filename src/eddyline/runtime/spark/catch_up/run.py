"""What a query missed: the input of past batches matched against it alone, its results as the pipeline makes them.

`PipelineSource` and `results_of` are the pipeline's own, so a row has the identity and the payload that it would have had.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, cast

from eddyline.compile import Compiler
from eddyline.errors import EddylineError
from eddyline.model.catalog import Stream
from eddyline.registry import Registry
from eddyline.registry.values import Entry, Version
from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.catch_up.boundary import Boundary, InForce, find_boundary
from eddyline.runtime.spark.functions import find_culprits, pin_text, spark_resolver
from eddyline.runtime.spark.histories.writing import address_of
from eddyline.runtime.spark.pipeline.batch.batch_context import open_versions, sources_of
from eddyline.runtime.spark.pipeline.batch.matching import results_of, summary_of
from eddyline.runtime.spark.pipeline.batch.result_rows import SCHEMA
from eddyline.runtime.spark.pipeline.batch.version_plan import VersionPlan
from eddyline.runtime.spark.pipeline.input.identity import with_complete_keys
from eddyline.runtime.spark.pipeline.input.inputs import FILES, check_source, files_of, offsets_of
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource
from eddyline.runtime.spark.sinks import make_router
from eddyline.runtime.spark.sinks.shape import OURS
from eddyline.runtime.spark.versions import StateFolder, VersionLog
from eddyline.runtime.spark.versions.working_folder import WorkingFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Late:
    """A query that is to begin late in a pipeline: what it reads can be read again, and its results can be computed."""

    settings: PipelineSettings
    spark: SparkSession
    registry: Registry
    state: StateFolder
    sources: tuple[PipelineSource, ...]  # that the query reads


@dataclass(frozen=True)
class CatchUp:
    """The results of a query over what it missed, computed at the latest when they are written."""

    results: DataFrame
    boundaries: tuple[Boundary, ...]

    def written(self, where: str) -> int:
        """How many there are, once they are written as Parquet."""
        return self.results.sparkSession.read.schema("query_id string").parquet(address_of(where)).count()


def look(settings: PipelineSettings, spark: SparkSession, registry: Registry, id: str) -> Late:
    """Whether a query can catch up, found out before it is enabled."""
    entry = registry.entry(id)
    if entry is None:
        raise EddylineError(f'there is no query "{id}"')
    resolver = spark_resolver(spark, registry.streams(), allowed=settings.functions)
    compiler = Compiler(registry.streams(), time_zone=settings.time_zone, resolver=resolver)
    stream = compiler.compile(entry.query).stream
    sources = [source for source in sources_of(settings, registry) if source.stream.name == stream]
    if not sources:
        raise EddylineError(
            f'query "{id}" reads the stream "{stream}", and no source of pipeline "{settings.name}" gives it'
        )
    for source in sources:
        check_source(source.settings)
    state = StateFolder.find(settings.checkpoint)
    state.refuse_other_registry(registry.identity)
    return Late(settings, spark, registry, state, tuple(sources))


@contextmanager
def catch_up(late: Late, id: str, *, timeout: float = 60.0) -> Iterator[CatchUp]:
    """The results that a query, enabled by now, would have had in the batches that it missed; they have no batch id."""
    from pyspark.sql import functions as F

    in_force = InForce.of(late.registry, id)
    names = [source.settings.name for source in late.sources]
    settle = partial(_settle, late, in_force)
    boundaries = find_boundary(late.state, in_force, names, settle=settle, timeout=timeout)
    with tempfile.TemporaryDirectory(prefix="eddyline-") as scratch, ExitStack() as kept:
        plan = _version_plan(late, in_force, Path(scratch))
        frames = [
            _results(late, plan, source, rows, in_force, kept)
            for source, boundary in zip(late.sources, boundaries, strict=True)
            for rows in _inputs(source, late, boundary)
        ]
        whole = reduce(lambda left, right: left.union(right), frames or [_none(late.spark)])
        matches = whole.where(F.col("query_id").isNotNull())  # delivered or not
        shaped = matches.withColumn("batch_id", F.lit(None).cast("bigint")).select(*OURS, "payload")
        yield CatchUp(shaped, tuple(boundaries))


def _settle(late: Late, in_force: InForce) -> None:
    """Compile the newest version, which has the query, for the pipeline to begin with."""
    resolver = spark_resolver(late.spark, late.registry.streams(), allowed=late.settings.functions)
    folder = WorkingFolder.of(late.state)
    versions = open_versions(late.settings, late.spark, late.registry, folder, resolver)
    if versions.current() < in_force.since:
        raise EddylineError(f"the newest version cannot be compiled: {versions.trouble}")


def _results(
    late: Late, plan: VersionPlan, source: PipelineSource, rows: DataFrame, in_force: InForce, kept: ExitStack
) -> DataFrame:
    now = datetime.now(UTC)
    batch = Batch(late.state.id, late.settings.name, source.settings.name, 0, in_force.since, now)
    nulled = _failing(late.settings, plan, source, rows)
    results = results_of(late.settings, plan, source, rows, batch, nulled)
    if source.identity.kind != "counted row":
        return results
    results = results.persist()  # rows can be numbered when all are counted
    kept.callback(results.unpersist)
    return with_complete_keys(results, source.identity.kind, summary_of(results).blocks)


def _failing(
    settings: PipelineSettings, plan: VersionPlan, source: PipelineSource, rows: DataFrame
) -> set[str]:
    """The calls that only Spark can compute and that fail on some row: they count as NULL, as in the pipeline."""
    calls = plan.externals(source.stream.name)
    found = find_culprits(rows, calls, allowed=settings.functions) if calls else {}
    return {pin_text(call) for call in found}


def _none(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], SCHEMA)


def _inputs(source: PipelineSource, late: Late, boundary: Boundary) -> Iterator[DataFrame]:
    """The rows of the batches that were missed."""
    checkpoint = late.state.checkpoint(boundary.source)
    if source.settings.format in FILES:
        log = VersionLog(late.state.batches)
        pins = [pin for missed in boundary.missed for pin in log.pins(boundary.source, missed[0], missed[-1])]
        set_aside = {file.path for pin in pins for file in pin.set_aside}
        paths = [path for path in files_of(checkpoint, boundary.missed) if path not in set_aside]
        if paths:
            yield source.read(late.spark, paths)
        return
    for offsets in offsets_of(checkpoint, boundary.missed):
        yield source.read(late.spark, options=offsets.options())


@dataclass(frozen=True)
class _OneQuery:
    """A registry as far as compiling needs one, in which one query stands."""

    version: int
    entry: Entry
    stream_list: tuple[Stream, ...]
    history: tuple[Version, ...]

    def streams(self, version: int | None = None) -> list[Stream]:
        return list(self.stream_list)

    def entries(self, version: int | None = None) -> list[Entry]:
        return [self.entry]

    def versions(self, numbers: object = None) -> list[Version]:
        return list(self.history)


def _version_plan(late: Late, in_force: InForce, folder: Path) -> VersionPlan:
    """The query alone, compiled, with its revision, number and destination."""
    version, registry = in_force.since, late.registry
    alone = _OneQuery(version, in_force.entry, tuple(registry.streams()), tuple(registry.versions([version])))
    resolver = spark_resolver(late.spark, alone.streams(), allowed=late.settings.functions)
    versions = open_versions(
        late.settings, late.spark, cast(Registry, alone), WorkingFolder(folder), resolver
    )
    versions.current()
    for id, why in versions.problems.items():
        raise EddylineError(f'query "{id}" is not evaluated: {why}')
    return VersionPlan(
        versions.shipment(version),
        versions.queries(version),
        versions.table(version),
        make_router(late.settings.sinks),
    )
