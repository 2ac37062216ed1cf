"""Joins of a set: which are the same, covered by others, or never true; and one more join beside them."""

from __future__ import annotations

import pyarrow as pa

from eddyline import Query, QuerySet, Stream

SCHEMA = pa.schema([("symbol", pa.string()), ("price", pa.float64()), ("ts", pa.timestamp("us"))])
STREAMS = [Stream(name, SCHEMA, event_time="ts", lateness="10 seconds") for name in ("quotes", "trades")]
FROM = "SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol AND t.ts BETWEEN q.ts AND q.ts + INTERVAL"
TEXTS = {
    "wide": f"{FROM} 10 SECONDS",
    "narrow": f"{FROM} 5 SECONDS",
    "cheap": f"{FROM} 5 SECONDS WHERE q.price < 10",
    "swapped": "SELECT t.price FROM trades t JOIN quotes q ON q.symbol = t.symbol "
    "WHERE t.ts <= q.ts + INTERVAL 10 SECONDS AND t.ts >= q.ts",
    "empty": "SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol "
    "AND t.ts > q.ts + INTERVAL 5 SECONDS AND t.ts < q.ts + INTERVAL 3 SECONDS",
    "all quotes": "SELECT * FROM quotes",
    "cheap quotes": "SELECT * FROM quotes WHERE price < 10",
}


def built() -> QuerySet:
    return QuerySet.build(TEXTS, streams=STREAMS)


def told(rows: list[dict[str, str]]) -> set[tuple[str, str, str]]:
    return {(row["query"], row["relation"], row["other"]) for row in rows}


def test_joins_are_listed_with_selections() -> None:
    found = built().redundancies()
    assert told(found.table.to_pylist()) == {
        ("narrow", "implied", "wide"),
        ("cheap", "implied", "narrow"),
        ("cheap", "implied", "wide"),
        ("swapped", "equivalent", "wide"),
        ("empty", "never true", None),
        ("cheap quotes", "implied", "all quotes"),
    }
    assert not found.unknown and not found.uncompared


def test_one_join_among_them() -> None:
    assert told(built().relations("narrow").table.to_pylist()) == {
        ("narrow", "implied", "wide"),
        ("narrow", "implied", "swapped"),
        ("narrow", "implies", "cheap"),
    }


def test_one_more_join() -> None:
    new = Query("new", f"{FROM} 7 SECONDS WHERE t.price < 3")
    assert told(built().relations(new).table.to_pylist()) == {
        ("new", "implied", "wide"),
        ("new", "implied", "swapped"),
    }
    nothing = Query("nothing", TEXTS["empty"])
    assert told(built().relations(nothing).table.to_pylist()) == {("nothing", "never true", None)}


def test_removed_joins_are_not_compared() -> None:
    queries = built().remove(["wide", "swapped"])
    assert told(queries.redundancies().table.to_pylist()) == {
        ("cheap", "implied", "narrow"),
        ("empty", "never true", None),
        ("cheap quotes", "implied", "all quotes"),
    }
