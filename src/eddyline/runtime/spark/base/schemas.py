"""Spark's schemas and ours: a stream of a DataFrame's columns, the schema of a stream, and whether the two fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from eddyline.errors import SchemaError
from eddyline.execute.reading.conversion import fits as values_fit
from eddyline.model import types as t
from eddyline.model.catalog import Stream, spark_type

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

Fields = Iterable[tuple[str, t.DataType | None]]

_ATOMIC: Final = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}


def stream_of(name: str, schema: StructType, event_time: str | None = None) -> Stream:
    """A stream with the columns of a DataFrame, less those whose type has no place here (VARIANT, INTERVAL MONTH)."""
    found = [(field.name, arrow_type(field.dataType)) for field in schema.fields]
    return Stream(name, pa.schema([(name, kind) for name, kind in found if kind is not None]), event_time)


def struct_of(stream: Stream) -> StructType:
    """Spark's schema for a stream."""
    from pyspark.sql.types import StructField, StructType

    ddl(stream)  # refuses what Spark does not have
    return StructType([StructField(name, _spark(kind)) for name, kind in stream.types.items()])


def _spark(kind: t.DataType) -> DataType:
    from pyspark.sql import types as s

    if isinstance(kind, t.StructType):
        return s.StructType([s.StructField(name, _spark(of)) for name, of in kind.fields])
    if isinstance(kind, t.ArrayType):
        return s.ArrayType(_spark(kind.element))
    if isinstance(kind, t.MapType):
        return s.MapType(_spark(kind.key), _spark(kind.value))
    if isinstance(kind, t.DecimalType):
        return s.DecimalType(kind.precision, kind.scale)
    named: list[type[DataType]] = [
        s.BooleanType,
        s.ByteType,
        s.ShortType,
        s.IntegerType,
        s.LongType,
        s.FloatType,
        s.DoubleType,
    ]
    named += [s.StringType, s.BinaryType, s.DateType, s.TimestampType, s.TimestampNTZType, s.NullType]
    found: list[DataType] = [of() for of in [*named, s.DayTimeIntervalType, s.YearMonthIntervalType]]
    return next(of for of in found if of.simpleString() == str(kind))


def ddl(stream: Stream) -> str:
    """A stream's columns as Spark's DDL.

    >>> ddl(Stream("quotes", pa.schema([("symbol", pa.string()), ("last price", pa.decimal128(9, 2))])))
    '`symbol` string, `last price` decimal(9,2)'
    """
    missing = [name for name in stream.schema.names if name not in stream.types]
    if missing:
        kind = stream.schema.field(missing[0]).type
        raise SchemaError(
            f'column "{missing[0]}" of stream "{stream.name}" has the type {kind}, which Spark does not have',
            hint="cast the column, or leave it out",
        )
    return ", ".join(f"{quoted(name)} {type_text(kind)}" for name, kind in stream.types.items())


def quoted(name: str) -> str:
    """A name as Spark reads it, whatever is in it.

    >>> quoted("dot.ted"), quoted("a`b")
    ('`dot.ted`', '`a``b`')
    """
    return "`" + name.replace("`", "``") + "`"


def type_text(kind: t.DataType) -> str:
    """A type as DDL, names of fields quoted."""
    if isinstance(kind, t.StructType):
        return "struct<" + ",".join(f"{quoted(name)}:{type_text(of)}" for name, of in kind.fields) + ">"
    if isinstance(kind, t.ArrayType):
        return f"array<{type_text(kind.element)}>"
    if isinstance(kind, t.MapType):
        return f"map<{type_text(kind.key)},{type_text(kind.value)}>"
    return str(kind)


def arrow_type(kind: DataType) -> pa.DataType | None:
    """The Arrow type in which Spark hands over values of a type; None where it has none, or none that queries know."""
    from pyspark.sql import types as s

    if isinstance(kind, s.StructType):
        fields = [(field.name, arrow_type(field.dataType)) for field in kind.fields]
        known = [(name, of) for name, of in fields if of is not None]
        return pa.struct(known) if len(known) == len(fields) else None
    if isinstance(kind, s.ArrayType):
        element = arrow_type(kind.elementType)
        return None if element is None else pa.list_(element)
    if isinstance(kind, s.MapType):
        key, value = arrow_type(kind.keyType), arrow_type(kind.valueType)
        return None if key is None or value is None else pa.map_(key, value)
    return _atomic_type(kind)


def _atomic_type(kind: Any) -> pa.DataType | None:
    from pyspark.sql import types as s

    if isinstance(kind, s.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, s.DayTimeIntervalType):
        return pa.duration("us")
    if isinstance(kind, s.StringType | s.VarcharType | s.CharType):
        return pa.string()
    return _ATOMIC.get(kind.simpleString())


