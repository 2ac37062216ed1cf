"""Values of expressions without columns, most of them asked of Spark 4.2."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from eddyline.functions.fold import fold
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal, Parameter


def lit(value: object, kind: t.DataType) -> Literal:
    return Literal(value, kind)


def dec(text: str, precision: int, scale: int) -> Literal:
    return Literal(Decimal(text), t.DecimalType(precision, scale))


def cast(argument: Expression, kind: t.DataType) -> Call:
    return Call("cast", (argument,), kind)


@pytest.mark.parametrize(
    ("argument", "kind", "value"),
    [
        (lit(300, t.INT), t.BYTE, None),
        (lit(-128, t.LONG), t.BYTE, -128),
        (lit(2**53 + 1, t.LONG), t.DOUBLE, 2.0**53),
        (lit(16777217, t.INT), t.FLOAT, 16777216.0),
        (lit(7, t.INT), t.DecimalType(3, 1), Decimal("7.0")),
        (lit(100, t.INT), t.DecimalType(3, 1), None),
        (dec("1.25", 3, 2), t.DecimalType(3, 1), Decimal("1.3")),
        (dec("-1.25", 3, 2), t.DecimalType(3, 1), Decimal("-1.3")),
        (dec("-0.04", 3, 2), t.DecimalType(3, 1), Decimal("0.0")),
        (dec("99.95", 4, 2), t.DecimalType(3, 1), None),
        (dec("0.1", 2, 1), t.DOUBLE, 0.1),
        (dec("5.99999999999999999999", 21, 20), t.INT, 6),
        (dec("5.99999999999999999999", 21, 20), t.LONG, 5),
        (lit(2147483647.9, t.DOUBLE), t.INT, 2147483647),
        (lit(2147483648.0, t.DOUBLE), t.INT, None),
        (lit(9.223372036854775807e18, t.DOUBLE), t.LONG, 2**63 - 1),
        (lit(math.nan, t.DOUBLE), t.INT, None),
        (lit(0.10000000149011612, t.FLOAT), t.DecimalType(20, 18), Decimal("0.100000001490116120")),
        (lit(1e7, t.DOUBLE), t.STRING, "1.0E7"),
        (lit("1d", t.STRING), t.DOUBLE, 1.0),
        (lit("+nan", t.STRING), t.DOUBLE, None),
        (lit("5.0", t.STRING), t.INT, None),
        (lit("\x7f1", t.STRING), t.INT, 1),
        (lit("١٢", t.STRING), t.DecimalType(5, 1), Decimal("12.0")),
        (lit("2020-01-01Tabc", t.STRING), t.DATE, 18262),
        (lit("2020-01-01 10:00Z", t.STRING), t.TIMESTAMP, None),
        (lit("2020-01-01 10:11:12.1 +02:00", t.STRING), t.TIMESTAMP, 1577866272100000),
        (lit("2020-01-01 10:11:12.1 +02:00", t.STRING), t.TIMESTAMP_NTZ, 1577873472100000),
        (lit(2**63 - 1, t.LONG), t.TIMESTAMP, 2**63 - 1),
        (dec("99999999999999999999.5", 21, 1), t.TIMESTAMP, -2537764290115903776),
        (lit(-500_000, t.TIMESTAMP), t.LONG, -1),
        (lit(2**63 - 1, t.TIMESTAMP), t.DecimalType(20, 5), Decimal("9223372036854.77581")),
        (lit(12345678901234567, t.TIMESTAMP_NTZ), t.STRING, "2361-03-21 19:15:01.234567"),
        (lit(None, t.INT), t.STRING, None),
    ],
)
def test_casts(argument: Literal, kind: t.DataType, value: object) -> None:
    assert repr(fold(cast(argument, kind)).value) == repr(value)


@pytest.mark.parametrize(
    ("function", "arguments", "kind", "value"),
    [
        ("add", (lit(2**31 - 1, t.INT), lit(1, t.INT)), t.INT, None),
        ("mul", (lit(2**62, t.LONG), lit(-2, t.LONG)), t.LONG, -(2**63)),
        ("mul", (lit(-(2**63), t.LONG), lit(-1, t.LONG)), t.LONG, None),
        ("mod", (lit(-(2**63), t.LONG), lit(-1, t.LONG)), t.LONG, 0),
        ("mod", (lit(-5.5, t.DOUBLE), lit(2.0, t.DOUBLE)), t.DOUBLE, -1.5),
        ("div", (lit(1.0, t.DOUBLE), lit(-0.0, t.DOUBLE)), t.DOUBLE, None),
        ("int_div", (dec("9223372036854775808", 19, 0), dec("1", 1, 0)), t.LONG, -(2**63)),
        ("neg", (dec("12345678901234567890123456789012345678", 38, 0),), t.DecimalType(38, 0), Decimal("-12345678901234567890123456789012350000")),
        ("mod", (dec("98765432109876543210987654321098765432", 38, 0), dec("0.3", 2, 1)), t.DecimalType(2, 1), Decimal("0.2")),
        ("mod", (dec("98765432109876543210987654321098765432", 38, 0), dec("0.03", 2, 2)), t.DecimalType(2, 2), None),
        ("floor", (lit(1e30, t.DOUBLE),), t.LONG, 2**63 - 1),
        ("round", (lit(1.005, t.DOUBLE), lit(2, t.INT)), t.DOUBLE, 1.01),
        ("round", (lit(-0.4, t.DOUBLE), lit(0, t.INT)), t.DOUBLE, 0.0),
        ("round", (lit(2**31 - 1, t.INT), lit(-1, t.INT)), t.INT, None),
        ("round", (lit(2**31 - 1, t.INT), lit(-12, t.INT)), t.INT, 0),
        ("greatest", (lit(-0.0, t.DOUBLE), lit(0.0, t.DOUBLE)), t.DOUBLE, -0.0),
        ("least", (lit(math.nan, t.DOUBLE), lit(math.inf, t.DOUBLE)), t.DOUBLE, math.inf),
        ("substring", (lit("hello", t.STRING), lit(-10, t.INT), lit(7, t.INT)), t.STRING, "he"),
        ("substring", (lit(b"\1\2\3", t.BINARY), lit(-(2**31), t.INT), lit(2, t.INT)), t.BINARY, b"\1\2\3"),
        ("right", (lit("hello", t.STRING), lit(10, t.INT)), t.STRING, "hello"),
        ("lower", (lit("İΑΣ ΑΣΑ Σ", t.STRING),), t.STRING, "i̇ας ασα σ"),
        ("upper", (lit("ŉßǰ", t.STRING),), t.STRING, "ʼNSSJ̌"),
        ("concat", (), t.STRING, ""),
        ("date_add", (lit(18262, t.DATE), lit(2**31 - 1, t.INT)), t.DATE, -2147465387),
        ("subtract_dates", (lit(2**31 - 1, t.DATE), lit(-1, t.DATE)), t.DAY_TIME, None),
        ("and", (), t.BOOLEAN, True),
        ("or", (lit(None, t.BOOLEAN), lit(True, t.BOOLEAN)), t.BOOLEAN, True),
        ("in", (lit(1, t.INT), lit(2, t.INT), lit(None, t.INT)), t.BOOLEAN, None),
        ("eq", (lit([0.0, None], t.ArrayType(t.DOUBLE)), lit([-0.0, None], t.ArrayType(t.DOUBLE))), t.BOOLEAN, True),
        ("get_field", (lit((1, "a"), t.StructType((("x", t.INT), ("x", t.STRING)))), lit("x", t.STRING)), t.INT, 1),
        ("map_value", (lit([("a", 1), ("b", None)], t.MapType(t.STRING, t.INT)), lit("b", t.STRING)), t.INT, None),
    ],
)  # fmt: skip
def test_operations(
    function: str, arguments: tuple[Expression, ...], kind: t.DataType, value: object
) -> None:
    assert repr(fold(Call(function, arguments, kind)).value) == repr(value)


def test_a_parameter_counts_as_its_value_each_time() -> None:
    def text_of(value: int) -> object:
        return fold(cast(Parameter(value, t.INT, 0), t.STRING)).value

    assert [text_of(1), text_of(2)] == ["1", "2"]
    assert not isinstance(fold(Parameter(1, t.INT, 0)), Parameter)


def test_inner_failures_are_null_and_the_rest_goes_on() -> None:
    broken = cast(Literal("x", t.STRING), t.INT)
    assert fold(Call("coalesce", (broken, Literal(7, t.INT)), t.INT)) == Literal(7, t.INT)


def test_the_time_zone_counts() -> None:
    midnight = cast(Literal("2020-07-01", t.STRING), t.TIMESTAMP)
    assert fold(midnight, "Europe/Vienna").value == fold(midnight).value - 7_200_000_000  # type: ignore[operator]
