"""Costs: shares sum to totals exactly, bytes are those of the index, what is added costs what nobody has yet."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import eddyline as ed
from eddyline.config import IndexSettings
from eddyline.model.query import Query
from eddyline.queryset.cost.cost import Cost, Costs

QUOTES = ed.Stream(
    "quotes",
    pa.schema(
        {
            "symbol": pa.string(),
            "price": pa.float64(),
            "volume": pa.int64(),
            "size": pa.int32(),
            "title": pa.string(),
        }
    ),
)
PLAIN = IndexSettings(direct="never", rowwise_bytes=0)
SETS = {
    "masks": [f"price < {k} AND size < {j}" for k in range(20) for j in range(7)],
    "direct": [f"price < {k} AND size = {k}" for k in range(50)],
    "trees": [f"price < {k} OR (size < {j} AND volume = 3)" for k in range(9) for j in range(9)] * 2,
    "keyed": [f"symbol = 'S{k % 500}' AND price > {k % 90}" for k in range(900)],
    "two keys": [f"symbol = 'S{k % 40}' AND volume = {k % 37} AND price > {k % 9}" for k in range(900)],
    "patterns": [f"title LIKE '%ab{k}c%'" for k in range(9)]
    + ["NOT title LIKE '%ab1c%'", "title RLIKE '[0-9]z'", "title RLIKE 'abcd[0-9]'", "title LIKE '__%'"],
    "odds": [
        "true",
        "price < 1 AND price > 2",
        "price IS NULL",
        "price IN (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21)",
    ],
    "computed": [
        "price * 2 < 10",
        "upper(symbol) = 'A'",
        "symbol < 'M'",
        "volume > 5 OR volume < 9000000000",
    ],
}


def build(conditions: list[str], settings: IndexSettings = IndexSettings()) -> ed.QuerySet:  # noqa: B008
    texts = {f"q{n:04}": f"SELECT * FROM quotes WHERE {text}" for n, text in enumerate(conditions)}
    return ed.QuerySet.build(texts, streams=[QUOTES], settings=settings)


def bytes_of(queries: ed.QuerySet) -> int:
    segments = [executor.segment for executor in queries.placed()]
    return sum(index.bytes for segment in segments for index in segment.indexes.values())


def summed(costs: Costs) -> tuple[int, int]:
    return sum(cost.attoseconds for cost in costs.values()), sum(cost.bytes for cost in costs.values())


def figures(cost: Cost) -> tuple[int, int]:
    return cost.attoseconds, cost.bytes


@pytest.mark.parametrize("executor", ["auto", "sliced", "keyed", "rowwise"])
@pytest.mark.parametrize("name", SETS)
def test_shares_sum_to_the_total(name: str, executor: str) -> None:
    queries = build(SETS[name], IndexSettings(executor=executor))  # type: ignore[arg-type]
    costs = queries.cost()
    assert summed(costs) == figures(costs.total)
    for cost in costs.values():
        assert figures(cost) == (sum(p.attoseconds for p in cost.parts), sum(p.bytes for p in cost.parts))
        assert all(part.text and part.users > 0 for part in cost.parts)


@pytest.mark.parametrize("name", [name for name in SETS if name != "patterns"])
def test_bytes_are_those_of_the_index(name: str) -> None:
    queries = build(SETS[name])
    assert queries.cost().total.bytes == bytes_of(queries)


def test_several_segments_and_removed_queries() -> None:
    queries = build(SETS["masks"], IndexSettings(segment_size=30)).remove(["q0000", "q0050"])
    costs = queries.cost()
    assert "q0050" not in costs and len(costs) == len(SETS["masks"]) - 2
    assert summed(costs) == figures(costs.total)


@pytest.mark.parametrize("name", ["masks", "trees", "keyed", "patterns", "odds"])
def test_the_order_of_queries_does_not_matter(name: str) -> None:
    texts = {f"q{n:04}": f"SELECT * FROM quotes WHERE {text}" for n, text in enumerate(SETS[name])}
    shuffled = list(texts.items())
    random.Random(7).shuffle(shuffled)
    one = ed.QuerySet.build(texts, streams=[QUOTES]).cost()
    other = ed.QuerySet.build(dict(shuffled), streams=[QUOTES]).cost()
    assert {id: figures(one[id]) for id in texts} == {id: figures(other[id]) for id in texts}


@pytest.mark.parametrize(
    "text",
    [
        "price < 3 AND size < 5",
        "price < 3.5 AND size < 5",
        "volume > 7 AND size < 5",
        "price < 3 OR (size < 5 AND volume = 3)",
        "price IN (1, 2, 5)",
        "price < 1 AND price > 2",
        "symbol = 'new'",
    ],
)
@pytest.mark.parametrize("name", ["masks", "trees"])
def test_the_old_total_and_the_marginal_cost_are_the_new_total(name: str, text: str) -> None:
    before, after = build(SETS[name], PLAIN), build([*SETS[name], text], PLAIN)
    marginal = before.marginal_cost(f"SELECT * FROM quotes WHERE {text}")
    old, new = before.cost().total, after.cost().total
    assert (old.attoseconds + marginal.attoseconds, old.bytes + marginal.bytes) == figures(new)


@pytest.mark.parametrize("name", ["masks", "trees", "keyed", "two keys", "patterns"])
def test_a_query_that_is_there_already_costs_almost_nothing(name: str) -> None:
    first = build([]).marginal_cost(f"SELECT * FROM quotes WHERE {SETS[name][3]}")
    again = build(SETS[name]).marginal_cost(f"SELECT * FROM quotes WHERE {SETS[name][3]}")
    assert 0 < again.attoseconds < first.attoseconds / 100
    assert again.bytes < 60


def test_a_new_key_costs_its_value_and_its_entry() -> None:
    queries = build(SETS["keyed"])
    known = queries.marginal_cost("SELECT * FROM quotes WHERE symbol = 'S3' AND price > 5")
    fresh = queries.marginal_cost("SELECT * FROM quotes WHERE symbol = 'somebody' AND price > 5")
    assert known.attoseconds == fresh.attoseconds < 2_000_000_000 / 500
    assert known.bytes < fresh.bytes
    assert "the key symbol = 'somebody'" in [part.text for part in fresh.parts]


def test_queries_that_are_kept_are_there_for_the_next() -> None:
    pricing = build([]).pricing()
    query = Query("a", "SELECT * FROM quotes WHERE title LIKE '%some text%'")
    first = pricing.marginal(query)
    assert pricing.marginal(query, keep=True) == first
    assert pricing.marginal(query).attoseconds < first.attoseconds / 1000


def test_parts_in_words() -> None:
    queries = build(["price < 10"] * 42 + ["price < 10 AND volume >= 500", "price < 1 AND price > 2"])
    costs = queries.cost()
    assert "price < 10.0: 0.0002 ns, 1 bytes, shared with 42 others" in map(str, costs["q0000"].parts)
    assert costs.dearest(1) == ["q0042"]
    assert figures(costs["q0043"]) == (0, 0)


def test_measured_time_is_divided_among_all() -> None:
    batch = pa.record_batch(
        {
            "symbol": [f"S{n % 700}" for n in range(5000)],
            "price": [float(n % 100) for n in range(5000)],
            "volume": list(range(5000)),
            "size": pa.array([n % 9 for n in range(5000)], pa.int32()),
            "title": ["ab1c 5z"] * 5000,
        }
    )
    queries = build([*SETS["keyed"], *SETS["masks"], *SETS["patterns"]])
    costs = queries.cost({"quotes": [batch, batch]})
    total = costs.total.measured
    assert total is not None and total > 0
    shares = [cost.measured or 0.0 for cost in costs.values()]
    assert sum(shares) == pytest.approx(total) and min(shares) > 0
    assert queries.cost().total.measured is None


@pytest.mark.long
def test_a_hundred_thousand_queries_are_priced_in_seconds() -> None:
    import time

    queries = build([f"price < {k % 331} AND size < {k % 97} AND volume > {k % 50}" for k in range(100_000)])
    queries.explain()
    start = time.perf_counter()
    costs = queries.cost()
    costs.dearest(20)
    assert time.perf_counter() - start < 30
    assert costs.total.bytes == bytes_of(queries)
