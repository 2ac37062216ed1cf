"""Pipelines for tests: a registry of quotes, files that come in, and what is found on disk afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset

from eddyline.model.catalog import Stream
from eddyline.registry import Edit, Put, Registry
from eddyline.runtime.spark.base.settings import (
    AVAILABLE_NOW,
    PipelineSettings,
    SinkSettings,
    SourceSettings,
)
from eddyline.runtime.spark.versions import StateFolder, VersionLog
from eddyline.spark import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eddyline.runtime.spark.pipeline.running import RunningPipeline

QUOTES = Stream(
    "quotes",
    pa.schema(
        [
            ("id", pa.int64()),
            ("symbol", pa.string()),
            ("price", pa.float64()),
            ("at", pa.timestamp("us", tz="UTC")),
        ]
    ),
    "at",
)
Rows = list[dict[str, Any]]


def quotes(first: int, count: int = 6) -> Rows:
    """Rows of quotes with ids from `first` on."""
    return [
        {
            "id": id,
            "symbol": "abc"[id % 3],
            "price": id / 2,
            "at": f"2026-03-0{1 + id % 2}T10:00:00Z",
        }
        for id in range(first, first + count)
    ]


@dataclass(frozen=True)
class Place:
    """A folder with everything that a pipeline has; rows may come from another one, and results go there."""

    folder: Path
    elsewhere: Path | None = None

    @property
    def storage(self) -> Path:
        """Where rows come from and results go."""
        return self.elsewhere or self.folder

    @property
    def settings(self) -> PipelineSettings:
        """JSON files in, Parquet out, until everything is read."""
        return PipelineSettings(
            name="market",
            registry=str(self.folder / "registry.db"),
            checkpoint=str(self.folder / "state"),
            trigger=AVAILABLE_NOW,
            retries=0,
            sources=(self.source("quotes", "json", maxFilesPerTrigger="1"),),
            sinks=(SinkSettings(name="results", format="parquet", path=str(self.storage / "out")),),
        )

    def source(
        self, name: str, format: str, *, key: tuple[str, ...] = (), stream: str = "", **options: str
    ) -> SourceSettings:
        """A source of files in a folder of its name."""
        (self.storage / name).mkdir(exist_ok=True)
        return SourceSettings(
            name=name,
            format=format,
            path=str(self.storage / name),
            stream=stream,
            key=key,
            options={"latestFirst": "false", **options},
        )

    def register(self, queries: Mapping[str, str] | Iterable[Edit], *streams: Stream) -> int:
        """Queries entered into the registry; gives its version."""
        edits = [Put(id, sql) for id, sql in queries.items()] if isinstance(queries, Mapping) else queries
        with Registry.open(self.folder / "registry.db") as registry:
            return registry.change(edits, streams=streams or [QUOTES], author="ann").version

    def counters(self) -> dict[str, dict[str, int]]:
        """The counters of the registry."""
        with Registry.open(self.folder / "registry.db") as registry:
            return registry.counters()

    def write(self, name: str, rows: Rows, *lines: str, source: str = "quotes") -> None:
        """A file of JSON lines, in its place at once; older than those that are written after it."""
        folder = self.storage / source
        folder.mkdir(exist_ok=True)
        text = "".join(line + "\n" for line in [*map(json.dumps, rows), *lines])
        draft = self.storage / f"{name}.draft"
        draft.write_text(text)
        draft.rename(folder / name)

    def results(self, folder: str = "out", format: str = "parquet") -> list[dict[str, Any]]:
        """What a reader finds that knows nothing of Eddyline."""
        place = self.storage / folder
        if not list(place.rglob(f"*.{format}")):
            return []
        reader = pa.dataset.dataset(place, format=format, partitioning="hive", exclude_invalid_files=True)
        found = reader.to_table()
        return sorted(found.to_pylist(), key=lambda row: (row["query_id"], row["tuple_key"]))

    def pairs(self, folder: str = "out", format: str = "parquet") -> list[tuple[str, int]]:
        """Query and id of every result, from payloads or typed columns."""
        rows = self.results(folder, format)
        ids = [json.loads(row["payload"])["id"] if row.get("payload") else row["id"] for row in rows]
        return sorted(zip([row["query_id"] for row in rows], ids, strict=True))

    def letters(self) -> list[dict[str, Any]]:
        """The dead letters."""
        found = [
            json.loads(line)
            for file in sorted((self.folder / "state" / "dead-letters").rglob("*.json"))
            if not file.name.startswith("_")
            for line in file.read_text().splitlines()
        ]
        return sorted(found, key=lambda letter: (letter["reason"], letter.get("text", "")))


def with_sinks(settings: PipelineSettings, *sinks: SinkSettings) -> PipelineSettings:
    """Settings with more sinks; the first one stays the default."""
    first = replace(settings.sinks[0], default=True)
    return replace(settings, sinks=(first, *sinks))


def run(settings: PipelineSettings, spark: SparkSession) -> RunningPipeline:
    """Run a pipeline until everything is read."""
    running = Pipeline(settings).start(spark)
    try:
        assert running.await_termination(120)
    finally:
        running.stop(now=True)
    return running


@contextmanager
def read_in_blocks(spark: SparkSession, size: int) -> Iterator[None]:
    """Have Spark cut files into blocks of so many bytes, as it does with large files and many cores."""
    name = "spark.sql.files.maxPartitionBytes"
    before = spark.conf.get(name)
    assert before is not None
    spark.conf.set(name, str(size))
    try:
        yield
    finally:
        spark.conf.set(name, before)


def log_of(settings: PipelineSettings) -> VersionLog:
    """Which version served which batch."""
    return VersionLog(StateFolder.find(settings.checkpoint).batches)
