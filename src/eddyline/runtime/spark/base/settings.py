"""Settings of a pipeline as frozen values, every option explained where it is declared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from eddyline.config import StrategyName
from eddyline.runtime.spark.base.secrets import Secret, Value

__all__ = [
    "AVAILABLE_NOW",
    "PipelineSettings",
    "Secret",
    "SessionSettings",
    "SinkSettings",
    "SourceSettings",
    "Value",
    "read_settings",
]

Part = Literal["date", "query"]
Columns = Literal["auto", "payload", "typed"]

AVAILABLE_NOW: Final = "available now"
DEAD_LETTERS: Final = "dead-letters"
STALLED_AFTER: Final = 900
STOP_WITHIN: Final = 60
KEEP_DAYS: Final = 90
RETRIES: Final = 5
# Names of sources and sinks are names of folders.
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """Where rows of a stream come from."""

    name: str
    """Names the source in results, in the checkpoint and in reports."""

    format: str
    """Any streaming source of Spark: json, csv, parquet, orc, text, kafka, rate, socket, delta, ..."""

    stream: str = ""
    """The stream of the registry that the rows belong to; the source's own name if nothing is said."""

    path: str | None = None
    """A folder or an address, for sources that have one."""

    key: tuple[str, ...] = ()
    """Columns that identify a row; without them it is Kafka's topic, partition and offset, file and row, or its values."""

    schema: str | None = None
    """The columns as Spark declares them, where the source has others than the stream; must fit the stream."""

    strict: bool = False
    """Whether the pipeline stops at a file that cannot be read as rows of the stream; else it is set aside."""

    options: Mapping[str, Value] = field(default_factory=dict)
    """Spark's own options of the format."""

    def __post_init__(self) -> None:
        if not self.stream:
            object.__setattr__(self, "stream", self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkSettings:
    """Where results go: those of the queries whose destination is the sink's name."""

    name: str
    """The destination that queries name."""

    format: str
    """parquet, json, csv, kafka, delta, console, callback, webhook, or any other format that Spark writes."""

    path: str | None = None
    """A folder or an address, for sinks that have one."""

    default: bool = False
    """Whether it also takes the results of queries without a destination; the only sink does anyway."""

    partition_by: tuple[Part, ...] = ()
    """How files are laid out below each batch: by the date of the event time, by query, or both."""

    columns: Columns = "auto"
    """`payload`: what was selected as one JSON text; `typed`: as columns, those of the first SELECT list, and text only
    where a query has another one; `auto`: text, and columns beside it where all queries share one SELECT list. What an
    output began with it keeps."""

    url: Value | None = None
    """Where a webhook goes."""

    allow: tuple[str, ...] = ()
    """Prefixes of addresses (https://host/path) that queries may name as destination and this webhook goes to."""

    callback: str | Callable[..., Any] | None = None
    """A Python function, or `module:function`, that gets the rows."""

    options: Mapping[str, Value] = field(default_factory=dict)
    """Options of the format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """The Spark session that is started where none is given."""

    cores: int | None = None
    """Threads of a local session; as many as the process may use, if nothing is said."""

    remote: str | None = None
    """The address of a Spark Connect server, such as sc://host:15002."""

    settings: Mapping[str, Value] = field(default_factory=dict)
    """Spark's own settings; spark.master too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineSettings:
    """All of a pipeline."""

    name: str
    """Names the pipeline in its checkpoint, in metrics and in outputs."""

    registry: Value
    """Where the queries and streams are: a file of SQLite, or an address of PostgreSQL."""

    checkpoint: str
    """The folder, or the address of one on any file system that Spark reaches (s3a://bucket/path), that holds where the
    pipeline is; one folder, one pipeline."""

    sources: tuple[SourceSettings, ...]
    sinks: tuple[SinkSettings, ...]
    session: SessionSettings = field(default_factory=SessionSettings)

    trigger: str = "1 second"
    """How often a micro-batch starts, or `available now`: everything that is there, then the end."""

    time_zone: str = "UTC"
    """The zone in which queries read and write local times."""

    dead_letters: str = ""
    """The folder of rows that could not be read or delivered; `dead-letters` in the checkpoint if nothing is said."""

    prometheus: int | str | None = None
    """Where /metrics, /healthz and /readyz are served: a port on 127.0.0.1, or an address with a port, "0.0.0.0:9108"."""

    stalled_after: int = STALLED_AFTER
    """Seconds after which a batch that still runs makes the pipeline unhealthy; 0: never. Nothing is stopped for it."""

    stop_within: int = STOP_WITHIN
    """Seconds that the running batch has to end in when the pipeline is asked to stop; then it is stopped, and runs again
    at the next start."""

    functions: tuple[str, ...] = ()
    """Functions of the session's catalog that queries may call, beyond Spark's own."""

    quarantine: bool = True
    """Whether a query whose function fails is disabled in the registry; its function counts as NULL either way."""

    keep_days: int = KEEP_DAYS
    """For how many days it is kept which version served which batch."""

    retries: int = RETRIES
    """How often in a row a source is started again after a failure before the pipeline stops."""

    order: StrategyName = "adaptive"
    """Who finds the order in which tuples visit subjects, from one batch to the next; `fixed` leaves it as it is."""

    file: str | None = None
    """The file that the settings were read from."""

    def __post_init__(self) -> None:
        if len(self.sinks) == 1:
            object.__setattr__(self, "sinks", (replace(self.sinks[0], default=True),))

    @property
    def dead_letter_folder(self) -> str:
        """Where dead letters go."""
        return self.dead_letters or f"{self.checkpoint.rstrip('/')}/{DEAD_LETTERS}"

    @property
    def available_now(self) -> bool:
        """Whether the pipeline ends when what is there has been read."""
        return self.trigger == AVAILABLE_NOW

    @property
    def default_sink(self) -> SinkSettings | None:
        """The sink of queries without a destination: the one that says so, or the only one."""
        return next((sink for sink in self.sinks if sink.default), None)


def read_settings(path: str | Path) -> PipelineSettings:
    """The settings in a TOML file; every mistake is a `FileError` that names the file, the table and the key."""
    from eddyline.runtime.spark.base.settings_file import read

    return read(Path(path))
