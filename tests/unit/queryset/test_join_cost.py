"""Costs of joins: sides are priced as queries, and all that joins share is divided among them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eddyline import IndexSettings, QuerySet, Stream
from eddyline.execute.pricing.unit_costs import ROLE_BYTES
from eddyline.model.query import Query
from eddyline.queryset.cost.cost import Cost, Costs
from eddyline.standing.rows.join_columns import KINDS

SCHEMA = pa.schema([("symbol", pa.string()), ("price", pa.float64()), ("ts", pa.timestamp("us", "UTC"))])
STREAMS = [Stream(name, SCHEMA, "ts", "10 seconds") for name in ("quotes", "trades")]
SOON = "t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"
PLAIN = IndexSettings(direct="never", rowwise_bytes=0)


def joined(condition: str) -> str:
    return f"SELECT q.symbol FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE {SOON} AND {condition}"


TEXTS = {
    "spread": joined("q.price < 10 AND t.price > q.price"),
    "sides": joined("q.price < 10 AND t.price > 20"),
    "free": joined("true"),
    "branches": joined("(q.price < 10 OR t.price > 20 AND q.price > t.price)"),
    "self": """SELECT 1 AS n FROM quotes a JOIN quotes b ON a.symbol <=> b.symbol AND a.ts = b.ts
        WHERE a.price < 10 AND b.price < 10""",
    "computed": f"SELECT 1 AS n FROM quotes q, trades t WHERE upper(q.symbol) = t.symbol AND {SOON} AND q.price < 3",
    "never": joined("q.price < 1 AND q.price > 2"),
    "cheap": "SELECT * FROM quotes WHERE price < 10",
}


def build(texts: dict[str, str], settings: IndexSettings = PLAIN) -> QuerySet:
    return QuerySet.build(texts, streams=STREAMS, settings=settings)


def figures(cost: Cost) -> tuple[int, int]:
    return cost.attoseconds, cost.bytes


def summed(costs: Costs) -> tuple[int, int]:
    return sum(cost.attoseconds for cost in costs.values()), sum(cost.bytes for cost in costs.values())


@pytest.mark.parametrize("executor", ["auto", "sliced", "keyed", "rowwise"])
def test_shares_sum_to_the_total(executor: str) -> None:
    queries = build(TEXTS, IndexSettings(executor=executor))  # type: ignore[arg-type]
    for version in (queries, queries.remove(["sides", "free"])):
        costs = version.cost()
        assert list(costs) == list(version)
        assert summed(costs) == figures(costs.total)
        for cost in costs.values():
            assert figures(cost) == (sum(p.attoseconds for p in cost.parts), sum(p.bytes for p in cost.parts))


def test_the_order_of_queries_does_not_matter() -> None:
    one, other = build(TEXTS).cost(), build(dict(reversed(TEXTS.items()))).cost()
    assert {id: figures(one[id]) for id in TEXTS} == {id: figures(other[id]) for id in TEXTS}


@pytest.mark.parametrize("id", TEXTS)
@pytest.mark.parametrize("present", [(), ("cheap",), ("spread", "self", "free", "branches")])
def test_the_old_total_and_the_marginal_cost_are_the_new_total(id: str, present: tuple[str, ...]) -> None:
    before = {f"{one}, before": TEXTS[one] for one in present}
    old, new = build(before), build({**before, id: TEXTS[id]})
    marginal = old.marginal_cost(TEXTS[id])
    total = old.cost().total
    assert (total.attoseconds + marginal.attoseconds, total.bytes + marginal.bytes) == figures(
        new.cost().total
    )


def test_the_parts_of_a_join_say_whose_they_are() -> None:
    costs = build({id: TEXTS[id] for id in ("spread", "sides", "cheap")}).cost()
    assert str(costs["spread"]) == "200 ns a tuple, 126 bytes"
    assert list(map(str, costs["spread"].parts)) == [
        "(t.price > q.price) for a pair: 92 ns, 0 bytes",
        "q: keeping tuples of quotes by symbol: 30 ns, 0 bytes, shared with 1 other",
        "t: keeping tuples of trades by symbol: 30 ns, 0 bytes, shared with 1 other",
        "q: looking up tuples of quotes among those of trades by symbol: 20 ns, 0 bytes, shared with 1 other",
        "t: looking up tuples of trades among those of quotes by symbol: 20 ns, 0 bytes, shared with 1 other",
        "q: its entry in the list of a tuple: 6 ns, 4 bytes",
        "q: price located: 1.67 ns, 0 bytes, shared with 2 others",
        "q: price < 10.0: 0.00287 ns, 6 bytes, shared with 2 others",
        "q: its own result: 0.0022 ns, 12 bytes",
        "what is known of its sides: 0 ns, 102 bytes",
        "q: the constant 10.0 of price: 0 ns, 2 bytes, shared with 2 others",
    ]


def test_branches_and_both_sides_of_one_stream_count_one_query() -> None:
    costs = build({"self": TEXTS["self"], "branches": TEXTS["branches"]}).cost()
    parts = {part.text: part.users for part in costs["self"].parts}
    assert parts["a: price located"] == parts["b: price located"] == 2
    assert parts["a: keeping tuples of quotes by symbol (NULL equals NULL)"] == 1
    texts = [part.text for part in costs["branches"].parts]
    assert "q in branch 1: price located" in texts and "t in branch 2: price located" in texts
    assert "q in branch 2: its entry in the list of a tuple" not in texts, "a free side is in no list"


def test_a_join_that_is_never_true_costs_nothing() -> None:
    queries = build(TEXTS)
    assert figures(queries.cost()["never"]) == figures(queries.marginal_cost(TEXTS["never"])) == (0, 0)


def test_a_join_by_a_key_that_is_there_costs_its_entries() -> None:
    queries = build(TEXTS)
    again = queries.marginal_cost(joined("q.price < 10 AND t.price > 20"))
    assert again.nanoseconds == pytest.approx(12.0044)
    assert sorted({part.text for part in again.parts}) == [
        "q: its entry in the list of a tuple",
        "q: its own result",
        "t: its entry in the list of a tuple",
        "t: its own result",
        "what is known of its sides",
    ]
    other = queries.marginal_cost(f"SELECT 1 AS n FROM quotes q, trades t WHERE q.price = t.price AND {SOON}")
    assert other.nanoseconds == pytest.approx(200)


def test_joins_that_are_kept_are_there_for_the_next() -> None:
    pricing = build({}).pricing()
    query = Query("a", TEXTS["sides"])
    first = pricing.marginal(query)
    assert pricing.marginal(query, keep=True) == first
    again = pricing.marginal(query)
    assert again.nanoseconds == pytest.approx(12.0044) and first.nanoseconds > 200


def test_the_first_queries_of_two_streams_share_nothing() -> None:
    pricing = build({}).pricing()
    first = pricing.marginal(Query("a", "SELECT * FROM quotes WHERE price < 10"), keep=True)
    assert figures(pricing.marginal(Query("b", "SELECT * FROM trades WHERE price < 10"))) == figures(first)


def test_measured_time_is_that_of_the_sides() -> None:
    rows = [
        {"symbol": f"S{n % 7}", "price": float(n % 40), "ts": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(n)}
        for n in range(2_000)
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
    costs = build(TEXTS).cost({"quotes": [batch], "trades": [batch]})
    shares = {id: cost.measured or 0.0 for id, cost in costs.items()}
    assert sum(shares.values()) == pytest.approx(costs.total.measured)
    assert shares["sides"] > 0 and shares["free"] == shares["never"] == 0


def test_a_set_that_was_saved_costs_and_explains_the_same(tmp_path: Path) -> None:
    queries = build(TEXTS).remove("sides")
    queries.save(tmp_path / "set")
    loaded = QuerySet.load(tmp_path / "set")
    one, other = queries.cost(), loaded.cost()
    assert [(id, one[id].parts) for id in one] == [(id, other[id].parts) for id in other]
    assert [queries.explain(id) for id in queries] == [loaded.explain(id) for id in loaded]


def test_the_bytes_of_a_row_are_those_of_its_columns() -> None:
    assert sum(np.dtype(kind).itemsize for kind in KINDS.values()) == ROLE_BYTES
