"""What runs in Spark's Python workers for `eddyline match`: rows of files in; counts, pairs or selected rows out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.delivery.json_text import csv_columns, json_lines, unique
from eddyline.project.select_lists import LEAD, SelectLists, file_lead, file_table
from eddyline.project.stage import Results
from eddyline.runtime.spark.histories.sending import Sending
from eddyline.runtime.spark.transport.shipping import Shipment

Batches = Iterator[pa.RecordBatch]

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
    queries = shipment.open()
    for run in sending.runs(batches):
        row, number = queries.match(run.batch, stream=stream, known=run.known).pair_arrays()
        for start in range(0, len(row), MOST_PAIRS):
            part = slice(start, start + MOST_PAIRS)
            lead = file_lead(queries.names(number[part]), run.file.name, run.first + row[part])
            yield pa.RecordBatch.from_arrays(lead, schema=LEAD)


@dataclass(frozen=True)
class FileSelection:
    """Which set, which rows, what is selected."""

    shipment: Shipment
    sending: Sending
    stream: str
    lists: SelectLists

    def tables(self, batches: Batches) -> Iterator[tuple[int, pa.Table]]:
        """Matches as tables: the number of a SELECT list, and rows of it."""
        queries = self.shipment.open()
        columns = self.lists.of_set(queries.names(np.arange(queries.size)))
        for run in self.sending.runs(batches):
            found = queries.match(run.batch, stream=self.stream, known=run.known)
            results = Results(columns, *found.pair_arrays())
            for selected in results.selected(run.batch, known=run.known, most=MOST_PAIRS):
                ids = queries.names(selected.query)
                table = file_table(selected, ids, run.file.name, run.first + selected.row)
                yield selected.select.number, table

    def schema(self, number: int) -> pa.Schema:
        """The columns of a SELECT list, with those that stand before each."""
        return self.lists.lists[number].schema_behind(LEAD)


def json_texts(selection: FileSelection, batches: Batches) -> Batches:
    """Rows of all lists as text."""
    for number, table in selection.tables(batches):
        yield pa.RecordBatch.from_arrays([_same(number, table), json_lines(table)], names=["list", "value"])


def several_lists(
    selection: FileSelection, numbers: tuple[int, ...], as_text: bool, batches: Batches
) -> Batches:
    """The rows of several lists, each in a column of its own."""
    names = ["list", *(f"p{number}" for number in numbers)]
    empty = [_written(selection.schema(number).empty_table(), as_text) for number in numbers]
    kinds = [pa.struct(table.schema) for table in empty]
    for at, table in selection.tables(batches):
        [values] = _written(table, as_text).combine_chunks().to_struct_array().chunks
        columns = [
            values if number == at else pa.nulls(len(values), kind)
            for number, kind in zip(numbers, kinds, strict=True)
        ]
        yield pa.RecordBatch.from_arrays([_same(at, table), *columns], names=names)


def _same(number: int, table: pa.Table) -> pa.Array:
    return pa.array(np.full(table.num_rows, number, np.int32))


def _written(table: pa.Table, as_text: bool) -> pa.Table:
    """A table whose names all differ and whose values are those of the file."""
    plain = csv_columns(table) if as_text else table
    columns = [
        column.cast(pa.string()) if as_text or pa.types.is_null(column.type) else column
        for column in plain.columns
    ]
    return pa.table(columns, names=unique(table.schema.names))
