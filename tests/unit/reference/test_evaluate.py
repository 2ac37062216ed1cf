"""How values, NULL and failures travel through an expression."""

from __future__ import annotations

import pytest

from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal, Parameter
from eddyline.reference import evaluate

A, B = Column("a", t.INT), Column("b", t.BOOLEAN)
TRUE, FALSE, NULL = (Literal(value, t.BOOLEAN) for value in (True, False, None))
ONE, ZERO = Literal(1, t.INT), Literal(0, t.INT)
FAILS = Call("eq", (Call("mod", (ONE, ZERO), t.INT), ONE), t.BOOLEAN)  # the remainder fails, so this is NULL


def call(function: str, *arguments: Expression, kind: t.DataType = t.BOOLEAN) -> Call:
    return Call(function, arguments, kind)


def failed(expression: Expression) -> tuple[object, list[str]]:
    """The value, and the operations that failed, in order."""
    seen: list[Expression] = []
    value = evaluate(expression, {}, on_failure=seen.append)
    return value, [each.function for each in seen if isinstance(each, Call)]


def test_columns_literals_and_parameters() -> None:
    row = {"a": 7, "b": None}
    assert evaluate(A, row) == 7
    assert evaluate(B, row) is None
    assert evaluate(Literal("x", t.STRING), row) == "x"
    assert evaluate(Parameter(3, t.INT, 0), row) == 3


def test_the_innermost_failing_operation_yields_null() -> None:
    doubled = call("add", call("mod", ONE, ZERO, kind=t.INT), ONE, kind=t.INT)
    assert failed(doubled) == (None, ["mod"])
    assert failed(call("coalesce", doubled, ONE, kind=t.INT)) == (1, ["mod"])
    assert failed(call("is_null", doubled)) == (True, ["mod"])


def test_try_cast_fails_without_being_counted() -> None:
    text = Literal("x", t.STRING)
    assert failed(call("cast", text, kind=t.INT)) == (None, ["cast"])
    assert failed(call("try_cast", text, kind=t.INT)) == (None, [])


def test_only_the_failing_parts_of_a_nested_value_become_null() -> None:
    words = Literal(["1", "x", None], t.ArrayType(t.STRING))
    assert failed(call("cast", words, kind=t.ArrayType(t.INT))) == ([1, None, None], ["cast"])
    pair = Literal(("1", "x"), t.StructType((("p", t.STRING), ("q", t.STRING))))
    numbers = t.StructType((("p", t.INT), ("q", t.INT)))
    assert failed(call("cast", pair, kind=numbers)) == ((1, None), ["cast"])


def test_a_map_whose_key_fails_is_null() -> None:
    words = Literal([("x", 1)], t.MapType(t.STRING, t.INT))
    assert failed(call("cast", words, kind=t.MapType(t.INT, t.INT))) == (None, ["cast"])


@pytest.mark.parametrize(
    "expression",
    [
        call("and", FALSE, FAILS),
        call("or", TRUE, FAILS),
        call("if", TRUE, TRUE, FAILS),
        call("if", NULL, FAILS, TRUE),
        call("case", FALSE, FAILS, TRUE, TRUE, FAILS),
        call("coalesce", TRUE, FAILS),
        call("in", ONE, ONE, call("mod", ONE, ZERO, kind=t.INT)),
    ],
    ids=lambda expression: expression.function,
)
def test_what_is_not_looked_at_does_not_fail(expression: Expression) -> None:
    assert failed(expression)[1] == []


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (call("and", NULL, FALSE), False),
        (call("and", NULL, TRUE), None),
        (call("or", NULL, TRUE), True),
        (call("or", NULL, FALSE), None),
        (call("not", NULL), None),
        (call("in", ONE, ZERO, Literal(None, t.INT)), None),
        (call("in", ONE, Literal(None, t.INT), ONE), True),
        (call("null_safe_eq", NULL, NULL), True),
        (call("null_safe_eq", NULL, TRUE), False),
        (call("case", NULL, TRUE), None),
        (call("isnan", Literal(None, t.DOUBLE)), False),
        (call("greatest", Literal(None, t.INT), ONE, ZERO, kind=t.INT), 1),
        (call("least", Literal(None, t.INT), kind=t.INT), None),
    ],
    ids=repr,
)
def test_null(expression: Expression, value: object) -> None:
    assert evaluate(expression, {}) is value


def test_the_session_time_zone_counts() -> None:
    epoch = Literal(0, t.TIMESTAMP)
    assert evaluate(call("hour", epoch, kind=t.INT), {}, time_zone="America/New_York") == 19
    assert (
        evaluate(call("hour", Literal(0, t.TIMESTAMP_NTZ), kind=t.INT), {}, time_zone="America/New_York") == 0
    )


def test_a_time_without_a_date_is_one_of_today() -> None:
    now = evaluate(call("cast", Literal("10:11:12", t.STRING), kind=t.TIMESTAMP), {})
    assert isinstance(now, int)
    assert now % 86_400_000_000 == (10 * 3600 + 11 * 60 + 12) * 1_000_000
    assert now > 1_577_836_800_000_000
