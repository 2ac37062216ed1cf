"""Tables of any size to folders of part files, written by Spark; a folder is whole as soon as it has `_SUCCESS`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final

from eddyline.errors import FileError
from eddyline.runtime.spark.histories.parquet_files import explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter

_CSV: Final = {
    "header": "true",
    "escape": '"',
    "emptyValue": '""',
    "nullValue": "",
}  # as the embedded runtime has it
WRITERS: Final[dict[str, Callable[[DataFrameWriter, str], None]]] = {
    "parquet": lambda writer, path: writer.parquet(path),
    "jsonl": lambda writer, path: writer.text(path),  # lines that are JSON already
    "csv": lambda writer, path: writer.options(**_CSV).csv(path),
    "tsv": lambda writer, path: writer.options(**_CSV, sep="\t").csv(path),
}


def write(frames: Sequence[DataFrame], where: str, kind: str) -> None:
    """Write tables of one schema into one new folder."""
    from pyspark.errors import AnalysisException

    whole = reduce(lambda left, right: left.union(right), frames)
    try:
        with explained():
            WRITERS[kind](whole.write.mode("errorifexists"), address_of(where))
    except AnalysisException as error:
        if "PATH_ALREADY_EXISTS" not in str(error):
            raise
        raise FileError(f'"{where}" is there already', hint="remove it, or name another folder") from None


def address_of(where: str) -> str:
    """A place as Spark takes it: a path of this machine is one of its file system, whatever the session's is.

    >>> address_of("s3a://lake/out"), address_of("/data/out")
    ('s3a://lake/out', 'file:///data/out')
    """
    return where if "://" in where else f"file://{os.path.abspath(where)}"  # noqa: PTH100  links stay as they are
