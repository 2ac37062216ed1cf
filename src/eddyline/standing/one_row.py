"""Why one row matches a query or not."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from eddyline.errors import EddylineError, SchemaError
from eddyline.execute.reading.batch import ColumnReader, Columns
from eddyline.execute.why import Why, decide
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.odd_text import ordered_values
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression
from eddyline.model.expression import columns_of as attributes_of
from eddyline.model.predicate import Predicate, conditions_of
from eddyline.model.query import NormalQuery
from eddyline.sql.render import render


def why_of(query: NormalQuery, stream: Stream, row: Mapping[str, Any] | Any) -> Why:
    """Why a tuple, given as a mapping or as a batch of one row, matches a query or not."""
    used = attributes_read(subjects_of(query.predicate))
    columns = one_row(stream, used, row)
    return decided(query.predicate, Evaluation(columns, time_zone=query.time_zone, rows=1))


def one_row(stream: Stream, used: Iterable[str], row: Mapping[str, Any] | Any) -> Columns:
    """The columns that are used of a tuple, given as a mapping or as a batch of one row."""
    if isinstance(row, Mapping):
        schema = pa.schema([field for field in stream.schema if field.name in row])
        values = [_one_value(stream, field, row[field.name]) for field in schema]
        row = pa.RecordBatch.from_arrays(values, schema=schema)
    columns, rows = ColumnReader(stream, used).read(row)
    if rows != 1:
        raise EddylineError(f"why looks at one row, not at {rows}", hint="slice the batch: batch.slice(i, 1)")
    return columns


def _one_value(stream: Stream, field: pa.Field, value: Any) -> pa.Array:
    try:
        return pa.array([value], field.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        declared = stream.types.get(field.name, field.type)
        raise SchemaError(
            f'column "{field.name}" of the row for stream "{stream.name}" is {reprlib.repr(value)}, '
            f"but {declared} is declared",
            hint="give a value of that type, such as a datetime for a timestamp, or a batch of one row",
        ) from None


def decided(predicate: Predicate, evaluation: Evaluation) -> Why:
    """The verdict on the only row of an evaluation."""
    return decide(predicate, {one: value_of(one, evaluation) for one in subjects_of(predicate)}, render)


def value_of(expression: Expression, evaluation: Evaluation) -> Any:
    """The value of an expression for the only row, as regions compare it."""
    return ordered_values(evaluation.values(expression), expression.type)[0]


def subjects_of(predicate: Predicate) -> dict[Expression, None]:
    """What a predicate looks at, each subject once."""
    return dict.fromkeys(condition.subject for condition in conditions_of(predicate))


def attributes_read(expressions: Iterable[Expression]) -> dict[str, None]:
    """The columns that expressions read, each once."""
    return dict.fromkeys(name for expression in expressions for name in sorted(attributes_of(expression)))
