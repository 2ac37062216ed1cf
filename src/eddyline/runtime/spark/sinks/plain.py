"""Any other format that Spark writes: rows are appended, with the options of the format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eddyline.runtime.spark.base.remote_folders import local_path
from eddyline.runtime.spark.base.secrets import revealed_all
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.sinks.base import TextSink, delivering
from eddyline.runtime.spark.sinks.shape import columns
from eddyline.runtime.spark.sinks.storage import spark_address
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class PlainSink(TextSink):
    """What Spark's writer does with a format: `jdbc`, `xml`, one of a jar, or of Python."""

    def __init__(self, settings: SinkSettings, folder: Path) -> None:
        super().__init__(settings)
        self._folder = folder

    def deliver(self, rows: DataFrame, batch: Batch, typed: TypedList | None = None) -> int | None:
        """Append a batch."""
        with delivering(self._settings, batch):
            writer = columns(rows, None).write.format(self._settings.format)
            writer.options(**revealed_all(self._settings.options)).mode("append").save(self._address())
        return None

    def _address(self) -> str | None:
        path = self._settings.path
        here = None if path is None else local_path(path)
        return path if here is None else spark_address((self._folder / here).absolute())
