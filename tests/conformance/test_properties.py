"""Any queries on any rows: all configurations find the reference's matches; a failure is made as small as it gets."""

from __future__ import annotations

import random
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline import reference
from eddyline.queryset import QuerySet
from eddyline.testing.queries import draw_statement
from eddyline.testing.rows import EVERYTHING, benign_rows, nasty_rows
from eddyline.testing.shrink import shrink
from eddyline.testing.text import statement_text
from eddyline.testing.tree import Statement
from tests.comparisons import compared
from tests.conformance.matrix import CONFIGURATIONS, binds, built

SEEDS = st.integers(0, 10**9)


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    """A random statement; hypothesis looks for a failing one of fewer nodes."""
    size = draw(st.integers(2, 16))
    return draw_statement(random.Random(draw(SEEDS)), size=size)


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    make = draw(st.sampled_from([benign_rows, nasty_rows]))
    return make(draw(SEEDS), draw(st.sampled_from([1, 5, 40, 70])))


def disagreeing(queryset: QuerySet, texts: dict[str, str], batch: pa.RecordBatch) -> list[str]:
    """Ids of the queries whose matches are not the reference's."""
    compared("reference: matches", len(texts))
    expected, found = reference.match(texts, batch, streams=[EVERYTHING]), queryset.match(batch)
    return [id for id in texts if found.rows(id).tolist() != expected.rows(id).tolist()]


def smallest(statement: Statement, batch: pa.RecordBatch, build: Callable[[str], QuerySet]) -> str:
    """A short query and few rows that fail as the given ones do; those given if they fail only among others."""

    def fails(candidate: Statement, rows: pa.RecordBatch) -> bool:
        text = statement_text(candidate)
        return binds(text) and bool(disagreeing(build(text), {"q": text}, rows))

    if fails(statement, batch):
        statement, batch = shrink(statement, batch, fails)
    return f"{statement_text(statement)}\non {batch.to_pylist()}"


@pytest.mark.slow
@settings(max_examples=12)
@given(st.lists(statements(), min_size=1, max_size=12), batches())
def test_all_configurations_agree(drawn: list[Statement], batch: pa.RecordBatch) -> None:
    check_all(drawn, batch)


@pytest.mark.long
@settings(max_examples=40)
@given(st.lists(statements(), min_size=1, max_size=12), batches())
def test_all_configurations_agree_at_length(drawn: list[Statement], batch: pa.RecordBatch) -> None:
    check_all(drawn, batch)


def check_all(drawn: list[Statement], batch: pa.RecordBatch) -> None:
    by_id = {str(i): one for i, one in enumerate(drawn) if binds(statement_text(one))}
    texts = {id: statement_text(one) for id, one in by_id.items()}
    for configuration in CONFIGURATIONS:
        wrong = disagreeing(built(texts, configuration), texts, batch)
        if wrong:
            found = smallest(by_id[wrong[0]], batch, lambda text, c=configuration: built({"q": text}, c))
            raise AssertionError(f"{configuration}: {found}")


def test_a_failure_becomes_small() -> None:
    """A matcher that finds nothing is caught by a query of a few words and one row."""
    batch = benign_rows(5, 40)
    long = next(
        drawn
        for drawn in (draw_statement(random.Random(seed), size=16) for seed in range(100))
        if drawn.size > 12 and disagreeing(_blind(""), {"q": statement_text(drawn)}, batch)
    )
    text, _, rows = smallest(long, batch, _blind).partition("\non ")
    assert len(text) < 60 < len(statement_text(long))
    assert rows.count("'i32'") == 1


def _blind(_: str) -> QuerySet:
    return built({"q": "SELECT * FROM everything WHERE FALSE"}, "auto")
