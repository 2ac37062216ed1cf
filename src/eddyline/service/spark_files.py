"""Rows for jobs on Spark: files of Parquet alone, and what to say of functions that fail on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eddyline.errors import FileError
from eddyline.model.expression import Call
from eddyline.runtime.embedded.infer import Inferred
from eddyline.runtime.embedded.input_files import input_files
from eddyline.runtime.embedded.pipes import STANDARD_INPUT
from eddyline.runtime.spark.functions import pin_text
from eddyline.runtime.spark.histories.parquet_files import ParquetFiles, stream_in
from eddyline.service.watcher import Watcher


def parquet_files(source: str, format: str | None = None) -> ParquetFiles:
    """The files of a source for Spark; everything but Parquet is refused."""
    if source == STANDARD_INPUT:
        raise FileError(
            "Spark cannot read standard input",
            hint="write the rows to a Parquet file, or leave out --runtime",
        )
    if format not in (None, "parquet"):
        raise _only_parquet(source, str(format))
    if is_address(source):
        return ParquetFiles((source,))
    files = input_files(source, format)
    for file in files:
        if file.format != "parquet":
            raise _only_parquet(file.name, file.format)
    return ParquetFiles(tuple(file.name for file in files), source if Path(source).is_dir() else None)


def is_address(source: str) -> bool:
    """Whether a source is an address (s3a://...) that Spark opens, rather than a path."""
    return "://" in source


def infer_on_spark(spark: Any, source: str, format: str | None = None) -> Inferred:
    """The schema that Parquet files state, as Spark takes it."""
    return Inferred(stream_in(spark, "rows", parquet_files(source, format)).schema, None)


def tell_culprits(culprits: Mapping[Call, str], watcher: Watcher) -> None:
    """Say which functions failed on some row; everything else went on."""
    for call, reason in culprits.items():
        watcher.note(f"{pin_text(call)} failed on some row and counts as NULL in all: {reason}")


def _only_parquet(name: str, format: str) -> FileError:
    return FileError(
        f'"{name}" is {format}; on Spark rows of Parquet alone have numbers, by which results name them',
        hint="convert it to Parquet, or leave out --runtime spark",
    )
