"""Regular expressions that take forever elsewhere: linear ones do not, the others fail after so many steps, and it is counted."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest

import eddyline as ed
from eddyline.errors import QueryError
from eddyline.functions.evaluate.arrays import text_buffers
from eddyline.functions.java_regex import MOST_STEPS, compiled

STREAM = ed.Stream("lines", pa.schema({"line": pa.string()}))


def build(pattern: str, form: str = "RLIKE") -> ed.QuerySet:
    escaped = pattern.replace("\\", "\\\\")
    return ed.QuerySet.build({"q": f"SELECT * FROM lines WHERE line {form} '{escaped}'"}, streams=[STREAM])


def lines(*texts: str | None) -> pa.RecordBatch:
    return pa.record_batch({"line": pa.array(texts, pa.string())})


COSTLY = [
    ("(a+)+$", "a" * 100_000 + "!"),
    ("^(a|aa)+$", "a" * 100_000 + "!"),
    ("^(.*a){20}$", "a" * 20_000 + "!"),
    ("\\s+$", " " * 50_000 + "x"),
    ("(x+x+)+y", "x" * 50_000),
    ("[ab]*a[ab]{200}c", "ab" * 20_000),
    (".*.*.*.*=", "a" * 50_000),
    ("(?:a?){500}a{500}b", "a" * 2_000),
    ("(a{1000}){1000}", "a" * 2_000),
    ("((a{100}){100}){100}", "a" * 2_000),
    ("^(a+)+\\1$", "a" * 40 + "!"),
    ("^(?=(a+)+$)", "a" * 40 + "!"),
    ("(?<=ab)(a+)+$", "ab" + "a" * 40 + "!"),
    ("(?:(?:a*)*)*b", "a" * 30_000),
    ("(a*)\\1b", "a" * 200_000),
    ("(?:|)" * 40 + "(?<=ab)", "a"),
    ("(?:|)" * 40 + "(?!(?=))ab", "a"),
    ("(?!ab)" + "(?:a|a?)+" * 5 + "c", "a" * 5_000),
]


@pytest.mark.parametrize(("pattern", "text"), COSTLY, ids=[pattern for pattern, _ in COSTLY])
def test_an_answer_comes_soon(pattern: str, text: str) -> None:
    queries = build(pattern)
    queries.match(lines("ab", "b"))  # kernels are compiled once a machine
    started = time.process_time()
    assert queries.match(lines(text)).counts() == {"q": 0}
    assert time.process_time() - started < 5


def test_beyond_the_budget_nothing_is_true_and_the_failure_is_counted() -> None:
    evil = "a" * 40 + "!"
    engine = ed.Engine(streams=[STREAM])
    for id, form in (("like", "RLIKE"), ("unlike", "NOT RLIKE")):
        engine.add(id, f"SELECT * FROM lines WHERE line {form} '^(a+)+\\\\1$'")
    deliveries = engine.push("lines", lines("aa", evil, None, "b"))
    assert deliveries.of("like").column("line").to_pylist() == ["aa"]
    assert deliveries.of("unlike").column("line").to_pylist() == ["b"]
    assert [engine.ledger.of(id).failures for id in ("like", "unlike")] == [1, 1]


def test_the_same_steps_whatever_stands_beside() -> None:
    search = compiled("^(a+)+\\1$")
    texts = pa.array(["aa", "a" * 40 + "!", "aaaa"])
    for rows in ([0, 1, 2], [1], [2, 1]):
        found = search.search(*text_buffers(texts), pa.array(rows).to_numpy())
        assert found.hits.tolist() == [row != 1 for row in rows]
        assert found.failed is not None and found.failed.tolist() == [row == 1 for row in rows]
    assert MOST_STEPS == 1_000_000, "docs/semantics.md says so"


@pytest.mark.parametrize("pattern", ["(" * 400 + "a" + ")" * 400, "[" * 5_000 + "a" + "]" * 5_000])
def test_nesting_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(QueryError, match="nested more than 100 levels deep"):
        build(pattern)


def test_endless_patterns_are_refused_by_name() -> None:
    with pytest.raises(QueryError, match="more than 50,000 characters"):
        build("a" * 50_001)
