"""What identifies a tuple in results: its declared key, its place in Kafka, its file and row, or what it says.

key          {"id":17}
kafka        topic/partition/offset
row index    file:/in/a.parquet#17       as Spark tells it
counted row  file:/in/a.json#17          counted by the workers
content      quotes/4/6f1c20.../0        source, batch, hash of the values that queries read, number among the same ones

A batch that is run again may be cut into other tasks: where Spark cuts a file depends on its size, the other files of the
batch, the session's settings and the number of cores. What identifies a tuple must not, so what a task says of it is
completed when all tasks have ended (`with_complete_keys`). Rows of a file are counted within the block that a task reads;
the rows in front of it are added then:

    a.json     |  0 ... 511  |  0 ... 498  |  0 ... 77 |      as tasks count
    first row     0             512           1011            of each block, from the counts of those before it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.delivery.json_text import json_lines
from eddyline.model.arrays import Integers
from eddyline.runtime.spark.sinks.shape import PART

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Kind = Literal["key", "kafka", "row index", "counted row", "content"]

KAFKA: Final = ("topic", "partition", "offset")
METADATA: Final[Mapping[Kind, Mapping[str, str]]] = {  # columns, and how Spark computes them
    "row index": {"file_path": "_metadata.file_path", "row_index": "_metadata.row_index"},
    "counted row": {
        "file_path": "_metadata.file_path",
        # most files are read as a whole: of these nobody has to be told how many rows they have
        "block_start": "if(_metadata.file_block_length < _metadata.file_size, _metadata.file_block_start, -1L)",
    },
}
PREFIX: Final = "__eddyline_"
WORDS: Final[Mapping[Kind, str]] = {
    "key": "its key",
    "kafka": "topic, partition and offset",
    "row index": "file and row",
    "counted row": "file and row",
    "content": "what it says",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """How the tuples of a source are told apart, and the columns that say so, as the worker gets them."""

    kind: Kind
    columns: tuple[str, ...] = ()


class Keys:
    """The keys of one task's tuples; every batch of the task must pass through `see`, in order."""

    def __init__(self, identity: Identity, source: str, batch_id: int) -> None:
        self.blocks: Counter[str] = Counter()  # rows of blocks, by `block_name`; whole files are left out
        self._identity = identity
        self._batch = f"{source}/{batch_id}"
        self._block: tuple[str, int] | None = None
        self._in_block = 0

    def see(self, batch: pa.RecordBatch) -> TaskBatch:
        """The next batch of the task."""
        columns = [batch.column(name) for name in self._identity.columns]
        if self._identity.kind == "counted row":
            columns.append(pa.array(self._count(*columns)))
        return TaskBatch(self._identity, columns, self._batch)

    def _count(self, paths: pa.Array, starts: pa.Array) -> Integers:
        """The row's number in its block; a block is read in one go, so that it is over when another one begins."""
        rows = len(paths)
        if not rows:
            return np.empty(0, np.int64)
        first, last = (paths[0].as_py(), starts[0].as_py()), (paths[-1].as_py(), starts[-1].as_py())
        begun = self._in_block if first == self._block else 0
        numbers = np.arange(begun, begun + rows)
        ends = np.array([rows])
        if first != last:
            borders = 1 + np.flatnonzero(_differs(paths) | _differs(starts))
            ends = np.append(borders, rows)
            numbers[borders[0] :] = np.arange(borders[0], rows) - np.repeat(borders, np.diff(ends))
        self._block, self._in_block = last, int(numbers[-1]) + 1
        for row in ends[np.asarray(starts)[ends - 1] >= 0] - 1:
            self.blocks[block_name(paths[row].as_py(), starts[row].as_py())] = int(numbers[row]) + 1
        return numbers


