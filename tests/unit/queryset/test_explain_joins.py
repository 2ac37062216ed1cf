"""What a set says of its joins: their normal form, who serves their sides, and the SteMs that they share."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import IndexSettings, QuerySet, Stream, UnknownQueryError

SCHEMA = pa.schema([("symbol", pa.string()), ("price", pa.float64()), ("ts", pa.timestamp("us", "UTC"))])
STREAMS = [Stream(name, SCHEMA, "ts", "10 seconds") for name in ("quotes", "trades")]
SOON = "t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"
SPREAD = f"""SELECT q.symbol FROM quotes q JOIN trades t ON q.symbol = t.symbol
WHERE {SOON} AND q.price < 10 AND t.price > q.price * 1.01"""
TEXTS = {
    "spread": SPREAD,
    "wider": SPREAD.replace("10 AND", "20 AND"),
    "same": """SELECT 1 AS n FROM quotes a JOIN quotes b ON a.symbol <=> b.symbol AND a.ts = b.ts
WHERE a.price < 1 OR b.price > 3""",
    "cheap": "SELECT * FROM quotes WHERE price < 10",
    "never": f"SELECT 1 AS n FROM quotes q JOIN trades t USING (symbol) WHERE {SOON} AND q.price < 1 AND q.price > 2",
}
SLICED = "served sliced: its conditions are shared masks, joined by AND and OR for 512 tuples at once"


@pytest.fixture(scope="module")
def queries() -> QuerySet:
    settings = IndexSettings(rowwise_bytes=0)  # no form for small batches, whose lines are long
    return QuerySet.build(TEXTS, streams=STREAMS, settings=settings)


def test_a_join(queries: QuerySet) -> None:
    assert queries.explain("spread") == (
        f"{SPREAD}\n"
        "normal form\n"
        "joins quotes as q and trades as t\n"
        "branch\n"
        "├─ q: price in (-inf, 10.0)\n"
        "├─ t: always true\n"
        "├─ key: q.symbol = t.symbol\n"
        "├─ time: t.ts - q.ts from 0 seconds to 5 seconds\n"
        "└─ residual: (t.price > (q.price * 1.01D))\n"
        "q\n"
        f"  {SLICED}\n"
        "t is free: every tuple of trades is kept, and it is in no list\n"
        "SteM of quotes by symbol, shared with 1 other join\n"
        "SteM of trades by symbol, shared with 1 other join"
    )


def test_branches_of_a_stream_joined_with_itself(queries: QuerySet) -> None:
    assert queries.explain("same").splitlines()[4:] == [
        "branch",
        "├─ a: price in (-inf, 1.0)",
        "├─ b: always true",
        "├─ key: a.symbol <=> b.symbol",
        "└─ time: b.ts - a.ts is 0 seconds",
        "branch",
        "├─ a: always true",
        "├─ b: price in (3.0, +inf) or NaN",
        "├─ key: a.symbol <=> b.symbol",
        "└─ time: b.ts - a.ts is 0 seconds",
        "a in branch 1",
        f"  {SLICED}",
        "b in branch 1 is free: every tuple of quotes is kept, and it is in no list",
        "a in branch 2 is free: every tuple of quotes is kept, and it is in no list",
        "b in branch 2",
        f"  {SLICED}",
        "SteM of quotes by symbol (NULL equals NULL), for this join alone",
    ]


def test_a_join_that_is_never_true(queries: QuerySet) -> None:
    assert queries.explain("never") == (
        f"{TEXTS['never']}\n"
        "normal form\n"
        "joins quotes as q and trades as t\n"
        "never true\n"
        "served by nothing: it is never true"
    )


def test_the_set_counts_joins_and_stems(queries: QuerySet) -> None:
    lines = queries.explain().splitlines()
    assert [line for line in lines if not line.startswith("  sliced")] == [
        "version 1: 5 queries, 4 of them joins, in 1 segments",
        "segment 0, stream quotes",
        "joins: 8 roles, 4 of them free, 3 SteMs",
        "  of quotes by symbol, for 2 joins",
        "  of trades by symbol, for 2 joins",
        "  of quotes by symbol (NULL equals NULL), for 1 join",
    ]


def test_removed_joins_do_not_count(queries: QuerySet) -> None:
    fewer = queries.remove(["wider", "same"])
    assert fewer.explain("spread").splitlines()[-2:] == [
        "SteM of quotes by symbol, for this join alone",
        "SteM of trades by symbol, for this join alone",
    ]
    assert fewer.explain().splitlines()[-3:] == [
        "joins: 2 roles, 1 of them free, 2 SteMs",
        "  of quotes by symbol, for 1 join",
        "  of trades by symbol, for 1 join",
    ]
    none = fewer.remove(["spread", "never"]).explain().splitlines()
    assert none[0] == "version 3: 1 queries in 1 segments" and "joins" not in none[-1]
    with pytest.raises(UnknownQueryError):
        fewer.explain("same")


def test_only_a_join_that_is_never_true() -> None:
    never = QuerySet.build({"never": TEXTS["never"]}, streams=STREAMS)
    assert never.explain() == "version 1: 1 queries, 1 of them joins, in 0 segments"
