"""Types, values and expressions as plain JSON values, for files that outlive a process."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal


def encode_type(kind: t.DataType) -> Any:
    """A type as JSON.

    >>> encode_type(t.MapType(t.STRING, t.DecimalType(10, 2)))
    ['map', 'string', ['decimal', 10, 2]]
    """
    if isinstance(kind, t.DecimalType):
        return ["decimal", kind.precision, kind.scale]
    if isinstance(kind, t.ArrayType):
        return ["array", encode_type(kind.element)]
    if isinstance(kind, t.MapType):
        return ["map", encode_type(kind.key), encode_type(kind.value)]
    if isinstance(kind, t.StructType):
        return ["struct", [[name, encode_type(field)] for name, field in kind.fields]]
    return kind.name


def decode_type(data: Any) -> t.DataType:
    """The type that `encode_type` wrote."""
    if isinstance(data, str):
        return t.DataType(data)
    name, *rest = data
    if name == "decimal":
        return t.DecimalType(*rest)
    if name == "array":
        return t.ArrayType(decode_type(rest[0]))
    if name == "map":
        return t.MapType(decode_type(rest[0]), decode_type(rest[1]))
    return t.StructType(tuple([(field, decode_type(kind)) for field, kind in rest[0]]))


def encode_value(value: Any) -> Any:
    """A constant as JSON; what JSON has no form for is tagged."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [encode_value(item) for item in value]}
    return value


def decode_value(data: Any) -> Any:
    """The constant that `encode_value` wrote.

    >>> decode_value(encode_value([1, b"x", None, -0.0]))
    [1, b'x', None, -0.0]
    """
    if not isinstance(data, dict):
        return data
    ((tag, inner),) = data.items()
    if tag == "bytes":
        return bytes.fromhex(inner)
    if tag == "decimal":
        return Decimal(inner)
    if tag == "float":
        return float.fromhex(inner)
    items = [decode_value(item) for item in inner]
    return items if tag == "list" else tuple(items)


def encode_expression(expression: Expression) -> Any:
    """An expression without parameters as JSON.

    >>> column = Column("a", t.INT)
    >>> decode_expression(encode_expression(column)) == column
    True
    """
    if isinstance(expression, Column):
        return {"column": expression.name, "type": encode_type(expression.type)}
    if isinstance(expression, Literal):
        return {"value": encode_value(expression.value), "type": encode_type(expression.type)}
    assert isinstance(expression, Call), "an expression is a column, a constant or a call"
    arguments = [encode_expression(argument) for argument in expression.arguments]
    return {"call": expression.function, "arguments": arguments, "type": encode_type(expression.type)}


def decode_expression(data: Any) -> Expression:
    """The expression that `encode_expression` wrote."""
    kind = decode_type(data["type"])
    if "column" in data:
        return Column(data["column"], kind)
    if "value" in data:
        return Literal(decode_value(data["value"]), kind)
    return Call(data["call"], tuple([decode_expression(argument) for argument in data["arguments"]]), kind)
