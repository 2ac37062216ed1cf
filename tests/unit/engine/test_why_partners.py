"""What a row would find among the tuples that an engine keeps for joins, in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from eddyline import EddylineError, Engine, SchemaError, Stream, UnknownQueryError

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
SCHEMA = pa.schema([("symbol", pa.string()), ("price", pa.float64()), ("ts", pa.timestamp("us", "UTC"))])
STREAMS = [Stream(name, SCHEMA, "ts", "10 seconds") for name in ("quotes", "trades")]
SOON = "t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"
SPREAD = f"""SELECT q.price AS quoted FROM quotes q JOIN trades t ON q.symbol = t.symbol
    WHERE {SOON} AND q.price < 10 AND t.price > q.price * 1.01"""


def row(symbol: str | None, price: float | None, second: float | None) -> dict[str, Any]:
    return {
        "symbol": symbol,
        "price": price,
        "ts": None if second is None else NOON + timedelta(seconds=second),
    }


def batch(*rows: dict[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=SCHEMA)


@pytest.fixture
def engine() -> Engine:
    """Three quotes are kept; only the columns that the join reads of them are."""
    engine = Engine(streams=STREAMS, clock=lambda: NOON)
    engine.add("spread", SPREAD)
    engine.push("quotes", batch(row("A", 5.0, 0), row("A", 7.0, -4), row("B", 3.0, 0), row("A", 70.0, 0)))
    return engine


def test_a_row_that_completes_a_pair(engine: Engine) -> None:
    why = engine.why("spread", "trades", row("A", 6.0, 2))
    assert (why.matched, why.pairs) == (True, 1)
    assert str(why) == (
        "completes 1 pair\n"
        "as t, with tuples of quotes as q\n"
        "  among 3 kept tuples of quotes\n"
        "  2 of them have its key: q.symbol = t.symbol\n"
        "  1 of them lies in the window: t.ts - q.ts from 0 seconds to 5 seconds\n"
        "  1 of them satisfies the conditions on q\n"
        "  1 of them satisfies (t.price > (q.price * 1.01D))"
    )
    assert str(engine.why("spread", "TRADES", batch(row("A", 9.0, 1)))).startswith("completes 2 pairs\n")
    assert engine.push("trades", batch(row("A", 9.0, 1))).of("spread").num_rows == 2


def test_nothing_is_delivered_and_nothing_is_kept(engine: Engine) -> None:
    before = engine.ledger.totals
    for _ in range(3):
        assert engine.why("spread", "trades", row("A", 6.0, 2)).pairs == 1
        assert engine.why("spread", "quotes", row("A", 6.0, 2)).pairs == 0
    assert engine.ledger.totals == before


def test_the_nearest_is_outside_of_the_window(engine: Engine) -> None:
    assert str(engine.why("spread", "trades", row("A", 6.0, 7))) == (
        "completes no pair\n"
        "as t, with tuples of quotes as q\n"
        "  among 3 kept tuples of quotes\n"
        "  2 of them have its key: q.symbol = t.symbol\n"
        "  0 of them lie in the window: t.ts - q.ts from 0 seconds to 5 seconds\n"
        "  nearest: price 5.0, ts 2026-01-31 12:00:00\n"
        "    t.ts - q.ts is 7 seconds, 2 seconds outside of 0 seconds to 5 seconds"
    )


def test_the_nearest_fails_the_residual(engine: Engine) -> None:
    assert str(engine.why("spread", "trades", row("A", None, 2))).splitlines()[-3:] == [
        "  0 of them satisfy (t.price > (q.price * 1.01D))",
        "  nearest: price 5.0, ts 2026-01-31 12:00:00",
        "    (t.price > (q.price * 1.01D)) is NULL",
    ]


def test_the_nearest_has_another_key(engine: Engine) -> None:
    assert str(engine.why("spread", "trades", row("Z", 6.0, 2))).splitlines()[-3:] == [
        "  0 of them have its key: q.symbol = t.symbol",
        "  nearest: price 3.0, ts 2026-01-31 12:00:00",
        "    its key is another one",
    ]
    engine.add("names", f"SELECT q.symbol FROM quotes q JOIN trades t USING (symbol) WHERE {SOON}")
    engine.push("quotes", batch(row("C", 2.0, 1)))
    assert str(engine.why("names", "trades", row("Z", 6.0, 2))).splitlines()[-2:] == [
        "  nearest: symbol 'C', price 2.0, ts 2026-01-31 12:00:01",
        "    q.symbol is 'C' and t.symbol is 'Z', which are not equal",
    ]


def test_the_nearest_fails_the_conditions_of_its_side(engine: Engine) -> None:
    engine.add(
        "dear", f"SELECT 1 AS n FROM quotes q, trades t WHERE q.symbol = t.symbol AND {SOON} AND q.price > 90"
    )
    engine.add("all", f"SELECT 1 AS n FROM quotes q JOIN trades t USING (symbol) WHERE {SOON}")
    engine.push("quotes", batch(row("C", 20.0, 1)))
    assert str(engine.why("dear", "trades", row("C", 6.0, 2))) == (
        "completes no pair\n"
        "as t, with tuples of quotes as q\n"
        "  among 4 kept tuples of quotes\n"
        "  1 of them has its key: q.symbol = t.symbol\n"
        "  1 of them lies in the window: t.ts - q.ts from 0 seconds to 5 seconds\n"
        "  0 of them satisfy the conditions on q\n"
        "  nearest: price 20.0, ts 2026-01-31 12:00:01\n"
        "    q.price is 20.0, which does not lie in (90.0, +inf) or NaN"
    )
    unread = Engine(streams=STREAMS, clock=lambda: NOON)
    unread.add({"dear": engine["dear"].sql, "all": engine["all"].sql})
    unread.push("quotes", batch(row("C", 20.0, 1)))
    assert str(unread.why("dear", "trades", row("C", 6.0, 2))).splitlines()[-2:] == [
        "  nearest: ts 2026-01-31 12:00:01",
        "    it does not satisfy the conditions on q",
    ]


def test_what_came_before_the_query_is_no_partner(engine: Engine) -> None:
    engine.add("late comer", SPREAD)
    expected = [
        "  2 of them have its key: q.symbol = t.symbol",
        "  1 of them lies in the window: t.ts - q.ts from 0 seconds to 5 seconds",
        "  0 of them came since the query was added",
        "  nearest: price 5.0, ts 2026-01-31 12:00:00",
        "    it came before the query was added",
    ]
    assert str(engine.why("late comer", "trades", row("A", 6.0, 2))).splitlines()[-5:] == expected
    engine.push("quotes", batch(row("A", 4.0, 1)))
    assert engine.why("late comer", "trades", row("A", 6.0, 2)).pairs == 1
    assert engine.why("spread", "trades", row("A", 6.0, 2)).pairs == 2


def test_a_row_that_fails_by_itself(engine: Engine) -> None:
    engine.push("trades", batch(row("A", 60.0, 3)))
    assert str(engine.why("spread", "quotes", row("A", 50.0, 2))) == (
        "completes no pair\n"
        "as q, with tuples of trades as t\n"
        "  q.price is 50.0, which does not lie in (-inf, 10.0)\n"
        "  among 1 kept tuple of trades\n"
        "  1 of them has its key: q.symbol = t.symbol\n"
        "  1 of them lies in the window: t.ts - q.ts from 0 seconds to 5 seconds\n"
        "  1 of them satisfies (t.price > (q.price * 1.01D))"
    )
    assert str(engine.why("spread", "trades", row(None, 6.0, 2))) == (
        "completes no pair\n"
        "as t, with tuples of quotes as q\n"
        "  t.symbol is NULL, which equals nothing\n"
        "  among 3 kept tuples of quotes\n"
        "  0 of them have its key: q.symbol = t.symbol"
    )


def test_a_row_that_is_left_out(engine: Engine) -> None:
    def said(second: float | None) -> list[str]:
        return str(engine.why("spread", "trades", row("A", 6.0, second))).splitlines()

    assert said(None) == ["completes no pair", "it is left out of joins: ts is NULL"]
    assert said(86_403)[:2] == [
        "completes no pair",
        "it is left out of joins: ts is 3 seconds further ahead of the clock than the stream allows",
    ]
    engine.push("trades", batch(row("Z", 1.0, 14)))
    late = said(2)
    assert late[:2] == ["completes no pair", "it is left out of joins: ts is 2 seconds below the watermark"]
    assert late[-1] == "  1 of them satisfies (t.price > (q.price * 1.01D))"
    assert engine.push("trades", batch(row("A", 6.0, 2))).of("spread").num_rows == 0


def test_a_stream_joined_with_itself(engine: Engine) -> None:
    engine.add(
        "rises",
        """SELECT a.price FROM quotes a JOIN quotes b ON a.symbol = b.symbol
        WHERE b.ts BETWEEN a.ts AND a.ts + INTERVAL 3 SECONDS AND b.price > a.price""",
    )
    engine.push("quotes", batch(row("A", 6.0, 1)))
    assert str(engine.why("rises", "quotes", row("A", 8.0, 2))) == (
        "completes 1 pair\n"
        "as a, with tuples of quotes as b\n"
        "  among 4 kept tuples of quotes\n"
        "  3 of them have its key: a.symbol = b.symbol\n"
        "  0 of them lie in the window: b.ts - a.ts from 0 seconds to 3 seconds\n"
        "  nearest: price 6.0, ts 2026-01-31 12:00:01\n"
        "    b.ts - a.ts is -1 second, 1 second outside of 0 seconds to 3 seconds\n"
        "as b, with tuples of quotes as a\n"
        "  among 4 kept tuples of quotes\n"
        "  3 of them have its key: a.symbol = b.symbol\n"
        "  2 of them lie in the window: b.ts - a.ts from 0 seconds to 3 seconds\n"
        "  1 of them came since the query was added\n"
        "  1 of them satisfies (b.price > a.price)\n"
        "with itself it does not match, because\n"
        "    (b.price > a.price) is false\n"
        "  although\n"
        "    a.symbol = b.symbol, both are 'A'\n"
        "    b.ts - a.ts is 0 seconds, within 0 seconds to 3 seconds"
    )


def test_every_branch_is_looked_at(engine: Engine) -> None:
    engine.add(
        "either",
        f"SELECT 1 AS n FROM quotes q, trades t WHERE q.symbol = t.symbol AND {SOON} AND (q.price < 2 OR t.price < 2)",
    )
    engine.push("quotes", batch(row("D", 1.0, 1)))
    why = engine.why("either", "trades", row("D", 1.0, 2))
    assert why.pairs == 1, "both branches find the same pair"
    assert [line for line in str(why).splitlines() if not line.startswith(" ")] == [
        "completes 1 pair",
        "branch 1, as t, with tuples of quotes as q",
        "branch 2, as t, with tuples of quotes as q",
    ]
    assert why.as_json()["roles"][1] == {
        "branch": 2,
        "alias": "t",
        "partner": "q",
        "fails": [],
        "partners": {"all": 4, "key": 1, "window": 1, "standing": 1, "side": 1, "residual": 1},
        "nearest": None,
    }


def test_an_engine_that_keeps_nothing_yet() -> None:
    engine = Engine(streams=STREAMS, clock=lambda: NOON)
    engine.add("spread", SPREAD)
    assert str(engine.why("spread", "trades", row("A", 6.0, 2))) == (
        "completes no pair\nas t, with tuples of quotes as q\n  among 0 kept tuples of quotes"
    )
    engine.add(
        "never",
        f"SELECT 1 AS n FROM quotes q JOIN trades t USING (symbol) WHERE {SOON} AND q.price < 1 AND q.price > 2",
    )
    assert (
        str(engine.why("never", "trades", row("A", 6.0, 2)))
        == "completes no pair\nno pair ever satisfies the query"
    )


def test_two_rows_are_asked_about_as_in_a_set(engine: Engine) -> None:
    assert engine.why("spread", {"q": row("A", 5.0, 0), "t": row("A", 6.0, 2)}).matched


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (
            (),
            EddylineError,
            "why looks at a row, at a row for each alias of a join, or at a row of a stream that is joined",
        ),
        ((row("A", 6.0, 2), "trades"), EddylineError, "why looks at a row, at a row"),
        (("trades", row("A", 6.0, 2), 3), EddylineError, "why looks at a row, at a row"),
        (("orders", row("A", 6.0, 2)), SchemaError, 'stream "orders" is not known'),
        (
            ("news", {}),
            EddylineError,
            'query "spread" does not read stream "news"\nhint: it joins quotes q JOIN trades t',
        ),
        (
            ("trades", batch(row("A", 6.0, 2), row("A", 6.0, 2))),
            EddylineError,
            "why looks at one row, not at 2",
        ),
        (
            ("trades", {**row("A", 6.0, 2), "ts": "12:00"}),
            SchemaError,
            'column "ts" of the row for stream "trades" is \'12:00\', but timestamp is declared',
        ),
    ],
)
def test_questions_that_make_no_sense(given: tuple[Any, ...], kind: type[Exception], message: str) -> None:
    engine = Engine(streams=[*STREAMS, Stream("news", pa.schema([("title", pa.string())]))])
    engine.add({"spread": SPREAD, "cheap": "SELECT symbol FROM quotes WHERE price < 10"})
    with pytest.raises(kind) as caught:
        engine.why("spread", *given)
    assert str(caught.value).startswith(message)
    with pytest.raises(EddylineError, match='query "cheap" joins no streams, so that its row decides'):
        engine.why("cheap", "quotes", row("A", 6.0, 2))
    with pytest.raises(UnknownQueryError):
        engine.why("spred", "quotes", row("A", 6.0, 2))


def test_a_closed_engine_keeps_nothing(engine: Engine) -> None:
    engine.close()
    with pytest.raises(EddylineError, match="the engine is closed"):
        engine.why("spread", "trades", row("A", 6.0, 2))
    assert engine.why("spread", {"q": row("A", 5.0, 0), "t": row("A", 6.0, 2)}).matched
