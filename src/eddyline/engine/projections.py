"""What queries output: each distinct SELECT list once a push, for the rows alone that some query of it matched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.batch import ColumnReader, Columns
from eddyline.functions.evaluate import Evaluation, arrow_type
from eddyline.functions.evaluate.odd_text import readable
from eddyline.functions.evaluate.read import read
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Call, Column, Expression, externals_of, own_columns_of
from eddyline.model.query import Output
from eddyline.queryset.queryset import Known

Integers = npt.NDArray[np.signedinteger[Any]]
LEAD = (("query", pa.string()), ("revision", pa.int32()), ("version", pa.int64()))


@dataclass(frozen=True, eq=False)
class Projection:
    """One SELECT list over one stream; `number` tells distinct ones apart and is not given twice."""

    number: int
    stream: Stream
    outputs: tuple[Output, ...]
    time_zone: str

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the stream that it reads and that have a type in Spark."""
        names = dict.fromkeys(name for o in self.outputs for name in sorted(own_columns_of(o.expression)))
        return tuple(name for name in names if name in self.stream.types)

    @cached_property
    def _reader(self) -> ColumnReader:
        return ColumnReader(self.stream, self.columns)

    @cached_property
    def externals(self) -> tuple[Call, ...]:
        """The calls in it that only Spark can compute; `apply` wants their values."""
        return tuple(dict.fromkeys(call for o in self.outputs for call in externals_of(o.expression)))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns that it gives."""
        return pa.schema([(output.name, self._type(output.expression)) for output in self.outputs])

    @cached_property
    def delivered(self) -> pa.Schema:
        """The columns of its deliveries: query, revision and version, then its own."""
        return pa.schema([*(pa.field(name, kind) for name, kind in LEAD), *self.schema])

    def apply(
        self, batch: pa.RecordBatch | pa.Table, rows: Integers, known: Known | None = None
    ) -> Projected:
        """Its columns for rows of a batch, which may repeat; `known` has the values of its `externals`."""
        columns, _ = self._reader.read(batch)
        distinct, inverse = np.unique(rows, return_inverse=True)
        evaluation = _Rows(columns, distinct, self.time_zone, known or {})
        arrays = [
            self._values(output.expression, batch, columns, rows, evaluation, inverse)
            for output in self.outputs
        ]
        return Projected(arrays, list(self._failures(evaluation, inverse)))

    def _type(self, expression: Expression) -> pa.DataType:
        if self._is_untyped(expression):
            assert isinstance(expression, Column)
            return self.stream.schema.field(expression.name).type
        return arrow_type(expression.type)

    def _is_untyped(self, expression: Expression) -> bool:
        """Whether it is a column that `SELECT *` hands through though Spark has no type for it."""
        return isinstance(expression, Column) and expression.name not in self.stream.types

    def _values(
        self,
        expression: Expression,
        batch: pa.RecordBatch | pa.Table,
        columns: Columns,
        rows: Integers,
        evaluation: _Rows,
        inverse: Integers,
    ) -> pa.Array | pa.ChunkedArray:
        if self._is_untyped(expression):
            assert isinstance(expression, Column)
            return batch.column(expression.name).take(pa.array(rows)).cast(self._type(expression))
        if isinstance(expression, Column) and expression.type not in _READ_MAY_FAIL:
            values = read(columns[expression.name].take(pa.array(rows)), expression.type).values
        else:
            values = evaluation.whole.values(expression).take(pa.array(inverse))
        return readable(values, expression.type)

    def _failures(self, evaluation: _Rows, inverse: Integers) -> Iterator[tuple[Expression, Integers]]:
        """The outputs that failed somewhere, and for each of the rows asked for how many of its operations did."""
        if not evaluation.used:
            return
        for expression in dict.fromkeys(output.expression for output in self.outputs):
            masks = [mask for _, mask in evaluation.whole.failed(expression)]
            if masks:
                yield expression, np.sum(masks, axis=0)[inverse]


@dataclass(frozen=True, slots=True)
class Projected:
    """The columns of a projection, and which outputs failed how often in which of the rows."""

    arrays: list[pa.Array | pa.ChunkedArray]
    failures: list[tuple[Expression, Integers]]


class _Rows:
    """An evaluation over some rows of the columns, made when the first expression wants it."""

    def __init__(self, columns: Columns, rows: Integers, time_zone: str, known: Known) -> None:
        self._columns = columns
        self._rows = rows
        self._time_zone = time_zone
        self._given = known

    @property
    def used(self) -> bool:
        """Whether any expression was evaluated."""
        return "whole" in self.__dict__

    @cached_property
    def whole(self) -> Evaluation:
        """The evaluation."""
        places = pa.array(self._rows)
        taken = {name: column.take(places) for name, column in self._columns.items()}
        known = {call: values.take(places) for call, values in self._given.items()}
        return Evaluation(taken, time_zone=self._time_zone, rows=len(self._rows), known=known)


_READ_MAY_FAIL = (t.TIMESTAMP, t.TIMESTAMP_NTZ, t.DAY_TIME)


class Projections:
    """All distinct projections in use; equal ones are one object."""

    def __init__(self) -> None:
        self._known: dict[tuple[Stream, tuple[Output, ...]], tuple[Projection, int]] = {}
        self._given = 0

    def take(self, stream: Stream, outputs: tuple[Output, ...], time_zone: str) -> Projection:
        """The projection of a SELECT list, used once more."""
        key = (stream, outputs)
        projection, users = self._known.get(key) or (self._new(stream, outputs, time_zone), 0)
        self._known[key] = projection, users + 1
        return projection

    def _new(self, stream: Stream, outputs: tuple[Output, ...], time_zone: str) -> Projection:
        self._given += 1
        return Projection(self._given, stream, outputs, time_zone)

    def give_back(self, projection: Projection) -> None:
        """One use less."""
        key = (projection.stream, projection.outputs)
        found, users = self._known[key]
        if users > 1:
            self._known[key] = found, users - 1
        else:
            del self._known[key]

    def __len__(self) -> int:
        return len(self._known)
