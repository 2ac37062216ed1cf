"""The rows that tasks of a batch give, of three kinds in one table, since a task gives one.

    result        for a sink: what the query selected, as text (`payload`), as typed columns (`typed_0`, ...), or both
    dead letter   what cannot be read or has nowhere to go, with the `reason`
    summary       one for each task: the `accounts` of queries, all other counts in `payload`

Typed columns are structs, one for each distinct list of columns that some sink has; a row fills at most one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from eddyline.runtime.spark.sinks.typed import SELECTED, TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RESULT: Final = "result"
DEAD_LETTER: Final = "dead letter"
SUMMARY: Final = "summary"

_COLUMNS: Final[Mapping[str, tuple[str, pa.DataType]]] = {
    "kind": ("string", pa.string()),
    "destination": ("string", pa.string()),
    "query_id": ("string", pa.string()),
    "query_revision": ("int", pa.int32()),
    "query_number": ("bigint", pa.int64()),
    "version": ("bigint", pa.int64()),
    "source": ("string", pa.string()),
    "batch_id": ("bigint", pa.int64()),
    "tuple_key": ("string", pa.string()),
    "event_time": ("timestamp", pa.timestamp("us", tz="UTC")),
    "payload": ("string", pa.string()),
    "sink": ("string", pa.string()),
    "reason": ("string", pa.string()),
    "block_start": ("bigint", pa.int64()),
    "block_row": ("bigint", pa.int64()),
    "accounts": ("binary", pa.binary()),
}
SCHEMA: Final = ", ".join(f"{name} {kind}" for name, (kind, _) in _COLUMNS.items())
TIME: Final = _COLUMNS["event_time"][1]
_OWN: Final = ("kind", "sink", "reason", "block_start", "block_row", "accounts")  # that sinks do not get


@dataclass(frozen=True)
class TypedColumns:
    """The typed columns of a batch: by sink the columns that it has, as far as SELECT lists of the batch fill them."""

    by_sink: Mapping[str, TypedList]

    @cached_property
    def distinct(self) -> tuple[TypedList, ...]:
        """One of each that differs from the others, in the order of the columns `typed_0`, `typed_1`, ..."""
        found: dict[tuple[tuple[str, ...], tuple[str, ...]], TypedList] = {}
        for _, typed in sorted(self.by_sink.items()):
            if typed.numbers:
                found.setdefault((typed.names, typed.types), typed)
        return tuple(found.values())

    def place(self, sink: str, number: int) -> int | None:
        """Which of `distinct` the results of a SELECT list have in a sink; None where they are text alone."""
        typed = self.by_sink.get(sink)
        if typed is None or number not in typed.numbers:
            return None
        return next(place for place, other in enumerate(self.distinct) if other.same(typed))

    @property
    def schema(self) -> str:
        """The columns of all rows, as Spark declares them."""
        return ", ".join([SCHEMA, *(f"typed_{n} struct<{t.ddl}>" for n, t in enumerate(self.distinct))])

    def of_sink(self, rows: DataFrame, sink: str) -> DataFrame:
        """The results of a sink with the columns that it gets; those that are typed as the struct SELECTED."""
        from pyspark.sql import functions as F

        own = rows.where((F.col("kind") == RESULT) & (F.col("sink") == sink))
        typed = self.by_sink.get(sink)
        if typed is not None and typed.numbers:
            own = own.withColumn(SELECTED, F.col(f"typed_{self.place(sink, typed.numbers[0])}"))
        return own.drop(*_OWN, *(f"typed_{n}" for n in range(len(self.distinct))))


NO_TYPED_COLUMNS: Final = TypedColumns({})


def batch_of(
    count: int, structs: list[pa.StructArray | pa.Array] | None = None, **columns: Any
) -> pa.RecordBatch:
    """So many rows, with the typed columns behind; columns that are not given are NULL."""
    arrays = [
        columns[name] if name in columns else pa.nulls(count, kind) for name, (_, kind) in _COLUMNS.items()
    ]
    names = [*_COLUMNS, *(f"typed_{n}" for n in range(len(structs or ())))]
    return pa.RecordBatch.from_arrays([*arrays, *(structs or ())], names=names)


def repeated(name: str, value: object, count: int) -> pa.Array:
    """A column that has the same value in every row."""
    return pa.repeat(pa.scalar(value, _COLUMNS[name][1]), count)
