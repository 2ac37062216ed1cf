"""Tables of any size to folders of part files, written by Spark; a folder is whole as soon as it has `_SUCCESS`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eddyline.errors import FileError
from eddyline.runtime.spark.histories.parquet_files import explained
from eddyline.runtime.spark.sessions.shared_folders import write_and_look

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CSV: Final = {
    "header": "true",
    "escape": '"',
    "emptyValue": '""',
    "nullValue": "",
}  # as the embedded runtime has it
WRITERS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {  # what Spark calls each format, and options
    "parquet": ("parquet", {}),
    "jsonl": ("text", {}),  # lines that are JSON already
    "csv": ("csv", _CSV),
    "tsv": ("csv", {**_CSV, "sep": "\t"}),
}


def write(frames: Sequence[DataFrame], where: str, kind: str) -> None:
    """Write tables of one schema into one new folder."""
    from pyspark.errors import AnalysisException

    whole = reduce(lambda left, right: left.union(right), frames)
    folder = None if "://" in where else Path(where).absolute()
    format, options = WRITERS[kind]

    def save(rows: DataFrame) -> None:
        rows.write.format(format).options(**options).mode("errorifexists").save(address_of(where))

    try:
        with explained():
            missing = write_and_look(whole, folder, format, options, save)
    except AnalysisException as error:
        if "PATH_ALREADY_EXISTS" not in str(error):
            raise
        raise FileError(f'"{where}" is there already', hint="remove it, or name another folder") from None
    if missing is not None:
        raise FileError(
            f'"{where}" is not complete: {missing} there',
            hint="name a folder that this process and all workers of Spark share",
        )


def address_of(where: str) -> str:
    """A place as Spark takes it: a path of this machine is one of its file system, whatever the session's is.

    >>> address_of("s3a://lake/out"), address_of("/data/out")
    ('s3a://lake/out', 'file:///data/out')
    """
    return where if "://" in where else f"file://{os.path.abspath(where)}"  # noqa: PTH100  links stay as they are
