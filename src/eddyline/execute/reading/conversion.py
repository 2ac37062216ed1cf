"""One column of a batch as the stream declares it: other layouts of the same values, and numbers of other types that fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.errors import SchemaError
from eddyline.functions.coercion import DECIMAL_OF, wider_decimal
from eddyline.functions.evaluate.arrays import arrow_type, nulls, with_parts
from eddyline.functions.evaluate.layouts import Column, is_ordinary, ordinary
from eddyline.functions.evaluate.read import read
from eddyline.model import types as t
from eddyline.model.catalog import Stream, spark_type

# Beyond these a float stands for several integers, of which it may have been another before it was one.
_EXACT: Final = {pa.float16(): 2**11, pa.float32(): 2**24, pa.float64(): 2**53}

Convert = Callable[[Column], pa.Array]


def conversion(stream: Stream, name: str, arrow: pa.DataType) -> Convert | None:
    """What a column of an Arrow type has to go through; None: nothing. A type that cannot be the declared one is refused."""
    declared, found = stream.types.get(name), spark_type(arrow)
    if declared is None:
        is_same = arrow == stream.schema.field(name).type
        return None if is_same else lambda column: _handed_through(column, stream, name)
    if found is None or not _may_fit(found, declared):
        raise _other_type(stream, name, arrow)
    if fits(found, declared):
        return None if is_ordinary(arrow) else ordinary
    return lambda column: _by_value(column, stream, name, declared)


def _other_type(stream: Stream, name: str, arrow: pa.DataType) -> SchemaError:
    declared = stream.types.get(name, stream.schema.field(name).type)
    return SchemaError(
        f'column "{name}" of the batch for stream "{stream.name}" has the type {arrow}, but {declared} is declared',
        hint="cast the column, or declare the stream with the type that it has",
    )


def _handed_through(column: Column, stream: Stream, name: str) -> pa.Array:
    """A column without a type in Spark, which joins keep for `SELECT *`."""
    try:
        return column.cast(stream.schema.field(name).type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _other_type(stream, name, column.type) from None


def fits(found: t.DataType, declared: t.DataType) -> bool:
    """Whether every value of a type is a value of the declared one: the same type, or a widening without loss.

    >>> fits(t.INT, t.LONG), fits(t.INT, t.DOUBLE), fits(t.LONG, t.DOUBLE), fits(t.DATE, t.TIMESTAMP)
    (True, True, False, False)
    """
    if found in (declared, t.VOID):
        return True
    if t.is_integral(found):
        if isinstance(declared, t.DecimalType):
            return declared.precision - declared.scale >= DECIMAL_OF[found].precision
        exact = {t.FLOAT: t.SHORT, t.DOUBLE: t.INT}.get(declared, declared)  # widest integers that these hold
        return exact in t.INTEGRAL and t.INTEGRAL.index(found) <= t.INTEGRAL.index(exact)
    if isinstance(found, t.DecimalType) and isinstance(declared, t.DecimalType):
        return wider_decimal(found, declared) == declared
    return _parts_agree(found, declared, fits) or (found == t.FLOAT and declared == t.DOUBLE)


def _may_fit(found: t.DataType, declared: t.DataType) -> bool:
    """Whether the type may be none of the data's but one that a library chose, so that it is for the values to say.

    pandas makes floats of integers as soon as one is missing, polars makes all decimals as wide as they get.

    >>> _may_fit(t.DOUBLE, t.LONG), _may_fit(t.DOUBLE, t.DecimalType(10, 2)), _may_fit(t.STRING, t.LONG)
    (True, False, False)
    """
    return (
        fits(found, declared)
        or (t.is_fractional(found) and t.is_integral(declared))
        or (isinstance(found, t.DecimalType) and isinstance(declared, t.DecimalType))
        or _parts_agree(found, declared, _may_fit)
    )


def _parts_agree(
    found: t.DataType, declared: t.DataType, agree: Callable[[t.DataType, t.DataType], bool]
) -> bool:
    """Whether two nested types are built alike, of parts that agree."""
    match found, declared:
        case t.ArrayType(), t.ArrayType():
            return agree(found.element, declared.element)
        case t.MapType(), t.MapType():
            return agree(found.key, declared.key) and agree(found.value, declared.value)
        case t.StructType(), t.StructType():
            names = [name for name, _ in found.fields] == [name for name, _ in declared.fields]
            return names and all(
                agree(a, b) for (_, a), (_, b) in zip(found.fields, declared.fields, strict=True)
            )
    return False


class _UnfitColumnValue(Exception):
    """A value that is none of the declared type."""


def _by_value(column: Column, stream: Stream, name: str, declared: t.DataType) -> pa.Array:
    try:
        return _fitted(ordinary(column), declared)
    except _UnfitColumnValue as error:
        raise SchemaError(
            f'column "{name}" of the batch for stream "{stream.name}" has the type {column.type} and the value '
            f"{error}, which is no {declared}",
            hint="cast the column, or declare the stream with the type that it has",
        ) from None


def _fitted(array: pa.Array, declared: t.DataType) -> pa.Array:
    """The values in the canonical type of the declared one, if each of them is a value of it."""
    found = spark_type(array.type)
    assert found is not None, "a column without a type in Spark is refused before"
    if found == t.VOID:
        return nulls(len(array), declared)
    if isinstance(declared, t.ArrayType | t.MapType | t.StructType):
        return with_parts(array, declared, _fitted)
    if fits(found, declared):
        return read(array, declared).values
    plain = read(array, found).values
    exact = _EXACT.get(array.type.value_type if pa.types.is_dictionary(array.type) else array.type)
    if exact is not None:
        _refuse(plain, pc.greater(pc.abs(plain), pa.scalar(exact, plain.type)))
    try:
        return pc.cast(plain, arrow_type(declared))
    except pa.ArrowInvalid:
        _refuse(plain, _unfit(plain, arrow_type(declared)))
        raise


def _refuse(array: pa.Array, wrong: pa.Array) -> None:
    """Name the first value that is wrong, if one is."""
    first = pc.index(wrong, True).as_py()
    if first >= 0:
        raise _UnfitColumnValue(array[first].as_py())


def _unfit(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Which values have no form in a type; one by one, since Arrow does not say which it was."""

    def is_unfit(place: int) -> bool:
        try:
            array.slice(place, 1).cast(target)
        except pa.ArrowInvalid:
            return True
        return False

    return pa.array([is_unfit(place) for place in range(len(array))], pa.bool_())
