"""Parquet files as Spark reads them: every row with its file and its number in it, every file with its place in the history."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from eddyline.errors import EddylineError, FileError
from eddyline.model.catalog import Stream
from eddyline.runtime.spark.base.remote_folders import escaped
from eddyline.runtime.spark.base.schemas import find_columns, quoted, stream_of, struct_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

# a hash of the file's address: eight bytes a row, where the address may have a hundred
FILE: Final = "__eddyline_file"
ROW: Final = "__eddyline_row"  # counted from 0 in its file


@dataclass(frozen=True)
class ParquetFiles:
    """The files of a source: paths of this machine in the order of the history, or one address that Spark lists itself.

    `folder` is where partition columns (day=3/) start to be read from, if the files were found in one.
    """

    names: tuple[str, ...]
    folder: str | None = None

    @property
    def is_address(self) -> bool:
        """Whether Spark finds the files, in a store that this process need not see."""
        return len(self.names) == 1 and "://" in self.names[0]


@dataclass(frozen=True, slots=True)
class LocatedFile:
    """A file: its name as people see it, and how many rows of the history come before its own."""

    name: str
    before: int


@dataclass(frozen=True)
class ParquetRows:
    """What a source holds: its rows, with `FILE` and `ROW` behind the stream's columns, and its files by their hash."""

    frame: DataFrame
    files: dict[int, LocatedFile]
    count: int


def stream_in(spark: SparkSession, name: str, files: ParquetFiles) -> Stream:
    """The stream that the files state: that of one of them, as Spark takes it."""
    with explained():
        return stream_of(name, _reader(spark, files).parquet(*_paths(files)).schema)


def read_rows(spark: SparkSession, files: ParquetFiles, stream: Stream) -> ParquetRows:
    """Rows of exactly the stream's columns; runs one job, which counts the rows of each file."""
    from pyspark.sql import functions as F

    with explained():
        states = _reader(spark, files).parquet(*_paths(files)).schema
        find_columns(states, stream, stream.schema.names, what="Parquet")
        frame = _reader(spark, files).schema(struct_of(stream)).parquet(*_paths(files))
        metadata = frame.metadataColumn("_metadata")
        counts = frame.groupBy(metadata["file_path"].alias("path")).count()
        found = counts.select("path", F.xxhash64("path"), "count").collect()
    located, total = _locate([tuple(row) for row in found], files)
    columns = [F.col(quoted(name)) for name in stream.schema.names]
    known = frame.select(
        *columns, F.xxhash64(metadata["file_path"]).alias(FILE), metadata["row_index"].alias(ROW)
    )
    return ParquetRows(known, located, total)


def _locate(found: list[tuple[str, int, int]], files: ParquetFiles) -> tuple[dict[int, LocatedFile], int]:
    """Files by their hash, in the order of the history, and the rows of all of them."""
    names = {os.path.abspath(name): (index, name) for index, name in enumerate(files.names)}  # noqa: PTH100

    def rank(path: str) -> tuple[int, tuple[str, ...], str]:
        if files.is_address:
            return 0, PurePath(path).parts, path
        index, name = names[unquote(urlsplit(path).path)]
        return index, (), name

    located: dict[int, LocatedFile] = {}
    total = 0
    for path, key, count in sorted(found, key=lambda row: rank(row[0])):
        assert key not in located, "no two addresses have one hash"
        located[key] = LocatedFile(rank(path)[2], total)
        total += count
    return located, total


def _reader(spark: SparkSession, files: ParquetFiles) -> DataFrameReader:
    base = partition_base(files)
    return spark.read if base is None else spark.read.option("basePath", f"file://{base}")


def _paths(files: ParquetFiles) -> list[str]:
    return list(files.names) if files.is_address else [_plain(name) for name in files.names]


def _plain(name: str) -> str:
    """A path as Spark reads it, nothing in it taken for a pattern.

    >>> _plain("/data/day[1].parquet")
    'file:///data/day\\\\[1\\\\].parquet'
    """
    path = os.path.abspath(name)  # noqa: PTH100  links stay as they are
    return f"file://{escaped(path)}"


def partition_base(files: ParquetFiles) -> str | None:
    """The folder below which all files lie in the same partition columns; Spark leaves out files that lie in others.

    >>> partition_base(ParquetFiles(("/data/day=1/a.parquet", "/data/day=2/b.parquet"), "/data"))
    '/data'
    >>> partition_base(ParquetFiles(("/data/a.parquet", "/data/day=2/b.parquet"), "/data"))
    """
    if files.folder is None or files.is_address:
        return None
    base = os.path.abspath(files.folder)  # noqa: PTH100
    inside = [PurePath(os.path.relpath(name, base)).parent.parts for name in files.names]
    keys = {tuple(part.partition("=")[0] for part in parts) for parts in inside}
    named = all("=" in part for parts in inside for part in parts)
    return base if len(keys) == 1 and keys != {()} and named else None


@contextmanager
def explained() -> Iterator[None]:
    """What Spark says about a file that it cannot read, without the two screens of Java around it."""
    try:
        yield
    except EddylineError:
        raise
    except Exception as error:
        line = next((line for line in str(error).splitlines() if "[FAILED_READ_FILE" in line), None)
        line = line or (str(error).splitlines()[0] if "[PATH_NOT_FOUND]" in str(error) else None)
        if line is None:
            raise
        text = line.partition("] ")[2].partition(" SQLSTATE")[0].strip().rstrip(".")
        raise FileError(
            f"Spark could not read the rows: {text}", hint="write the file again, or leave it out"
        ) from error
