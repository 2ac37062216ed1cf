"""The generators are seeded, and give what their heads say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from bench.workloads import alerts, boolean, equality, paper, patterns, selective
from bench.workloads.predicates import All, Any, Compare, Like, Not, Predicate, sql
from bench.workloads.workload import Workload
from eddyline import Compiler, Query

MAKE: dict[str, Callable[[], Workload]] = {
    "paper": lambda: paper.workload(50),
    "paper nulls": lambda: paper.workload(50, nulls=0.05),
    "alerts": lambda: alerts.workload(50),
    "alerts or": lambda: alerts.workload(50, shape="or"),
    "alerts wide": lambda: alerts.workload(50, columns=30),
    "boolean": lambda: boolean.workload(50),
    "boolean selective": lambda: boolean.workload(50, selective=True),
    "patterns": lambda: patterns.workload(50),
    "selective": lambda: selective.workload(50),
    "selective drifting": lambda: selective.workload(50, phase=1),
    "equality": lambda: equality.workload(50),
    "equality dictionary": lambda: equality.workload(50, dictionary=True),
}


@pytest.mark.parametrize("name", MAKE)
def test_every_workload_is_seeded(name: str) -> None:
    one, two = MAKE[name](), MAKE[name]()
    assert one.name == name
    assert one.texts == two.texts
    assert list(one.texts) == [str(i) for i in range(50)]
    assert one.batch(100).equals(two.batch(100))
    assert one.batch(100).num_rows == 100


@pytest.mark.parametrize("name", MAKE)
def test_every_query_is_accepted_and_every_batch_has_the_schema(name: str) -> None:
    workload = MAKE[name]()
    compiler = Compiler([workload.stream])
    for id, text in workload.texts.items():
        compiler.compile(Query(id, text))
    assert workload.batch(5).schema.names == workload.stream.schema.names
    assert workload.batch(5).schema.types == workload.stream.schema.types


def test_paper_has_no_empty_query_and_its_ranges_say_the_same() -> None:
    workload = paper.workload(200)
    assert all(workload.predicate(i).parts for i in range(200))
    ranges = workload.rules["ranges"].to_pylist()
    text = workload.texts["0"]
    batch = workload.batch(500).to_pylist()
    first = [
        row
        for row in batch
        if all(ranges[0][f"low{a}"] <= row[f"a{a}"] <= ranges[0][f"high{a}"] for a in range(10))
    ]
    assert first == [row for row in batch if _holds(workload.predicate(0), row)], text


def test_paper_nulls_are_about_a_twentieth() -> None:
    batch = paper.workload(1, nulls=0.05).batch(20_000)
    assert batch.schema.types == [pa.int64()] * 10
    assert all(800 < column.null_count < 1_200 for column in batch.columns)


def test_alerts_match_about_one_in_a_thousand_tuples_of_the_symbol() -> None:
    workload = alerts.workload(2_000)
    rules, batch = workload.rules["alerts"], workload.batch(100_000)
    top = rules.filter(pc.equal(rules["symbol"], "AA0"))
    quotes = batch.filter(pc.equal(batch["symbol"], "AA0"))
    price, volume = np.asarray(quotes["price"]), np.asarray(quotes["volume"])
    hits = [
        np.count_nonzero((price > rule["low"]) & (price < rule["high"]) & (volume >= rule["least"]))
        for rule in top.to_pylist()
    ]
    assert 0.0003 < np.mean(hits) / len(price) < 0.003


def test_alternatives_of_an_alert_are_on_different_symbols() -> None:
    rules = alerts.workload(5_000, shape="or").rules["alerts"]
    symbols = np.array(rules["symbol"].to_pylist())
    assert rules["query"].to_pylist()[:4] == [0, 0, 1, 1]
    assert not (symbols[::2] == symbols[1::2]).any()


def test_boolean_trees_are_one_to_six_levels_deep() -> None:
    workload = boolean.workload(600)
    depths = {_depth(workload.predicate(i)) for i in range(600)}
    assert depths == {1, 2, 3, 4, 5, 6}


def test_patterns_have_twelve_likes_a_query() -> None:
    workload = patterns.workload(20)
    assert all(text.count(" LIKE ") == 12 for text in workload.texts.values())


def test_drift_moves_the_band_from_one_attribute_to_the_other() -> None:
    inside = []
    for phase in (0, 1):
        batch = selective.workload(5, phase=phase).batch(1_000)
        inside.append(
            [bool(np.all(np.isin(np.asarray(batch[a]), range(*selective.BAND)))) for a in ("a3", "a7")]
        )
    assert inside == [[True, False], [False, True]]


def test_text_of_nested_predicates_keeps_their_order() -> None:
    tree = Any(
        (
            All((Compare("a", "<", 1), Compare("b", "=", "it's"))),
            Not(Any((Like("c", "x%"), Compare("d", ">", 1.5)))),
        )
    )
    assert sql(tree) == "(a < 1 AND b = 'it''s') OR NOT (c LIKE 'x%' OR d > 1.5)"


def _holds(predicate: All, row: dict[str, int]) -> bool:
    known = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "=": int.__eq__}
    return all(known[part.operator](row[part.column], part.value) for part in predicate.parts)


def _depth(predicate: Predicate) -> int:
    match predicate:
        case All(parts) | Any(parts):
            return 1 + max(_depth(part) for part in parts)
        case Not(part):
            return _depth(part)
    return 1
