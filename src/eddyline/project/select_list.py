"""What queries output: one SELECT list over one stream, computed for the rows alone that some query of it matched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from eddyline.execute.reading.batch import ColumnReader, Columns
from eddyline.functions.evaluate import Evaluation, arrow_type
from eddyline.functions.evaluate.odd_text import readable
from eddyline.functions.evaluate.read import read
from eddyline.model import types as t
from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.model.expression import Call, Column, Expression, externals_of, own_columns_of
from eddyline.model.query import Output
from eddyline.standing.version import Known

_READ_MAY_FAIL = (t.TIMESTAMP, t.TIMESTAMP_NTZ, t.DAY_TIME)


@dataclass(frozen=True, slots=True)
class SelectedValues:
    """The columns of a SELECT list for some rows, and which outputs failed how often in each of these rows."""

    columns: list[pa.Array | pa.ChunkedArray]
    failures: list[tuple[Expression, Integers]]


@dataclass(frozen=True, eq=False)
class SelectList:
    """One SELECT list over one stream; `number` tells distinct ones apart, counts from 0 and is not given twice."""

    number: int
    stream: Stream
    outputs: tuple[Output, ...]
    time_zone: str

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the stream that it reads and that have a type in Spark."""
        return self._read_by(output.expression for output in self.outputs)

    @cached_property
    def every_column(self) -> tuple[str, ...]:
        """All columns of the stream that it reads, those that it hands through without a type of Spark's included."""
        names = {name for output in self.outputs for name in own_columns_of(output.expression)}
        return tuple([name for name in self.stream.schema.names if name in names])

    @cached_property
    def externals(self) -> tuple[Call, ...]:
        """The calls in it that only Spark can compute; `values` wants to be given them."""
        return tuple(dict.fromkeys(call for o in self.outputs for call in externals_of(o.expression)))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns that it gives."""
        return pa.schema([(output.name, self._type(output.expression)) for output in self.outputs])

    def schema_behind(self, lead: pa.Schema) -> pa.Schema:
        """Its columns behind those of `lead`; made once, since every delivery has it."""
        found = self._schemas.get(lead)
        if found is None:
            found = self._schemas[lead] = pa.schema([*lead, *self.schema])
        return found

    @cached_property
    def _schemas(self) -> dict[pa.Schema, pa.Schema]:
        return {}

    def values(
        self,
        batch: pa.RecordBatch | pa.Table,
        rows: Integers,
        known: Known | None = None,
        *,
        is_copied: bool = False,
    ) -> SelectedValues:
        """Its columns for distinct rows of a batch, ascending; `known` has the values of its `externals`.

        Somebody may write into the batch later. Where the caller copies what it gets, it may be a part of the batch.
        """
        columns, size = self._reader.read(batch)
        places = None if is_copied and len(rows) == size else pa.array(rows)
        evaluation = self._evaluation(columns, places, len(rows), known or {})
        values = [self._output(o.expression, batch, columns, places, evaluation) for o in self.outputs]
        return SelectedValues(values, list(self._failures(evaluation)))

    @cached_property
    def _reader(self) -> ColumnReader:
        return ColumnReader(self.stream, self.columns)

    @cached_property
    def _computed(self) -> tuple[Expression, ...]:
        """The outputs that have to be evaluated: all but columns that are handed through."""
        outputs = dict.fromkeys(output.expression for output in self.outputs)
        return tuple([e for e in outputs if not (isinstance(e, Column) and self._is_handed_through(e))])

    @cached_property
    def _columns_computed_from(self) -> tuple[str, ...]:
        return self._read_by(self._computed)

    def _is_handed_through(self, column: Column) -> bool:
        return self._is_untyped(column) or column.type not in _READ_MAY_FAIL

    def _read_by(self, expressions: Iterable[Expression]) -> tuple[str, ...]:
        names = dict.fromkeys(name for e in expressions for name in sorted(own_columns_of(e)))
        return tuple(name for name in names if name in self.stream.types)

    def _evaluation(
        self, columns: Columns, places: pa.Array | None, rows: int, known: Known
    ) -> Evaluation | None:
        if not self._computed:
            return None
        taken = {name: _at(columns[name], places) for name in self._columns_computed_from}
        given = {call: _at(known[call], places) for call in self.externals if call in known}
        return Evaluation(taken, time_zone=self.time_zone, rows=rows, known=given)

    def _output(
        self,
        expression: Expression,
        batch: pa.RecordBatch | pa.Table,
        columns: Columns,
        places: pa.Array | None,
        evaluation: Evaluation | None,
    ) -> pa.Array | pa.ChunkedArray:
        if isinstance(expression, Column) and self._is_untyped(expression):
            return _at(batch.column(expression.name), places).cast(self._type(expression))
        if isinstance(expression, Column) and self._is_handed_through(expression):
            values = read(_at(columns[expression.name], places), expression.type).values
        else:
            assert evaluation is not None, "what is computed has an evaluation"
            values = evaluation.values(expression)
        return readable(values, expression.type)

    def _type(self, expression: Expression) -> pa.DataType:
        if isinstance(expression, Column) and self._is_untyped(expression):
            return self.stream.schema.field(expression.name).type
        return arrow_type(expression.type)

    def _is_untyped(self, column: Column) -> bool:
        """Whether it is a column that `SELECT *` hands through though Spark has no type for it."""
        return column.name not in self.stream.types

    def _failures(self, evaluation: Evaluation | None) -> Iterator[tuple[Expression, Integers]]:
        """The outputs that failed somewhere, and for each row how many of their operations did."""
        if evaluation is None:
            return
        for expression in self._computed:
            masks = [mask for _, mask in evaluation.failed(expression)]
            if masks:
                yield expression, np.sum(masks, axis=0)


def _at(values: pa.Array | pa.ChunkedArray, places: pa.Array | None) -> pa.Array | pa.ChunkedArray:
    """Values of some rows; None are all rows, which are there already."""
    return values if places is None else values.take(places)


class SharedSelectLists:
    """All distinct SELECT lists of some queries; equal ones are one object."""

    def __init__(self) -> None:
        self._known: dict[tuple[Stream, tuple[Output, ...]], SelectList] = {}

    def take(self, stream: Stream, outputs: tuple[Output, ...], time_zone: str) -> SelectList:
        """The one that selects this of a stream; its number says how many came before it."""
        key = (stream, outputs)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = SelectList(len(self._known), stream, outputs, time_zone)
        return found
