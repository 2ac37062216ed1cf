"""Where a pipeline of a test keeps its state and its results: this machine's disk, or an S3 bucket, with its inputs or without.

The process of the pipeline finds the same store by a file in its folder.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

import pyarrow.parquet as pq

from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.versions import VersionLog
from eddyline.storage.local import LocalStorage
from tests.s3 import Bucket, Objects
from tests.spark.pipelines import Place, Rows

_FILE = "store.json"


class Files(Protocol):
    """What a test reads of a state: the part of a storage that is needed for it."""

    def list(self, folder: str) -> list[str]: ...
    def read(self, name: str) -> bytes: ...


@dataclass(frozen=True)
class DiskStore:
    """State and results in the folder itself."""

    folder: Path
    session: dict[str, str] = field(default_factory=dict)

    @property
    def checkpoint(self) -> str:
        return str(self.folder / "state")

    @property
    def state(self) -> Files:
        return LocalStorage(self.folder / "state")

    @property
    def versions(self) -> VersionLog:
        """Which version served which batch."""
        return VersionLog(LocalStorage(self.folder / "state" / "batches"))

    def placed(self, settings: PipelineSettings) -> PipelineSettings:
        """Settings with state and results in this store."""
        return settings

    @property
    def inputs(self) -> Files:
        """The files that come in."""
        return LocalStorage(self.folder / "quotes")

    def feed(self, name: str, rows: Rows, *lines: str) -> None:
        """One more file."""
        Place(self.folder).write(name, rows, *lines)

    def results(self) -> list[dict[str, Any]]:
        """What a reader finds that knows nothing of Eddyline."""
        return Place(self.folder).results()

    def letters(self) -> list[dict[str, Any]]:
        """The dead letters."""
        return Place(self.folder).letters()


@dataclass(frozen=True)
class S3Store:
    """State and results below a prefix of a bucket."""

    prefix: str
    server: int  # the port of the server itself
    session: dict[str, str]
    folder: str = ""  # of this machine, where files come in
    has_inputs: bool = False  # they come into the bucket instead

    @property
    def address(self) -> str:
        return f"s3a://bucket/{self.prefix}"

    @property
    def checkpoint(self) -> str:
        return f"{self.address}/state"

    @property
    def state(self) -> Files:
        return Objects(self.server, f"{self.prefix}/state")

    @property
    def versions(self) -> VersionLog:
        return VersionLog(Objects(self.server, f"{self.prefix}/state/batches"))  # type: ignore[arg-type]

    def placed(self, settings: PipelineSettings) -> PipelineSettings:
        first, *others = settings.sinks
        sinks = (replace(first, path=f"{self.address}/out"), *others)
        settings = replace(settings, checkpoint=self.checkpoint, sinks=sinks)
        if not self.has_inputs:
            return settings
        (source,) = settings.sources
        return replace(settings, sources=(replace(source, path=f"{self.address}/quotes"),))

    @property
    def inputs(self) -> Files:
        if not self.has_inputs:
            return DiskStore(Path(self.folder)).inputs
        return Objects(self.server, f"{self.prefix}/quotes")

    def feed(self, name: str, rows: Rows, *lines: str) -> None:
        if not self.has_inputs:
            DiskStore(Path(self.folder)).feed(name, rows, *lines)
            return
        text = "".join(line + "\n" for line in [*map(json.dumps, rows), *lines])
        Objects(self.server, f"{self.prefix}/quotes").put(name, text.encode())

    def results(self) -> list[dict[str, Any]]:
        """What a reader finds that goes by the records of batches, as docs/sinks.md tells it to."""
        rows: list[dict[str, Any]] = []
        for name, content in self._recorded("out"):
            if name.endswith(".parquet"):
                parts = dict(part.split("=", 1) for part in name.split("/")[:-1] if "=" in part)
                batch = {"batch": int(parts["batch"]), "source": unquote(parts.get("source", ""))}
                table = pq.ParquetFile(io.BytesIO(content)).read()
                rows += [{**batch, **row} for row in table.to_pylist()]
        return sorted(rows, key=lambda row: (row["query_id"], row["tuple_key"]))

    def letters(self) -> list[dict[str, Any]]:
        files = self._recorded("state/dead-letters")
        lines = [line for name, content in files if name.endswith(".json") for line in content.splitlines()]
        return sorted(map(json.loads, lines), key=lambda letter: letter["tuple_key"])

    def _recorded(self, folder: str) -> Iterator[tuple[str, bytes]]:
        """The files that records of batches name."""
        found = Objects(self.server, f"{self.prefix}/{folder}")
        for record in found.walk("_commits"):
            for name in json.loads(found.read(record))["files"]:
                yield name, found.read(name)


Store = DiskStore | S3Store


def use_bucket(folder: Path, bucket: Bucket, *, inputs: bool = False, **settings: str) -> S3Store:
    """Have the pipeline of a folder keep everything in a bucket, under the name of the folder: state, results, and `inputs`."""
    store = S3Store(folder.name, bucket.server, {**bucket.settings, **settings}, str(folder), inputs)
    (folder / _FILE).write_text(json.dumps(asdict(store)))
    return store


def store_of(folder: Path) -> Store:
    """The store of the pipeline of a folder."""
    if not (folder / _FILE).exists():
        return DiskStore(folder)
    return S3Store(**json.loads((folder / _FILE).read_text()))
