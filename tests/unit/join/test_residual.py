"""Residuals that differ in constants are evaluated together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from eddyline.join.residual import Shapes, evaluate_shape
from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.model.roles import Residual

PRICE, LIMIT = Column("q.price", t.DOUBLE), Column("t.price", t.DOUBLE)


def residual(factor: float, aliases: tuple[str, str] = ("q", "t")) -> Residual:
    product = Call("mul", (PRICE, Literal(factor, t.DOUBLE)), t.DOUBLE)
    return Residual(Call("gt", (LIMIT, product), t.BOOLEAN), aliases)


def test_constants_become_columns() -> None:
    residuals = [residual(1.5), residual(2.0), residual(1.5, ("q", "u"))]
    shapes = Shapes()
    numbers, members = shapes.places(residuals, np.array([1, 0, 2, 1]))
    assert numbers.tolist() == [0, 0, 1, 0]
    assert members.tolist() == [1, 0, 0, 1]
    shape = shapes[0]
    assert shape.names(0) == shape.names(1) == ["price"]
    columns = [{"price": pa.array([1.0, 1.0, None])}, {"price": pa.array([1.7, 1.7, 9.0])}]
    verdict = evaluate_shape(shape, np.array([0, 1, 0]), columns, "UTC")
    assert shape.constants == [(1.5,), (2.0,)]
    assert verdict.holds.tolist() == [True, False, False]
    assert verdict.failed.tolist() == [0, 0, 0]


def test_later_residuals_join_a_shape() -> None:
    residuals, shapes = [residual(1.0)], Shapes()
    columns = [{"price": pa.array([1.0])}, {"price": pa.array([1.5])}]
    shapes.places(residuals, np.array([0]))
    evaluate_shape(shapes[0], np.array([0]), columns, "UTC")
    residuals.append(residual(2.0))
    numbers, members = shapes.places(residuals, np.array([1]))
    assert numbers.tolist() == [0]
    assert evaluate_shape(shapes[0], members, columns, "UTC").holds.tolist() == [False]


def test_other_constants_stay_where_they_are() -> None:
    text = Call(
        "like", (Column("q.s", t.STRING), Literal("a%", t.STRING), Literal("\\", t.STRING)), t.BOOLEAN
    )
    same = Call("eq", (Column("t.s", t.STRING), Literal("b", t.STRING)), t.BOOLEAN)
    both: Expression = Call("or", (text, same), t.BOOLEAN)
    shapes = Shapes()
    shapes.places([Residual(both, ("q", "t"))], np.array([0]))
    assert [column.type for column in shapes[0].kinds] == [t.STRING]
    columns = [{"s": pa.array(["abc", "x", None])}, {"s": pa.array(["z", "b", "z"])}]
    found = evaluate_shape(shapes[0], np.zeros(3, np.int64), columns, "UTC")
    assert found.holds.tolist() == [True, True, False]


def test_failures_are_counted_for_each_pair() -> None:
    quotient = Call("div", (PRICE, LIMIT), t.DOUBLE)
    wanted = Residual(Call("gt", (quotient, Literal(1.0, t.DOUBLE)), t.BOOLEAN), ("q", "t"))
    shapes = Shapes()
    shapes.places([wanted], np.array([0]))
    columns = [{"price": pa.array([4.0, 4.0])}, {"price": pa.array([0.0, 2.0])}]
    verdict = evaluate_shape(shapes[0], np.zeros(2, np.int64), columns, "UTC")
    assert verdict.holds.tolist() == [False, True]
    assert verdict.failed.tolist() == [1, 0]
