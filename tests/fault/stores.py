"""Where a pipeline of a test keeps its state and its results: this machine's disk, or an S3 bucket.

The process of the pipeline finds the same store by a file in its folder.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

import pyarrow.parquet as pq

from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.versions import VersionLog
from eddyline.storage.local import LocalStorage
from tests.s3 import Bucket, Objects
from tests.spark.pipelines import Place

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

    def results(self) -> list[dict[str, Any]]:
        """What a reader finds that knows nothing of Eddyline."""
        return Place(self.folder).results()


@dataclass(frozen=True)
class S3Store:
    """State and results below a prefix of a bucket."""

    prefix: str
    server: int  # the port of the server itself
    session: dict[str, str]

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
        return replace(settings, checkpoint=self.checkpoint, sinks=sinks)

    def results(self) -> list[dict[str, Any]]:
        """What a reader finds that goes by the records of batches, as docs/sinks.md tells it to."""
        out = Objects(self.server, f"{self.prefix}/out")
        rows: list[dict[str, Any]] = []
        for record in out.walk("_commits"):
            for name in json.loads(out.read(record))["files"]:
                if name.endswith(".parquet"):
                    parts = dict(part.split("=", 1) for part in name.split("/")[:-1] if "=" in part)
                    batch = {"batch": int(parts["batch"]), "source": unquote(parts.get("source", ""))}
                    table = pq.ParquetFile(io.BytesIO(out.read(name))).read()
                    rows += [{**batch, **row} for row in table.to_pylist()]
        return sorted(rows, key=lambda row: (row["query_id"], row["tuple_key"]))


Store = DiskStore | S3Store


def use_bucket(folder: Path, bucket: Bucket, **settings: str) -> S3Store:
    """Have the pipeline of a folder keep everything in a bucket, under the name of the folder."""
    store = S3Store(folder.name, bucket.server, {**bucket.settings, **settings})
    (folder / _FILE).write_text(json.dumps(asdict(store)))
    return store


def store_of(folder: Path) -> Store:
    """The store of the pipeline of a folder."""
    if not (folder / _FILE).exists():
        return DiskStore(folder)
    return S3Store(**json.loads((folder / _FILE).read_text()))
