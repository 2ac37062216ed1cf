"""Pairs about which a judge and the prover once disagreed, or might: what `python -m tests.fuzz --judge relations` prints."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pyarrow as pa
import pytest

from eddyline import Budget, QuerySet, Stream, implies, never_true
from tests.relations.agreement import answer_to, columns_alone, verdict_of
from tests.relations.conditions import WIDE, side_of
from tests.relations.tiny import STREAMS


@dataclass(frozen=True)
class Case:
    """Two conditions over a stream of tests/relations, and whether the one implies the other."""

    stream: str
    one: str
    other: str
    implied: bool


CASES = [
    Case("wide", "s > 'a' AND s < 'a\\0\\0'", "s = 'a\\0'", implied=True),
    Case("wide", "x > double('inf')", "isnan(x)", implied=True),
    Case("wide", "x < 4.9E-324D", "x <= -0D", implied=True),
    Case("wide", "a <= 2147483647", "a IS NOT NULL", implied=True),
    Case("wide", "a + 1 > a", "a < 2147483647", implied=True),
    Case("wide", "k < l AND k > 9223372036854775806", "false", implied=True),
    Case("columns", "NOT (a <=> 1)", "a <> 1", implied=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.one} implies {case.other}")
def test_regression(case: Case) -> None:
    stream = WIDE if case.stream == "wide" else STREAMS[case.stream].stream
    one, other = side_of(stream, case.one), side_of(stream, case.other)
    verdict = verdict_of(answer_to(stream, one, other))
    assert verdict is case.implied or (verdict is None and not columns_alone(one, other))


NUMBERS = Stream(
    "q",
    pa.schema(
        {
            "f": pa.float32(),
            "d": pa.float64(),
            "m": pa.decimal128(5, 2),
            "n": pa.decimal128(38, 10),
            "i": pa.int32(),
            "l": pa.int64(),
            "o": pa.bool_(),
            "ts": pa.timestamp("us", "UTC"),
            "day": pa.date32(),
        }
    ),
)


@pytest.mark.parametrize(
    "condition",
    [
        "n + 1 > 9223372036854775807",
        "coalesce(n, 0) > 12345678901234567890",
        "coalesce(CAST(m AS DOUBLE), d) > 1e27D",
        "CAST(i AS DOUBLE) * d > 1e308D",
        "d + f > 1e39D",
        "if(o, f, d) = 1e39D",
        "n * 9223372036854775807 < 5",
        "round(n) = 12345678901234567890",
        "n + l < 99999999999999999999999999999999999999",
        "hour(ts) > 9223372036854775807",
        "year(day) > 99999999999999999999",
        "date_add(day, 2147483647) > DATE'9999-12-31'",
    ],
)
def test_large_constants_are_constants_like_others(condition: str) -> None:
    """Rows that are guessed from them must not be beyond their types."""
    text = f"SELECT * FROM q WHERE {condition}"
    assert never_true(text, streams=NUMBERS).verdict in ("never true", "not never true", "unknown")
    queries = {"large": text, "both": f"{text} AND l > 3", "other": "SELECT * FROM q WHERE n + l < 7"}
    found = QuerySet.build(queries, streams=[NUMBERS]).redundancies()
    rows = {(row["query"], row["relation"]) for row in found.table.to_pylist()}
    assert ("both", "implied") in rows or ("large", "never true") in rows


def test_patterns_that_include_none_of_the_others_keep_the_budget() -> None:
    stream = Stream("q", pa.schema({"s": pa.string()}))
    one = " AND ".join(f"s LIKE '%a{'_' * (20 + n)}b%c%d'" for n in range(20))
    other = " OR ".join(f"s LIKE '%{'_' * n}a{'_' * (20 + n)}b%'" for n in range(20))
    asked = [f"SELECT * FROM q WHERE {condition}" for condition in (one, other)]
    start = time.process_time()
    implies(*asked, streams=stream)
    assert time.process_time() - start < 40 * Budget().seconds, (
        "some ten seconds, if nobody looks at the clock"
    )