@dataclass(frozen=True, slots=True)
class TaskBatch:
    """The columns of a batch that tell its tuples apart."""

    identity: Identity
    columns: list[pa.Array]
    batch: str

    def identifying(self, rows: Integers) -> dict[str, pa.Array]:
        """The columns of results that identify some of its rows, as far as the task knows: `tuple_key`.

        Where a file is not read from its beginning, also `block_start` and `block_row`.
        """
        taken = [column.take(pa.array(rows)) for column in self.columns]
        if self.identity.kind == "key":
            return {"tuple_key": self._values(taken)}
        if self.identity.kind == "content":
            texts = self._values(taken).to_pylist() if taken else [""] * len(rows)
            return {"tuple_key": pa.array([f"{self.batch}/{_hash(text)}" for text in texts], pa.string())}
        if self.identity.kind == "kafka":
            return {"tuple_key": pc.binary_join_element_wise(*[one.cast(pa.string()) for one in taken], "/")}
        if self.identity.kind == "row index":
            return {"tuple_key": _file_and_row(*taken)}
        path, start, number = taken
        later = pc.greater(start, 0)
        if not pc.any(later).as_py():
            return {"tuple_key": _file_and_row(path, number)}
        return {
            "tuple_key": pc.if_else(later, path, _file_and_row(path, number)),
            "block_start": pc.if_else(later, start, None),
            "block_row": pc.if_else(later, number, None),
        }

    def _values(self, taken: list[pa.Array]) -> pa.Array:
        return json_lines(pa.RecordBatch.from_arrays(taken, names=list(self.identity.columns)))


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _file_and_row(path: pa.Array, number: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(path, number.cast(pa.string()), "#")


def _differs(column: pa.Array) -> npt.NDArray[np.bool_]:
    """Which values, from the second on, are not those of the row before."""
    return np.asarray(pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)))


def block_name(path: str, start: int) -> str:
    """What a block of a file is called in counts."""
    return f"{path}#{start}"


def first_rows(blocks: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """Path, start and the number of the first row of each block that does not begin its file.

    >>> first_rows({"a#900": 2, "a#0": 5, "b#0": 3, "a#1800": 1, "b#70": 4})
    [('a', 900, 5), ('a', 1800, 7), ('b', 70, 3)]
    """
    parts = ((*name.rpartition("#")[::2], rows) for name, rows in blocks.items())
    found, before, at = [], 0, None
    for path, start, rows in sorted((path, int(start), rows) for path, start, rows in parts):
        before, at = (before if path == at else 0), path
        if start:
            found.append((path, start, before))
        before += rows
    return found


def with_complete_keys(results: DataFrame, kind: Kind, blocks: Mapping[str, int]) -> DataFrame:
    """Results with keys that do not depend on how the batch was cut into tasks; `blocks` are the counts of all tasks."""
    if kind == "content":
        return _with_numbers_among_the_same(results)
    firsts = first_rows(blocks)
    return _with_row_numbers(results, firsts) if firsts else results


def _with_row_numbers(results: DataFrame, firsts: list[tuple[str, int, int]]) -> DataFrame:
    """Rows that were counted in a block are counted from the beginning of the file."""
    from pyspark.sql import functions as F

    found = results.sparkSession.createDataFrame(firsts, "path string, start bigint, first bigint")
    same = (F.col("tuple_key") == F.col("path")) & (F.col("block_start") == F.col("start"))
    numbered = F.concat("tuple_key", F.lit("#"), F.col("first") + F.col("block_row"))
    joined = results.join(F.broadcast(found), same, "left")
    return joined.withColumn("tuple_key", F.coalesce(numbered, "tuple_key")).drop("path", "start", "first")


def _with_numbers_among_the_same(results: DataFrame) -> DataFrame:
    """Tuples that say the same are results of the same queries, and nobody can tell which is which: they are counted."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    same = Window.partitionBy(PART, "query_number", "tuple_key").orderBy("payload", "event_time")
    return results.withColumn("tuple_key", F.concat("tuple_key", F.lit("/"), F.row_number().over(same) - 1))
