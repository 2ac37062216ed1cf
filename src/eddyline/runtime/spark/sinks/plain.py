"""Any other format that Spark writes: rows are appended, with the options of the format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eddyline.runtime.spark.pipeline.secrets import revealed_all
from eddyline.runtime.spark.pipeline.settings import SinkSettings
from eddyline.runtime.spark.pipeline.values import Batch, PipelineIdentity
from eddyline.runtime.spark.remote_folders import local_path
from eddyline.runtime.spark.sinks.base import AT_LEAST_ONCE, Lists, delivering
from eddyline.runtime.spark.sinks.shape import columns
from eddyline.runtime.spark.sinks.storage import spark_address

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class PlainSink:
    """What Spark's writer does with a format: `jdbc`, `xml`, one of a jar, or of Python."""

    guarantee = AT_LEAST_ONCE

    def __init__(self, settings: SinkSettings, folder: Path) -> None:
        self.name = settings.name
        self._settings = settings
        self._folder = folder

    def inspect(self, pipeline: PipelineIdentity | None = None) -> None:
        """Only writing tells whether Spark knows the format and its options."""

    def open(self, pipeline: PipelineIdentity) -> None:
        """There is nothing to take possession of."""

    def deliver(self, rows: DataFrame, batch: Batch, lists: Lists | None = None) -> int | None:
        """Append a batch."""
        with delivering(self._settings, batch):
            writer = columns(rows, None).write.format(self._settings.format)
            writer.options(**revealed_all(self._settings.options)).mode("append").save(self._address())
        return None

    def _address(self) -> str | None:
        path = self._settings.path
        here = None if path is None else local_path(path)
        return path if here is None else spark_address((self._folder / here).absolute())

    def close(self) -> None:
        """Nothing is held open."""
