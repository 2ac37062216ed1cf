"""Casts and arithmetic are taken back exactly: every value of a small type, and the neighbours of every place."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.model.predicate import Condition
from eddyline.normalize import normalize
from eddyline.normalize.domain import Numbered, domain_of
from eddyline.normalize.preimage import first
from eddyline.normalize.rules.unwrap_casts import cast_function
from eddyline.reference import evaluate
from tests.property.normal_forms import NUMBERS, TIMES, bound, draw_value, holds, special_values

TINY = Column("tiny", t.BYTE)


def subjects(expression: Expression) -> list[Expression]:
    predicate = normalize(bound(expression)).predicate
    return [predicate.subject] if isinstance(predicate, Condition) else []


@pytest.mark.parametrize("comparison", ["eq", "lt", "le", "gt", "ge", "null_safe_eq"])
@pytest.mark.parametrize("function", ["add", "sub", "mul", "neg", "abs"])
@pytest.mark.parametrize("reverse", [False, True])
def test_every_tinyint(comparison: str, function: str, reverse: bool) -> None:
    for number in (-128, -3, -1, 0, 1, 2, 100, 127):
        constant = Literal(number, t.BYTE)
        arguments = (
            (TINY,) if function in ("neg", "abs") else (constant, TINY) if reverse else (TINY, constant)
        )
        operand = Call(function, arguments, t.BYTE)
        for limit in (-128, -5, 0, 7, 127):
            predicate = Call(comparison, (operand, Literal(limit, t.BYTE)), t.BOOLEAN)
            normal = normalize(bound(predicate)).predicate
            for value in [None, *range(-128, 128)]:
                row = {"tiny": value}
                assert holds(normal, row, "UTC") == (evaluate(predicate, row) is True), (predicate, value)


@pytest.mark.parametrize("source", [t.BOOLEAN, *NUMBERS, *TIMES], ids=str)
@pytest.mark.parametrize("target", [*NUMBERS, *TIMES, t.DecimalType(4, 0)], ids=str)
def test_casts_agree_with_the_reference_and_never_fall(source: t.DataType, target: t.DataType) -> None:
    function = cast_function(source, target, "UTC") if source != target else None
    if function is None:
        return
    random_ = random.Random(f"{source} {target}")
    inner, outer = domain_of(source), domain_of(target)
    assert isinstance(inner, Numbered)
    assert isinstance(outer, Numbered)
    values = special_values(source) + [draw_value(random_, source) for _ in range(60)]
    places = [inner.ordinal(value) for value in values if value == value]
    ordinals = sorted({min(max(n + d, inner.low), inner.high) for n in places for d in (-1, 0, 1)})
    images = [function.forward(n) for n in ordinals]
    assert images == sorted(images)  # type: ignore[type-var]
    cast = Call("cast", (Column("v", source),), target)
    for ordinal, image in zip(ordinals, images, strict=True):
        assert isinstance(image, int)
        expected = evaluate(cast, {"v": inner.value(ordinal)})
        assert (outer.value(image) if outer.low <= image <= outer.high else None) == expected


@pytest.mark.parametrize(
    "subject",
    [
        Call("cast", (Column("x", t.DOUBLE),), t.DecimalType(10, 2)),
        Call("cast", (Column("name", t.STRING),), t.INT),
        Call("cast", (Column("a", t.INT),), t.BOOLEAN),
        Call("add", (Column("a", t.INT), Column("a", t.INT)), t.INT),
        Call("mod", (Column("a", t.INT), Literal(3, t.INT)), t.INT),
        Call("mul", (Column("huge", t.DecimalType(38, 10)), Literal(Decimal("1.5"), t.DecimalType(2, 1))), t.DecimalType(38, 9)),
    ],
    ids=str,
)  # fmt: skip
def test_left_alone(subject: Call) -> None:
    constant = {t.BOOLEAN: True, t.INT: 1}.get(subject.type, Decimal(1))
    predicate = Call("eq", (subject, Literal(constant, subject.type)), t.BOOLEAN)
    assert subjects(predicate) == [subject]


def test_wall_clocks_follow_instants_only_under_a_fixed_offset() -> None:
    assert cast_function(t.TIMESTAMP_NTZ, t.TIMESTAMP, "+02:00") is not None
    assert cast_function(t.TIMESTAMP_NTZ, t.TIMESTAMP, "Europe/Berlin") is None
    assert cast_function(t.TIMESTAMP, t.DATE, "America/St_Johns") is None
    assert cast_function(t.DATE, t.TIMESTAMP, "America/St_Johns") is not None


@pytest.mark.parametrize("guess", [-5, 0, 3, 49, 50, 51, 99, 1000])
@pytest.mark.parametrize("place", [0, 1, 50, 99, 100])
def test_first_finds_the_place_from_any_guess(guess: int, place: int) -> None:
    assert first(lambda n: n >= place, 0, 99, guess) == place


def test_a_good_guess_is_cheap_and_a_bad_one_logarithmic() -> None:
    asked: list[int] = []

    def test(n: int) -> bool:
        asked.append(n)
        return n >= 10**15

    assert first(test, -(2**63), 2**63, 10**15) == 10**15
    assert len(asked) <= 3
    asked.clear()
    assert first(test, -(2**63), 2**63, -(2**63)) == 10**15
    assert len(asked) <= 130
