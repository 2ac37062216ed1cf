"""What identifies a tuple in results: its declared key, its place in Kafka, its file and row, or its place in a batch.

key          {"id":17}
kafka        topic/partition/offset
row index    file:/in/a.parquet#17
block        file:/in/a.json#0:17        start of the block that a task read, and the row in it, counted by the worker
position     quotes/4/0/17               source, batch, task and row, where a source says nothing better
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.delivery.json_text import json_lines

Kind = Literal["key", "kafka", "row index", "block", "position"]
Integers = npt.NDArray[np.signedinteger[Any]]

KAFKA: Final = ("topic", "partition", "offset")
METADATA: Final[Mapping[Kind, tuple[str, ...]]] = {
    "row index": ("file_path", "row_index"),
    "block": ("file_path", "file_block_start"),
}
PREFIX: Final = "__eddyline_"
WORDS: Final[Mapping[Kind, str]] = {
    "key": "its key",
    "kafka": "topic, partition and offset",
    "row index": "file and row",
    "block": "file, block and row",
    "position": "its place in the batch",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """How the tuples of a source are told apart, and the columns that say so, as the worker gets them."""

    kind: Kind
    columns: tuple[str, ...] = ()


class Keys:
    """The keys of one task's tuples; every batch of the task must pass through `see`, in order."""

    def __init__(self, identity: Identity, source: str, batch_id: int, partition: int) -> None:
        self._identity = identity
        self._prefix = f"{source}/{batch_id}/{partition}/"
        self._rows = 0
        self._block: tuple[str, int] | None = None
        self._in_block = 0

    def see(self, batch: pa.RecordBatch) -> TaskBatch:
        """The next batch of the task."""
        columns = [batch.column(name) for name in self._identity.columns]
        first, self._rows = self._rows, self._rows + batch.num_rows
        if self._identity.kind == "block":
            columns.append(pa.array(self._count(*columns)))
        return TaskBatch(self._identity, columns, self._prefix, first)

    def _count(self, paths: pa.Array, starts: pa.Array) -> Integers:
        """The row's number in its block; a block is read in one go, so that it is over when another one begins."""
        rows = len(paths)
        if not rows:
            return np.empty(0, np.int64)
        first, last = (paths[0].as_py(), starts[0].as_py()), (paths[-1].as_py(), starts[-1].as_py())
        begun = self._in_block if first == self._block else 0
        numbers = np.arange(begun, begun + rows)
        if first != last:
            borders = 1 + np.flatnonzero(_differs(paths) | _differs(starts))
            lengths = np.diff(borders, append=rows)
            numbers[borders[0] :] = np.arange(borders[0], rows) - np.repeat(borders, lengths)
        self._block, self._in_block = last, int(numbers[-1]) + 1
        return numbers


@dataclass(frozen=True, slots=True)
class TaskBatch:
    """The columns of a batch that tell its tuples apart."""

    identity: Identity
    columns: list[pa.Array]
    prefix: str
    first: int

    def keys(self, rows: Integers) -> pa.Array:
        """The keys of some of its rows, as text."""
        if self.identity.kind == "position":
            numbers = pa.array(rows + self.first).cast(pa.string())
            return pc.binary_join_element_wise(self.prefix, numbers, "")
        taken = [column.take(pa.array(rows)) for column in self.columns]
        if self.identity.kind == "key":
            return json_lines(pa.RecordBatch.from_arrays(taken, names=list(self.identity.columns)))
        texts = [column.cast(pa.string()) for column in taken]
        if self.identity.kind == "kafka":
            return pc.binary_join_element_wise(*texts, "/")
        path, *numbers = texts
        place = numbers[0] if len(numbers) == 1 else pc.binary_join_element_wise(*numbers, ":")
        return pc.binary_join_element_wise(path, place, "#")


def _differs(column: pa.Array) -> npt.NDArray[np.bool_]:
    """Which values, from the second on, are not those of the row before."""
    return np.asarray(pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)))
