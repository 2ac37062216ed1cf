"""What runs in Spark's Python workers for `eddyline match`: rows of files in; counts, pairs or selected rows out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.delivery.json_text import csv_columns, json_lines, unique
from eddyline.engine.select_lists import SelectLists
from eddyline.runtime.spark.sending import Run, Sending
from eddyline.runtime.spark.shipping import Shipment

Integers = npt.NDArray[np.signedinteger[Any]]
Batches = Iterator[pa.RecordBatch]

LEAD: Final = pa.schema([("query", pa.string()), ("file", pa.string()), ("row", pa.int64())])
MOST_PAIRS: Final = 1 << 17  # that are made into rows at once


def counts(shipment: Shipment, sending: Sending, stream: str, batches: Batches) -> Batches:
    """How many rows of the task each query matches."""
    queries = shipment.open()
    totals = np.zeros(queries.size, np.int64)
    for run in sending.runs(batches):
        totals += queries.totals(run.batch, stream=stream, known=run.known)
    found = np.flatnonzero(totals)
    yield pa.RecordBatch.from_arrays([queries.names(found), pa.array(totals[found])], names=["query", "n"])


def pairs(shipment: Shipment, sending: Sending, stream: str, batches: Batches) -> Batches:
    """Which query matched which row."""
    for run, rows, ids in _found(shipment, sending, stream, batches):
        yield pa.RecordBatch.from_arrays(_lead(run, ids, rows), schema=LEAD)


def _found(
    shipment: Shipment, sending: Sending, stream: str, batches: Batches
) -> Iterator[tuple[Run, Integers, pa.Array]]:
    """Matches: places of rows in a run, and the ids of their queries; not too many at once."""
    queries = shipment.open()
    for run in sending.runs(batches):
        row, number = queries.match(run.batch, stream=stream, known=run.known).pair_arrays()
        for start in range(0, len(row), MOST_PAIRS):
            part = slice(start, start + MOST_PAIRS)
            yield run, row[part], queries.names(number[part]).cast(pa.string())


def _lead(run: Run, ids: pa.Array, rows: Integers) -> list[pa.Array]:
    """Query, file, and number of the row, counted from one as people count."""
    files = pa.repeat(pa.scalar(run.file.name, pa.string()), len(rows))
    return [ids, files, pa.array(rows + (run.first + 1), pa.int64())]


@dataclass(frozen=True)
class Selection:
    """Which set, which rows, what is selected."""

    shipment: Shipment
    sending: Sending
    stream: str
    lists: SelectLists

    def tables(self, batches: Batches) -> Iterator[tuple[int, pa.Table]]:
        """Matches as tables: the place of a SELECT list, and rows of it."""
        for run, row, ids in _found(self.shipment, self.sending, self.stream, batches):
            for place, chosen in self.lists.split(ids):
                projection, rows = self.lists.projections[place], row[chosen]
                values = projection.apply(run.batch, rows, run.known).arrays
                columns = [*_lead(run, ids.take(pa.array(chosen)), rows), *values]
                yield place, pa.table(columns, schema=self.schema(place))

    def schema(self, place: int) -> pa.Schema:
        """The columns of a SELECT list, with those that stand before each."""
        return pa.schema([*LEAD, *self.lists.projections[place].schema])


def json_texts(selection: Selection, batches: Batches) -> Batches:
    """Rows of all lists as text."""
    for place, table in selection.tables(batches):
        yield pa.RecordBatch.from_arrays([_same(place, table), json_lines(table)], names=["list", "value"])


def several_lists(selection: Selection, places: tuple[int, ...], as_text: bool, batches: Batches) -> Batches:
    """The rows of several lists, each in a column of its own."""
    names = ["list", *(f"p{place}" for place in places)]
    empty = [_written(selection.schema(place).empty_table(), as_text) for place in places]
    kinds = [pa.struct(table.schema) for table in empty]
    for at, table in selection.tables(batches):
        [values] = _written(table, as_text).combine_chunks().to_struct_array().chunks
        columns = [
            values if place == at else pa.nulls(len(values), kind)
            for place, kind in zip(places, kinds, strict=True)
        ]
        yield pa.RecordBatch.from_arrays([_same(at, table), *columns], names=names)


def _same(place: int, table: pa.Table) -> pa.Array:
    return pa.array(np.full(table.num_rows, place, np.int32))


def _written(table: pa.Table, as_text: bool) -> pa.Table:
    """A table whose names all differ and whose values are those of the file."""
    plain = csv_columns(table) if as_text else table
    columns = [
        column.cast(pa.string()) if as_text or pa.types.is_null(column.type) else column
        for column in plain.columns
    ]
    return pa.table(columns, names=unique(table.schema.names))
