"""The vectorised evaluator gives what the reference gives, value by value and failure by failure."""

from __future__ import annotations

import math
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline import reference
from eddyline.errors import QueryError
from eddyline.functions.casts import allowed
from eddyline.functions.evaluate import Evaluation, Failures, values_of
from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal, walk
from eddyline.model.query import Query
from eddyline.sql import bind
from eddyline.testing.rows import EVERYTHING, nasty_rows
from eddyline.testing.strategies import statements
from eddyline.testing.text import statement_text
from eddyline.testing.tree import Statement

ZONES = ("UTC", "Europe/Vienna", "America/Sao_Paulo", "Australia/Lord_Howe", "+05:30")


def subjects_of(statement: Statement, zone: str) -> list[Expression]:
    """The condition and outputs of a statement and everything below them; nothing if it is not accepted."""
    try:
        bound = bind(Query("q", statement_text(statement)), [EVERYTHING], time_zone=zone)
    except QueryError:
        return []
    roots = [bound.predicate, *(output.expression for output in bound.outputs)]
    return list(dict.fromkeys(part for root in roots for part in walk(root) if not isinstance(part, Literal)))


def same(mine: object, theirs: object) -> bool:
    """Equality that tells -0.0 from 0.0 and takes NaN as itself."""
    if isinstance(mine, float) and isinstance(theirs, float):
        return (math.isnan(mine) and math.isnan(theirs)) or repr(mine) == repr(theirs)
    if isinstance(mine, list | tuple) and isinstance(theirs, list | tuple):
        return len(mine) == len(theirs) and all(map(same, mine, theirs))
    return type(mine) is type(theirs) and mine == theirs


def check(subjects: list[Expression], batch: pa.RecordBatch, zone: str) -> None:
    rows = list(reference.rows(batch, EVERYTHING))
    failures = Failures()
    evaluation = Evaluation(batch, time_zone=zone, failures=failures)
    for subject in subjects:
        expected_failures: Counter[Expression] = Counter()
        mine = values_of(evaluation.values(subject), subject.type)
        for i, row in enumerate(rows):
            missed: list[Expression] = []
            theirs = reference.evaluate(subject, row, time_zone=zone, on_failure=missed.append)
            assert same(mine[i], theirs), f"row {i}, {subject}: {mine[i]!r}, the reference says {theirs!r}"
            expected_failures.update(set(missed))
        assert failures.operations(subject) == expected_failures, f"failures of {subject}"


TARGETS = (
    *t.ATOMIC,
    *(t.DecimalType(*digits) for digits in ((1, 0), (3, 1), (10, 2), (18, 18), (20, 5), (38, 0), (38, 38))),
    *(t.ArrayType(t.LONG), t.ArrayType(t.STRING), t.ArrayType(t.DATE), t.MapType(t.STRING, t.BYTE)),
)


@pytest.mark.parametrize("zone", ZONES[:2])
def test_every_cast(zone: str) -> None:
    casts: list[Expression] = [
        Call("cast", (Column(name, kind),), target)
        for name, kind in EVERYTHING.types.items()
        for target in TARGETS
        if allowed(kind, target)
    ]
    check(casts, nasty_rows(7, 30), zone)


@given(statements(), st.integers(0, 50), st.sampled_from(ZONES))
@settings(max_examples=300)
def test_any_statement(statement: Statement, seed: int, zone: str) -> None:
    check(subjects_of(statement, zone), nasty_rows(seed, 12), zone)


@pytest.mark.parametrize("length", [0, 1])
@given(statement=statements(size=8))
@settings(max_examples=40)
def test_short_batches(statement: Statement, length: int) -> None:
    check(subjects_of(statement, "UTC"), nasty_rows(3, 4).slice(2, length), "UTC")


@given(statements(size=8), st.integers(0, 7), st.integers(0, 5))
@settings(max_examples=60)
def test_slices(statement: Statement, start: int, length: int) -> None:
    check(subjects_of(statement, "UTC"), nasty_rows(4, 12).slice(start, length), "UTC")