def find_columns(
    schema: StructType, stream: Stream, used: Iterable[str], *, what: str = "DataFrame"
) -> dict[str, str]:
    """By the stream's name of each used column the one that the DataFrame has; a `SchemaError` where one does not fit.

    Names are compared without case. Types may be narrower than declared, where no value is lost.
    """
    spelled: dict[str, list[str]] = {}
    for name in schema.names:
        spelled.setdefault(name.lower(), []).append(name)
    found = {}
    for name in used:
        several = spelled.get(name.lower(), [])
        if not several:
            raise SchemaError(
                f'the {what} for stream "{stream.name}" has no column "{name}"',
                hint=f"its columns are {', '.join(schema.names[:12])}",
            )
        if len(several) > 1:
            raise SchemaError(
                f'the {what} for stream "{stream.name}" has the column "{name}" more than once: '
                f"{', '.join(several)} (names are compared without case)",
                hint="rename all but one of them",
            )
        check_type(stream, name, schema.fields[schema.names.index(several[0])].dataType, what)
        found[name] = several[0]
    return found


def check_type(stream: Stream, name: str, kind: DataType, what: str = "DataFrame") -> None:
    """Refuse a column whose values are not all values of the declared type, or whose texts are not compared by bytes."""
    declared = stream.types.get(name)
    collation = foreign_collation(kind)
    if collation is not None:
        raise SchemaError(
            f'column "{name}" of the {what} for stream "{stream.name}" has the collation {collation}; '
            "queries compare texts by their bytes",
            hint=f'give it UTF8_BINARY: df.withColumn("{name}", F.collate("{name}", "UTF8_BINARY"))',
        )
    arrow = arrow_type(kind)
    found = None if arrow is None else spark_type(arrow)
    if declared is None or found is None or not values_fit(found, declared):
        raise SchemaError(
            f'column "{name}" of the {what} for stream "{stream.name}" has the type {kind.simpleString()}, but '
            f"{declared or stream.schema.field(name).type} is declared",
            hint="cast the column, or declare the stream with the type that it has",
        )


def misfit(columns: Fields, declared: Fields, within: str = "") -> str | None:
    """Why a file with some columns cannot be read as declared; None where it can. It may have more of them.

    Spark reads a column or a field that a file lacks as NULL, and some types as others, without a word.

    >>> declared = [("id", t.LONG), ("price", t.DOUBLE)]
    >>> misfit([("ID", t.INT)], declared)
    'it has no column "price"'
    >>> misfit([("id", t.LONG), ("Price", t.STRING)], declared)
    'its column "price" has the type string, but double is declared'
    """
    found: dict[str, list[t.DataType | None]] = {}
    for name, kind in columns:
        found.setdefault(name.lower(), []).append(kind)
    for name, kind in declared:
        path, several = f"{within}{name}", found.get(name.lower(), [])
        if not several:
            return f'it has no column "{path}"'
        if len(several) > 1:
            return f'it has the column "{path}" more than once (names are compared without case)'
        problem = _misfit_of_types(several[0], kind, path)
        if problem is not None:
            return problem
    return None


def _misfit_of_types(found: t.DataType | None, declared: t.DataType | None, path: str) -> str | None:
    if isinstance(found, t.StructType) and isinstance(declared, t.StructType):
        return misfit(found.fields, declared.fields, f"{path}.")
    if isinstance(found, t.ArrayType) and isinstance(declared, t.ArrayType):
        return _misfit_of_types(found.element, declared.element, f"{path}.element")
    if isinstance(found, t.MapType) and isinstance(declared, t.MapType):
        key = _misfit_of_types(found.key, declared.key, f"{path}.key")
        return key or _misfit_of_types(found.value, declared.value, f"{path}.value")
    if found is not None and declared is not None and values_fit(found, declared):
        return None
    kind = "a type that queries do not know" if found is None else f"the type {found}"
    return f'its column "{path}" has {kind}, but {declared} is declared'


def foreign_collation(kind: Any) -> str | None:
    """The first collation inside a type that is not Spark's usual one."""
    collation = getattr(kind, "collation", None)
    if isinstance(collation, str) and collation != "UTF8_BINARY":
        return collation
    inside = [getattr(kind, name) for name in ("elementType", "keyType", "valueType") if hasattr(kind, name)]
    inside += [field.dataType for field in getattr(kind, "fields", None) or []]
    return next((found for of in inside if (found := foreign_collation(of)) is not None), None)
