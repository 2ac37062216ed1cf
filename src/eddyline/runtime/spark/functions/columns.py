"""Columns in front of the matcher: what only Spark can compute, computed by Spark.

Spark plans each of them anew for every batch: 1,000 took it 2.4 s. Queries that differ in constants alone share a
column where the constant is compared with it (`levenshtein(a, b) < 3`), not where it is an argument.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from eddyline.errors import SchemaError
from eddyline.model import expression as e
from eddyline.model.catalog import spark_type
from eddyline.model.expression import Call, Expression
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.base.schemas import arrow_type, type_text
from eddyline.runtime.spark.functions.wording import sql_of
from eddyline.sql.render import render
from eddyline.sql.spark_only.rewriting import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

PREFIX: Final = "__eddyline_"


def externals_of(
    qs: QuerySet, stream: str | None = None, outputs: Iterable[Expression] = ()
) -> tuple[Call, ...]:
    """The outermost calls in a stream's predicates and in outputs that only Spark can compute, each once."""
    inside = [call for output in outputs for call in e.externals_of(output)]
    return tuple(dict.fromkeys([*qs.externals(stream), *inside]))


def external_name(place: int) -> str:
    """The name of the column with the values of the call at this place."""
    return f"{PREFIX}{place}"


def pin_text(call: Call) -> str:
    """The call as text that names it in logs and in the records of batches."""
    return render(call)


def with_externals(
    df: DataFrame, calls: Sequence[Call], *, nulled: Collection[str] = (), allowed: Collection[str] = ()
) -> DataFrame:
    """The DataFrame with one more column for each call, named by its place; nothing runs here."""
    found = external_columns(df, calls, nulled=nulled, allowed=allowed)
    named = [column.alias(external_name(place)) for place, column in enumerate(found)]
    return df.select("*", *named) if named else df


def external_columns(
    df: DataFrame, calls: Sequence[Call], *, nulled: Collection[str] = (), allowed: Collection[str] = ()
) -> list[Column]:
    """The values of calls as columns over a DataFrame that has the stream's columns; NULL for those `nulled` by text."""
    from pyspark.sql import functions as F

    spelling = _Spelling(df.schema)
    texts = [
        f"CAST(NULL AS {type_text(call.type)})"
        if pin_text(call) in nulled
        else sql_of(call, spelling, allowed)
        for call in calls
    ]
    return [F.expr(text) for text in texts]


class _Spelling:
    """Columns as a DataFrame has them: its own spelling, and of the declared type where it has a narrower one."""

    def __init__(self, schema: StructType) -> None:
        self._fields = {field.name.lower(): field for field in reversed(schema.fields)}

    def __call__(self, column: e.Column) -> str:
        field = self._fields.get(column.name.lower())
        if field is None:
            raise SchemaError(f'the DataFrame has no column "{column.name}", which queries read')
        arrow = arrow_type(field.dataType)
        if arrow is not None and spark_type(arrow) == column.type:
            return quoted(field.name)
        return f"CAST({quoted(field.name)} AS {type_text(column.type)})"
