"""The joins that CSJQ and CACQ print, over tuples made by hand; the expected pairs are written out.

Neither paper's queries name a window: CSJQ has one for all streams and queries, CACQ gives it to the join operator. So the
engine has one, `join_window`. Neither names the time of a tuple, which is the column `ts` here: in the tables below, seconds
after noon.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine, QueryError, QuerySet, Stream

NOON = datetime(2026, 7, 31, 12, tzinfo=UTC)
Row = tuple[Any, ...]


def stream(name: str, /, **columns: pa.DataType) -> Stream:
    schema = pa.schema({**columns, "ts": pa.timestamp("us", "UTC")})
    return Stream(name, schema, event_time="ts", lateness="2 minutes")


def table(of: Stream, rows: Sequence[Row]) -> pa.Table:
    """Rows, whose last values are seconds after noon."""
    timed = [(*values, NOON + timedelta(seconds=second)) for *values, second in rows]
    return pa.Table.from_pylist(
        [dict(zip(of.schema.names, row, strict=True)) for row in timed], schema=of.schema
    )


def new_engine(*streams: Stream, join_window: str = "1 minute") -> Engine:
    return Engine(streams=streams, join_window=join_window, clock=lambda: NOON)


def push(engine: Engine, of: Stream, rows: Sequence[Row], size: int = 1) -> dict[str, list[dict[str, Any]]]:
    """What each query is given for rows that come in batches."""
    found: dict[str, list[dict[str, Any]]] = {id: [] for id in engine}
    for start in range(0, len(rows), size):
        deliveries = engine.push(of.name, table(of, rows[start : start + size]))
        for id in engine:
            found[id] += deliveries.of(id).to_pylist()
    return found


# -- CSJQ, section 1: who trades oranges wants to know of hurricanes where they grow

TRADING = stream("TradingStream", name=pa.string(), price=pa.float64(), productionArea=pa.string())
WEATHER = stream("WeatherStream", event=pa.string(), area=pa.string(), category=pa.int32(), date=pa.date32())

# As printed, but for the last condition, which is `W.date < August` there. August is no value in SQL, but a date has a month.
# A text in double quotes is a text in Spark SQL, too.
AS_PRINTED = """
    SELECT *
    FROM TradingStream T, WeatherStream W
    WHERE T.name = "orange" AND T.price < 25 AND
    T.productionArea = W.area AND
    W.event = "hurricane" AND W.category > 4 AND
    W.date < August
