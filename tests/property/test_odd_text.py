"""Text with bytes that are not valid UTF-8: matches, values and deliveries are those of the reference, and nothing raises."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eddyline as ed
from eddyline import reference
from eddyline.functions.evaluate import Evaluation, values_of
from eddyline.model.query import Query
from eddyline.sql import bind
from tests.odd_text import BYTES, CONDITIONS, EXPRESSIONS, ODD, odd_batch

TEXT = st.none() | st.lists(st.sampled_from(BYTES), max_size=4).map(b"".join)
ROWS = st.lists(st.tuples(TEXT, TEXT, st.none() | st.integers(-3, 3)), max_size=12)
QUERIES = {condition: f"SELECT * FROM odd WHERE {condition}" for condition in CONDITIONS}
PARTS = ("a", "b", "ä", "€", "🙂", "ab", "äa")
LITERALS = {
    condition: f"SELECT * FROM odd WHERE {condition}"
    for part in PARTS
    for condition in (
        f"s LIKE '{part}%'",
        f"s LIKE '%{part}'",
        f"contains(s, '{part}')",
        f"s LIKE '%a%{part}%'",
    )
}
ALONE = ed.QuerySet.build(LITERALS, streams=[ODD])
TOGETHER = ed.QuerySet.build(QUERIES, streams=[ODD])


@given(ROWS)
@settings(max_examples=30)
def test_matches(rows: list[tuple[bytes | None, bytes | None, int | None]]) -> None:
    batch = odd_batch(rows)
    expected = reference.match(QUERIES, batch, streams=[ODD])
    found = TOGETHER.match(batch)
    for condition in CONDITIONS:
        assert found.rows(condition).tolist() == expected.rows(condition).tolist(), condition


@pytest.mark.parametrize("expression", EXPRESSIONS)
@given(rows=ROWS)
@settings(max_examples=10)
def test_values(expression: str, rows: list[tuple[bytes | None, bytes | None, int | None]]) -> None:
    batch = odd_batch(rows)
    bound = (
        bind(Query("q", f"SELECT {expression} AS o FROM odd"), [ODD], time_zone="UTC").outputs[0].expression
    )
    mine = values_of(Evaluation(batch).values(bound), bound.type)
    assert mine == [reference.evaluate(bound, row) for row in reference.rows(batch, ODD)]


@given(ROWS)
@settings(max_examples=20)
def test_literals_alone(rows: list[tuple[bytes | None, bytes | None, int | None]]) -> None:
    """Where all patterns on a text are literals, its bytes are searched as they are."""
    batch = odd_batch(rows)
    expected = reference.match(LITERALS, batch, streams=[ODD])
    found = ALONE.match(batch)
    for condition in LITERALS:
        assert found.rows(condition).tolist() == expected.rows(condition).tolist(), condition
