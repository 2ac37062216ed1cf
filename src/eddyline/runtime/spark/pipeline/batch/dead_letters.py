"""Dead letters: files and rows that could not be read, results that could not be delivered, each with the reason, once.

    dead/source=<source>/batch=<id>/part-*.json       {"reason", "text", "tuple_key", "query_id", "destination", ...}

`text` is what the row said, or what the query selected; of a file there is `file`, its path. A batch's letters are put
in their place by one rename, after its results were delivered, so that a replay writes the same letters or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.base.values import Batch, PipelineIdentity
from eddyline.runtime.spark.pipeline.input.inputs import readable_path
from eddyline.runtime.spark.sessions.session_checks import is_local
from eddyline.runtime.spark.sinks.base import RefusedResult, delivering
from eddyline.runtime.spark.sinks.batch_folders import batch_folder, new_attempt, remove_leftovers
from eddyline.runtime.spark.sinks.owner import take_possession
from eddyline.runtime.spark.sinks.storage import LocalOutput, storage_of
from eddyline.runtime.spark.versions import SetAside
from eddyline.storage.ownership import UNOWNED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME: Final = "dead letters"
SCHEMA: Final = (
    "reason string, text string, tuple_key string, query_id string, query_revision int, destination string, "
    "version bigint, file string"
)

Letter = tuple[object, ...]  # a value for each column


class DeadLetters:
    """The folder of a pipeline's dead letters."""

    def __init__(self, path: str, folder: Path) -> None:
        self._settings = SinkSettings(name=NAME, format="json", path=path)
        self._storage = storage_of(path, folder)
        self._owner = UNOWNED

    def open(self, pipeline: PipelineIdentity) -> None:
        """Refuse a folder in which another pipeline's letters lie."""
        take_possession(self._storage, self._settings, pipeline)
        self._owner = pipeline.owner

    def write(
        self, rows: DataFrame | None, others: Sequence[Letter], batch: Batch, spark: SparkSession
    ) -> None:
        """Put the letters of a batch into the folder, if they are not there: rows of results, and others."""
        name = batch_folder(batch)
        with delivering(self._settings, batch):
            if self._storage.is_committed(name):
                return
            letters = None if rows is None else rows.selectExpr(*_COLUMNS)
            if others:
                more = spark.createDataFrame(list(others), SCHEMA)
                letters = more if letters is None else letters.unionByName(more)
            assert letters is not None, "somebody counted letters"
            remove_leftovers(self._storage, batch, self._owner)
            staged = new_attempt(batch, self._owner)
            self._stage(letters, staged)
            written = self._storage.files(staged) or []
            self._owner.check()  # after the files were listed (batch_folders.py says why)
            self._storage.commit(staged, name, [file for file, _ in written])

    def _stage(self, letters: DataFrame, staged: str) -> None:
        """Write letters out of sight: by the workers, or, where these do not share the folder, by the driver."""
        if isinstance(self._storage, LocalOutput) and not is_local(letters.sparkSession):
            folder = self._storage.root / staged
            folder.mkdir(parents=True)
            with (folder / "part-00000.json").open("w", encoding="utf-8") as file:
                for (text,) in letters.selectExpr("to_json(struct(*))").toLocalIterator():
                    file.write(text + "\n")
            return
        writer = letters.coalesce(1).write.options(**self._storage.write_options)
        writer.mode("overwrite").json(f"{self._storage.address}/{staged}")


_COLUMNS: Final = (
    "reason",
    "payload AS text",
    "tuple_key",
    "query_id",
    "query_revision",
    "destination",
    "version",
    "CAST(NULL AS STRING) AS file",
)


def refused_letter(one: RefusedResult) -> Letter:
    """A result that a sink will never take."""
    return (
        one.reason,
        one.payload,
        one.tuple_key,
        one.query_id,
        one.query_revision,
        one.destination,
        one.version,
        None,
    )


def file_letter(file: SetAside) -> Letter:
    """A file that could not be read."""
    return (file.reason, *[None] * 6, readable_path(file.path))