"""
HURRICANES = AS_PRINTED.replace("W.date < August", "month(W.date) < 8")

JULY, AUGUST = date(2026, 7, 31), date(2026, 8, 1)
TRADES: list[Row] = [
    ("orange", 24.0, "Florida", 0),
    ("orange", 26.0, "Florida", 10),  # too dear
    ("apple", 10.0, "Florida", 20),  # no orange
    ("orange", 20.0, "Valencia", 30),
    ("orange", 25.0, "Florida", 40),  # not below 25
    ("orange", None, "Florida", 45),  # nobody knows whether it is below 25
    ("orange", 11.0, None, 50),  # from nowhere
    ("orange", 12.0, "Florida", 50),
]
FORECASTS: list[Row] = [
    ("hurricane", "Florida", 5, JULY, 5),
    ("hurricane", "Florida", 4, JULY, 6),  # not above 4
    ("hurricane", "Florida", 5, AUGUST, 7),  # not before August
    ("sunshine", "Florida", 5, JULY, 8),
    ("hurricane", None, 5, JULY, 70),  # nowhere
    ("hurricane", "Florida", 5, JULY, 70),  # 70 seconds after the first trade, 20 after the last
    ("hurricane", "Valencia", 5, JULY, 90),  # 60 seconds after the trade, which is a minute
    ("hurricane", "Valencia", 5, JULY, 91),  # 61 seconds after it
]
STORMS = {(0, 0), (7, 0), (7, 5), (3, 6)}  # trade and forecast, by their places above


def storm(trade: int, forecast: int) -> dict[str, Any]:
    """A pair as `SELECT *` gives it: both streams have a column ts, which is called by its alias."""
    trades, forecasts = (
        table(of, rows).rename_columns([f"{alias}_ts" if name == "ts" else name for name in of.schema.names])
        for of, alias, rows in ((TRADING, "T", TRADES), (WEATHER, "W", FORECASTS))
    )
    return {**trades.slice(trade, 1).to_pylist()[0], **forecasts.slice(forecast, 1).to_pylist()[0]}


@pytest.mark.parametrize("size", [1, 3, 8])
def test_csjq_trades_before_forecasts(size: int) -> None:
    engine = new_engine(TRADING, WEATHER)
    engine.add("hurricanes", HURRICANES)
    assert push(engine, TRADING, TRADES, size) == {"hurricanes": []}
    found = push(engine, WEATHER, FORECASTS, size)["hurricanes"]
    by_forecast = sorted(STORMS, key=lambda pair: (pair[1], pair[0]))
    assert found == [storm(*pair) for pair in by_forecast]  # by the tuple that came last, then by its partner
    assert list(found[0]) == "name price productionArea T_ts event area category date W_ts".split()


@pytest.mark.parametrize("size", [1, 3, 8])
def test_csjq_forecasts_before_trades(size: int) -> None:
    engine = new_engine(TRADING, WEATHER)
    engine.add("hurricanes", HURRICANES)
    assert push(engine, WEATHER, FORECASTS, size) == {"hurricanes": []}
    assert push(engine, TRADING, TRADES, size)["hurricanes"] == [storm(*pair) for pair in sorted(STORMS)]


def test_csjq_over_whole_tables() -> None:
    queries = QuerySet.build({"hurricanes": HURRICANES}, streams=[TRADING, WEATHER], join_window="1 minute")
    found = queries.join(
        {"TradingStream": table(TRADING, TRADES), "WeatherStream": table(WEATHER, FORECASTS)}
    )
    assert set(zip(*(rows.tolist() for rows in found.rows("hurricanes")), strict=True)) == STORMS


def test_csjq_queries_with_one_join_predicate_share_the_tuples() -> None:
    """Section 2: one join buffer for all queries with the same join predicate, one copy of each tuple."""
    engine = new_engine(TRADING, WEATHER)
    engine.add({f"below {price}": HURRICANES.replace("25", str(price)) for price in range(10, 40)})
    push(engine, TRADING, TRADES)
    found = push(engine, WEATHER, FORECASTS)
    of_dearer_trades = {(1, 0), (1, 5), (4, 0), (4, 5)}
    prices = [TRADES[trade][1] for trade, _ in STORMS | of_dearer_trades]
    for limit in range(10, 40):
        assert len(found[f"below {limit}"]) == sum(price < limit for price in prices)
    kept = {each.stream: each for each in engine.state().kept}
    assert len(engine.state().kept) == 2 and kept["TradingStream"].key == "productionArea"
    oranges = [row for row in TRADES if row[0] == "orange" and row[1] is not None and row[2] is not None]
    assert kept["TradingStream"].tuples == len(oranges)  # others can have no partner


def test_csjq_as_printed_is_refused_where_it_is_no_sql() -> None:
    with pytest.raises(QueryError, match='neither "T" nor "W" has a column "August"'):
        new_engine(TRADING, WEATHER).add("hurricanes", AS_PRINTED)


def test_csjq_needs_a_window() -> None:
    with pytest.raises(QueryError, match='"T" and "W" are not bound in time') as caught:
        Engine(streams=[TRADING, WEATHER]).add("hurricanes", HURRICANES)
    assert (
        caught.value.hint
        == "add W.ts BETWEEN T.ts - INTERVAL 5 SECONDS AND T.ts, or set join_window; in a shell --join-window"
    )


# -- CACQ, section 5: quotes above a price, with the articles about their companies

STOCKS = stream("stocks", symbol=pa.string(), price=pa.float64())
ARTICLES = stream("articles", symbol=pa.string(), text=pa.string())
QUOTES: list[Row] = [("ACME", 30.0, 0), ("INIT", 60.0, 1), ("ACME", 90.0, 2), (None, 99.0, 3)]
NEWS: list[Row] = [
    ("ACME", "roadrunner seen", 10),
    ("INIT", "shares split", 20),
    ("ACME", "anvil recalled", 61),  # a minute and a second after the first quote
    (None, "nobody", 61),
]
PAIRS = [("ACME", 30.0, 0), ("ACME", 90.0, 0), ("INIT", 60.0, 1), ("ACME", 90.0, 2)]  # quotes with articles


def interest(x: int) -> str:
    """As printed."""
    return f"SELECT * FROM stocks AS s, articles AS a WHERE\ns.price > {x} AND s.symbol = a.symbol"


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("stocks_first", [True, False])
def test_cacq_stocks_and_articles(stocks_first: bool, size: int) -> None:
    engine = new_engine(STOCKS, ARTICLES)
    engine.add({str(x): interest(x) for x in range(100)})
    steps = [(STOCKS, QUOTES), (ARTICLES, NEWS)]
    found: dict[str, list[dict[str, Any]]] = {id: [] for id in engine}
    for of, rows in steps if stocks_first else steps[::-1]:
        for id, pairs in push(engine, of, rows, size).items():
            found[id] += pairs
    for x in range(100):
        expected = {(s, price, NEWS[article][1]) for s, price, article in PAIRS if price > x}
        assert {(row["s_symbol"], row["price"], row["text"]) for row in found[str(x)]} == expected
        assert len(found[str(x)]) == len(expected)
        assert all(row["s_symbol"] == row["a_symbol"] for row in found[str(x)])
    engine.ledger.check()


def test_cacq_one_stem_for_each_stream() -> None:
    """Section 5: "a grouped filter on stocks.price, and a pair of SteMs on stocks.symbol and articles.symbol"."""
    engine = new_engine(STOCKS, ARTICLES)
    engine.add({str(x): interest(x) for x in range(100)})
    push(engine, STOCKS, QUOTES)
    push(engine, ARTICLES, NEWS)
    assert [(each.stream, each.key, each.tuples) for each in engine.state().kept] == [
        ("stocks", "symbol", 3),
        ("articles", "symbol", 3),
    ]


def test_cacq_new_queries_see_what_arrives_after_them() -> None:
    """Section 3: queries apply "from the moment the query is registered"."""
    engine = new_engine(STOCKS, ARTICLES)
    engine.add("early", interest(10))
    push(engine, STOCKS, QUOTES[:2])
    engine.add("late", interest(10))
    push(engine, STOCKS, QUOTES[2:])
    found = push(engine, ARTICLES, NEWS[:2])
    assert [(row["s_symbol"], row["price"]) for row in found["early"]] == [
        ("ACME", 30.0),
        ("ACME", 90.0),
        ("INIT", 60.0),
    ]
    assert [(row["s_symbol"], row["price"]) for row in found["late"]] == [("ACME", 90.0)]


# -- CACQ, section 2.4: blinds close where it is warm and sunny, windows open where it is warm and quiet. The paper tells this
# in words: readings have a location and a time, and are joined where both are the same. Equal times are a window, too.

TEMPERATURES = stream("temperatures", location=pa.string(), celsius=pa.int32())
LIGHTS = stream("lights", location=pa.string(), lux=pa.int32())
SOUNDS = stream("sounds", location=pa.string(), decibels=pa.int32())
BUILDING = {
    "blinds": "SELECT t.location FROM temperatures t, lights l "
    "WHERE t.location = l.location AND t.ts = l.ts AND celsius > 24 AND lux > 1000",
    "windows": "SELECT t.location FROM temperatures t, sounds s "
    "WHERE t.location = s.location AND t.ts = s.ts AND celsius > 24 AND decibels < 40",
}


def test_cacq_joins_of_other_streams_share_a_stem() -> None:
    engine = Engine(streams=[TEMPERATURES, LIGHTS, SOUNDS], clock=lambda: NOON)
    engine.add(BUILDING)
    push(engine, TEMPERATURES, [("north", 25, 0), ("south", 30, 0), ("south", 20, 1)])
    lit = push(engine, LIGHTS, [("north", 100, 0), ("south", 5000, 0), ("south", 5000, 1)])
    heard = push(engine, SOUNDS, [("north", 30, 0), ("south", 70, 0), ("north", 30, 1)])
    assert lit == {"blinds": [{"location": "south"}], "windows": []}
    assert heard == {"blinds": [], "windows": [{"location": "north"}]}
    assert [each.stream for each in engine.state().kept] == ["temperatures", "lights", "sounds"]
