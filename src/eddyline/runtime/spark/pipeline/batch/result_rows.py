"""The rows that tasks of a batch give, of three kinds in one table, since a task gives one.

    result        for a sink: what the query selected, as text (`payload`), as typed columns (`typed_0`, ...), or both
    dead letter   what cannot be read or has nowhere to go, with the `reason`
    summary       one for each task: its counts in `payload`

Which of them a row is, and of a result the sink, one number says: `part`. Typed columns are structs, one for each distinct
list of columns that some sink has; a row fills at most one of them. What is the same in all rows of a batch does not come
from the tasks: `with_constants` adds it. Rows that Spark writes to files as they come have the columns of the files instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from eddyline.runtime.spark.base.schemas import quoted
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.sinks.shape import PART
from eddyline.runtime.spark.sinks.typed import SELECTED, TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DEAD_LETTER: Final = -1
SUMMARY: Final = -2

_COLUMNS: Final[Mapping[str, tuple[str, pa.DataType]]] = {
    PART: ("int", pa.int32()),  # the place of the sink, DEAD_LETTER or SUMMARY
    "destination": ("string", pa.string()),
    "query_id": ("string", pa.string()),
    "query_revision": ("int", pa.int32()),
    "query_number": ("bigint", pa.int64()),
    "tuple_key": ("string", pa.string()),
    "event_time": ("timestamp", pa.timestamp("us", tz="UTC")),
    "payload": ("string", pa.string()),
    "reason": ("string", pa.string()),
    "block_start": ("bigint", pa.int64()),
    "block_row": ("bigint", pa.int64()),
    "version": ("bigint NOT NULL", pa.int64()),  # as a column that Spark adds would be
}
ALL: Final = tuple(name for name in _COLUMNS if name != "version")
_CONSTANTS: Final = "version bigint, source string, batch_id bigint"
TIME: Final = _COLUMNS["event_time"][1]
_OWN: Final = (PART, "reason", "block_start", "block_row")  # that sinks do not get


@dataclass(frozen=True)
class TypedColumns:
    """The typed columns of a batch: by sink the columns that it has, as far as SELECT lists of the batch fill them.

    sinks: all of them, in the order of their places in `part`.
    """

    by_sink: Mapping[str, TypedList]
    sinks: tuple[str, ...] = ()

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

    def selected(self, rows: DataFrame, typed: TypedList | None) -> DataFrame:
        """Rows with the typed columns that some sink has as the struct SELECTED, and without all others."""
        from pyspark.sql import functions as F

        if typed is not None and typed.numbers:
            at = next(place for place, other in enumerate(self.distinct) if other.same(typed))
            rows = rows.withColumn(SELECTED, F.col(f"typed_{at}"))
        return rows.drop(*(f"typed_{n}" for n in range(len(self.distinct))))

    def of_sink(self, rows: DataFrame, sink: str) -> DataFrame:
        """The results of a sink with the columns that it gets; those that are typed as the struct SELECTED."""
        from pyspark.sql import functions as F

        own = rows.where(F.col(PART) == self.sinks.index(sink))
        return self.selected(own, self.by_sink.get(sink)).drop(*_OWN)


@dataclass(frozen=True)
class RowFormat:
    """The columns in which rows leave the workers: some of ours, the typed ones, some of ours behind them.

    Rows that are kept have what any sink may want, and each typed list as a struct. Rows that Spark writes to files as they
    come have the columns of the files, in their order: `flat` names those of the only typed list.
    """

    typed: TypedColumns
    names: tuple[str, ...] = ALL
    behind: tuple[str, ...] = ()
    flat: tuple[str, ...] | None = None

    def __contains__(self, name: str) -> bool:
        return name in self.names or name in self.behind

    @property
    def schema(self) -> str:
        """The columns as Spark declares them."""
        typed = [f"typed_{n} struct<{each.ddl}>" for n, each in enumerate(self.typed.distinct)]
        if self.flat is not None:
            (only,) = self.typed.distinct
            typed = [f"{quoted(name)} {kind}" for name, kind in zip(self.flat, only.types, strict=True)]
        return ", ".join([*map(_declared, self.names), *typed, *map(_declared, self.behind)])

    def rows(
        self, count: int, structs: list[pa.StructArray], columns: Mapping[str, pa.Array]
    ) -> pa.RecordBatch:
        """So many rows; columns that are not given are NULL."""
        names, typed = [f"typed_{n}" for n in range(len(structs))], structs
        if self.flat is not None:
            names, typed = list(self.flat), structs[0].flatten()
        arrays = [*self._own(count, self.names, columns), *typed, *self._own(count, self.behind, columns)]
        return pa.RecordBatch.from_arrays(arrays, names=[*self.names, *names, *self.behind])

    def _own(self, count: int, names: tuple[str, ...], columns: Mapping[str, pa.Array]) -> list[pa.Array]:
        return [columns[name] if name in columns else pa.nulls(count, _COLUMNS[name][1]) for name in names]


NO_TYPED_COLUMNS: Final = TypedColumns({})


def _declared(name: str) -> str:
    return f"{name} {_COLUMNS[name][0]}"


SCHEMA: Final = ", ".join([*map(_declared, ALL), _CONSTANTS])


def parts(value: int, count: int) -> pa.Array:
    """The column `part` of rows that are all of one kind."""
    return pa.repeat(pa.scalar(value, pa.int32()), count)


def with_constants(rows: DataFrame, batch: Batch) -> DataFrame:
    """Rows of a batch with what is the same in all of them; put there by Spark, it need not come from Python."""
    from pyspark.sql import functions as F

    return rows.withColumns(
        {
            "version": F.lit(batch.version).cast("bigint"),
            "source": F.lit(batch.source),
            "batch_id": F.lit(batch.batch_id).cast("bigint"),
        }
    )
