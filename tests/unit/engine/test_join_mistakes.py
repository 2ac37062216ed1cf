"""What goes wrong with joins: texts, streams, tuples, batches and settings that are not as they should be.

Whatever happens, other queries go on, and no pair is lost or told twice.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pytest

from eddyline import (
    EddylineError,
    Engine,
    FileError,
    JoinSettings,
    QueryError,
    QuerySet,
    Registry,
    SchemaError,
    SettingsError,
    Stream,
)
from eddyline.engine.account import PushTotals
from eddyline.project.account import Account
from eddyline.registry import Verdict

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
TIMESTAMP = pa.timestamp("us", "UTC")
SCHEMA = pa.schema({"symbol": pa.string(), "price": pa.float64(), "ts": TIMESTAMP})
QUOTES, TRADES = (
    Stream(name, SCHEMA, event_time="ts", lateness="10 seconds") for name in ("quotes", "trades")
)
TIMELESS = Stream("timeless", SCHEMA)
PATIENT = Stream("patient", SCHEMA, event_time="ts")
DAILY = Stream(
    "daily", pa.schema({"symbol": pa.string(), "day": pa.date32()}), event_time="day", lateness="1 day"
)
COUNTED = Stream("counted", pa.schema({"symbol": pa.string(), "n": pa.int64()}), event_time="n")
ALL = [QUOTES, TRADES, TIMELESS, PATIENT, DAILY, COUNTED]

SAME = "FROM quotes q JOIN trades t ON q.symbol = t.symbol"
OPEN = "FROM quotes q JOIN trades t ON TRUE"
SOON = "t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"
JOIN = f"SELECT q.price AS quoted, t.price AS paid {SAME} WHERE {SOON}"
ALL_QUOTES = "SELECT price FROM quotes"

Row = tuple[str | None, float, float | datetime | None]


def batch(*rows: Row) -> pa.RecordBatch:
    """Rows of a symbol, a price and a time: seconds after noon, or a moment."""
    times = [NOON + timedelta(seconds=time) if isinstance(time, int | float) else time for *_, time in rows]
    columns = {"symbol": [row[0] for row in rows], "price": [row[1] for row in rows], "ts": times}
    return pa.RecordBatch.from_pydict(columns, schema=SCHEMA)


def new_engine(join: str = JOIN, **options: Any) -> Engine:
    """An engine with a join and a query of one stream."""
    options.setdefault("streams", ALL)
    engine = Engine(clock=lambda: NOON, **options)
    engine.add({"join": join, "all": ALL_QUOTES})
    return engine


@pytest.fixture
def engine() -> Engine:
    return new_engine()


def pairs(engine: Engine, stream: str, *rows: Row) -> list[tuple[float, float]]:
    """The prices of the pairs that a batch completes."""
    found = engine.push(stream, batch(*rows)).of("join")
    engine.ledger.check()
    return list(zip(*(found[name].to_pylist() for name in found.schema.names), strict=True))


def works(engine: Engine, at: float = 0) -> bool:
    """Whether a quote and a trade of this time are still joined."""
    mark = f"works at {at}"
    assert pairs(engine, "quotes", (mark, 1.0, at)) == []
    return pairs(engine, "trades", (mark, 2.0, at)) == [(1.0, 2.0)]


# -- texts

REFUSED = {
    f"SELECT q.price FROM quotes q JOIN trades t ON q.price < t.price WHERE {SOON}": (
        '"q" and "t" are joined without an equality',
        "add q.column = t.column",
    ),
    f"SELECT q.price FROM quotes q JOIN trades t ON q.symbol = t.symbol OR q.price = 1 WHERE {SOON}": (
        '"q" and "t" are joined without an equality in one alternative of OR',
        "add q.column = t.column",
    ),
    f"SELECT q.price {SAME}": (
        '"q" and "t" are not bound in time, so nothing could be forgotten',
        "add t.ts BETWEEN q.ts - INTERVAL 5 SECONDS AND q.ts, or set join_window; in a shell --join-window",
    ),
    f"SELECT q.price {SAME} AND t.ts >= q.ts": (
        '"q" and "t" are not bound in time, so nothing could be forgotten',
        "add t.ts <= q.ts + INTERVAL 5 SECONDS",
    ),
    f"SELECT q.price {SAME} AND t.ts <= q.ts": (
        '"q" and "t" are not bound in time, so nothing could be forgotten',
        "add t.ts >= q.ts - INTERVAL 5 SECONDS",
    ),
    f"SELECT q.price {SAME} AND t.ts BETWEEN q.ts AND q.ts + INTERVAL 1 MONTH": (
        "a window needs a fixed length",
        "months differ in length: give days",
    ),
    f"SELECT q.price {SAME} AND t.ts BETWEEN q.ts AND q.ts + INTERVAL 100000000 DAYS": (
        "the window is too long",
        "give a length that you mean to wait for",
    ),
    "SELECT q.price FROM quotes q JOIN timeless t ON q.symbol = t.symbol AND t.ts = q.ts": (
        'stream "timeless" has no event time',
        'Stream(..., event_time="ts", lateness="10 seconds"); in a shell --event-time and --lateness',
    ),
    "SELECT q.price FROM quotes q JOIN patient t ON q.symbol = t.symbol AND t.ts = q.ts": (
        'stream "patient" declares no lateness',
        'Stream(..., event_time="ts", lateness="10 seconds"); in a shell --lateness',
    ),
    "SELECT a.n FROM counted a JOIN counted b ON a.symbol = b.symbol AND a.n = b.n": (
        'stream "counted" declares no lateness',
        'Stream(..., event_time="n", lateness=10); in a shell --lateness',
    ),
    "SELECT q.price FROM quotes q JOIN daily d ON q.symbol = d.symbol AND d.day = q.ts": (
        'the event times of "q" and "d" have different types (timestamp, date)',
        "declare event times of one type",
    ),
    "SELECT q.price FROM quotes q LEFT JOIN trades t ON q.symbol = t.symbol": (
        "outer joins are not supported: a result comes when both of its tuples are there",
        "write JOIN, which gives the pairs",
    ),
    "SELECT q.price FROM quotes q RIGHT OUTER JOIN trades t ON q.symbol = t.symbol": (
        "outer joins are not supported: a result comes when both of its tuples are there",
        "write JOIN, which gives the pairs",
    ),
    "SELECT q.price FROM quotes q FULL JOIN trades t ON q.symbol = t.symbol": (
        "outer joins are not supported: a result comes when both of its tuples are there",
        "write JOIN, which gives the pairs",
    ),
    "SELECT q.price FROM quotes q LEFT SEMI JOIN trades t ON q.symbol = t.symbol": (
        "LEFT SEMI JOIN is not supported yet",
        "write JOIN, which gives every pair",
    ),
    "SELECT q.price FROM quotes q LEFT ANTI JOIN trades t ON q.symbol = t.symbol": (
        "LEFT ANTI JOIN is not supported yet",
        "write JOIN, which gives the pairs",
    ),
    "SELECT q.price FROM quotes q CROSS JOIN trades t": (
        "CROSS JOIN is not supported: every tuple would meet every other",
        "write JOIN ... ON q.symbol = t.symbol",
    ),
    "SELECT price FROM quotes q NATURAL JOIN trades t": (
        "NATURAL JOIN is not supported: a new column would change what it means",
        "name the columns: JOIN trades t USING (symbol)",
    ),
    "SELECT q.price FROM quotes q, LATERAL (SELECT 1)": (
        "LATERAL joins are not supported",
        "write JOIN, which gives the pairs",
    ),
    "SELECT price FROM quotes q WHERE EXISTS (SELECT 1 FROM trades t WHERE t.symbol = q.symbol)": (
        "EXISTS is not supported",
        "write JOIN, which gives the pairs",
    ),
    "SELECT a.price FROM quotes a, quotes b, quotes c WHERE a.symbol = b.symbol AND b.symbol = c.symbol": (
        "joins of more than two streams are not supported yet",
        "join two streams, and their results where they arrive",
    ),
    "SELECT price FROM quotes q WHERE price > 1 JOIN trades t ON q.symbol = t.symbol": (
        "JOIN stands between FROM and WHERE",
        "SELECT ... FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE ...",
    ),
    f"SELECT price {SAME} WHERE {SOON}": (
        'column "price" is in both "q" and "t"',
        "write q.price or t.price",
    ),
    f"SELECT q.price FROM quotes q JOIN trade t ON q.symbol = t.symbol WHERE {SOON}": (
        'stream "trade" is not known',
        'did you mean "trades"?',
    ),
    "SELECT quotes.price FROM quotes JOIN quotes ON quotes.symbol = quotes.symbol": (
        'two joined streams are called "quotes"',
        "give each a name of its own: quotes a JOIN quotes b",
    ),
}


@pytest.mark.parametrize("sql", REFUSED)
def test_a_text_that_is_refused_says_what_to_write(engine: Engine, sql: str) -> None:
    message, hint = REFUSED[sql]
    with pytest.raises(QueryError) as caught:
        engine.add({"fine": ALL_QUOTES, "bad": sql})
    assert (caught.value.message, caught.value.hint) == (message, hint)
    assert str(caught.value).startswith(f'query "bad": {message}')
    assert list(engine) == ["join", "all"] and works(engine)


def test_a_join_cannot_be_replaced_by_one_that_is_refused(engine: Engine) -> None:
    pairs(engine, "quotes", ("A", 1.0, 0))
    with pytest.raises(QueryError, match="not bound in time"):
        engine.replace("join", f"SELECT q.price {SAME}")
    assert pairs(engine, "trades", ("A", 2.0, 1)) == [(1.0, 2.0)]


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("soon", "join_window 'soon' is no length of time"),
        ("1 month", "join_window '1 month' is no length of time"),
        (5, "join_window 5 is no length of time"),
    ],
)
def test_a_join_window_that_is_no_length(window: str | int, message: str) -> None:
    with pytest.raises(EddylineError, match=message):
        Engine(streams=ALL, join_window=window).add("join", f"SELECT q.price {SAME}")


# -- streams


@pytest.mark.parametrize(
    ("lateness", "message", "hint"),
    [
        ("soon", "lateness 'soon' is no length of time", '"10 seconds"'),
        ("", "lateness '' is no length of time", '"10 seconds"'),
        ("5 parsecs", "lateness '5 parsecs' is no length of time", '"10 seconds"'),
        ("5 seconds or so", "lateness '5 seconds or so' is no length of time", '"10 seconds"'),
        ("2 months", "lateness '2 months' is no length of time", "months and years differ in length; give days"),
        (5, "lateness 5 is no length of time", '"10 seconds"'),
        (1.5, "lateness 1.5 is no length of time", '"10 seconds"'),
        (True, "lateness True is no length of time", '"10 seconds"'),
        (timedelta(seconds=-1), "is negative", None),
        ("99999999999999999999 days", "is too long", None),
    ],
)  # fmt: skip
def test_a_lateness_that_is_no_duration(lateness: Any, message: str, hint: str | None) -> None:
    with pytest.raises(SchemaError, match=re.escape(message)) as caught:
        Stream("quotes", SCHEMA, event_time="ts", lateness=lateness)
    assert hint is None or hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"lateness": "5 seconds"},
            'stream "quotes" has no event time, which lateness, ahead and idle speak of',
        ),
        ({"event_time": "at"}, 'stream "quotes" has no column "at" to be its event time'),
        (
            {"event_time": "symbol", "lateness": "5 seconds"},
            'the event time "symbol" of stream "quotes" has the type string',
        ),
        (
            {"event_time": "price", "lateness": 5},
            'the event time "price" of stream "quotes" has the type double',
        ),
        ({"event_time": "ts", "ahead": "far"}, "ahead 'far' is no length of time"),
    ],
)
def test_an_event_time_that_is_none(said: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Stream("quotes", SCHEMA, **said)
    assert caught.value.message == message


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with Registry.open(tmp_path / "registry.db") as registry:
        registry.declare(QUOTES)
        registry.declare(TRADES)
        yield registry


def redeclare(registry: Registry, engine: Engine, **said: Any) -> int:
    stream = Stream("quotes", said.pop("schema", SCHEMA), **{"event_time": "ts", **said})
    registry.declare(stream, check=lambda query: Verdict())
    return engine.sync()


def test_a_stream_that_is_declared_otherwise_loses_its_tuples(
    registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    engine = new_engine(streams=None, registry=registry)
    pairs(engine, "quotes", ("A", 1.0, 0))
    pairs(engine, "trades", ("B", 2.0, 0))
    redeclare(registry, engine, lateness="1 minute")
    assert pairs(engine, "trades", ("A", 3.0, 1)) == []  # the quote of A is gone
    assert caplog.messages == [
        'stream "quotes" was redeclared: 1 tuples that were kept for joins are dropped'
    ]
    pairs(engine, "quotes", ("A", 4.0, 1))
    assert pairs(engine, "trades", ("A", 5.0, 2)) == [(4.0, 5.0)]
    assert list(engine) == ["join", "all"] and engine.problems == [] and works(engine)


def test_the_state_knows_of_other_declarations_before_the_next_push(registry: Registry) -> None:
    engine = new_engine(streams=None, registry=registry)
    pairs(engine, "quotes", ("A", 1.0, 0))
    pairs(engine, "trades", ("B", 2.0, 0))
    redeclare(registry, engine, lateness="1 minute")
    found = engine.state()
    assert [(stream.stream, stream.rows) for stream in found.streams] == [("trades", 1)]
    assert [(kept.stream, kept.tuples) for kept in found.kept] == [("quotes", 0), ("trades", 1)]
    redeclare(registry, engine, lateness="2 minutes")
    engine.advance("quotes", NOON)
    assert [stream.watermark for stream in engine.state().streams if stream.stream == "quotes"] == [NOON]
    assert engine.push("quotes", batch(("B", 3.0, -1))).ledger.left_out == {"late": 1}


def test_a_stream_that_says_no_lateness_any_more(registry: Registry) -> None:
    engine = new_engine(streams=None, registry=registry)
    pairs(engine, "quotes", ("A", 1.0, 0))
    redeclare(registry, engine)
    assert [str(problem) for problem in engine.problems] == [
        'query "join": stream "quotes" declares no lateness\n'
        'hint: Stream(..., event_time="ts", lateness="10 seconds"); in a shell --lateness'
    ]
    assert list(engine) == ["all"]
    assert engine.push("quotes", batch(("A", 1.0, 0))).of("all").num_rows == 1
    redeclare(registry, engine, lateness="10 seconds")
    assert set(engine) == {"all", "join"} and works(engine)


def test_a_stream_that_lacks_the_key_now(registry: Registry) -> None:
    engine = new_engine(streams=None, registry=registry)
    pairs(engine, "quotes", ("A", 1.0, 0))
    other = pa.schema({"price": pa.float64(), "ts": TIMESTAMP})
    redeclare(registry, engine, schema=other, lateness="10 seconds")
    assert [problem.message for problem in engine.problems] == ['stream "quotes" has no column "symbol"']
    assert engine.push("quotes", batch(("A", 1.0, 0)).select(["price", "ts"])).of("all").num_rows == 1
    redeclare(registry, engine, lateness="10 seconds")
    assert works(engine)


# -- tuples


def test_a_window_of_a_thousand_years() -> None:
    engine = new_engine(JOIN.replace("5 SECONDS", "365250 DAYS"))
    then = datetime(1026, 1, 5, 12, tzinfo=UTC)
    pairs(engine, "quotes", ("A", 1.0, then - timedelta(days=10)), ("A", 2.0, then))
    assert pairs(engine, "trades", ("A", 3.0, 0)) == [(2.0, 3.0)]
    assert engine.state().kept[0].kept_for == "365250 days"
    assert works(engine)


def test_one_key_in_half_of_the_rows(caplog: pytest.LogCaptureFixture) -> None:
    engine = new_engine(joins=JoinSettings(max_pairs=1_000))
    rows: list[Row] = [("hot" if n % 2 else f"cold {n}", float(n), 0) for n in range(400)]
    pairs(engine, "quotes", *rows)
    found = pairs(engine, "trades", *rows)
    hot = range(1, 400, 2)
    expected = {(float(q), float(t)) for t in hot for q in hot} | {(float(n),) * 2 for n in range(0, 400, 2)}
    assert len(found) == 200 * 200 + 200 and set(found) == expected
    assert found == sorted(found, key=lambda pair: pair[::-1])  # by the trade, then by the quote, as ever
    assert caplog.messages == ["400 rows find more than 1000 pairs of joins; they are taken in parts"]
    assert engine.ledger.of("join").delivered == len(found)


def test_a_tuple_from_the_year_9999(engine: Engine) -> None:
    far = datetime(9999, 12, 31, tzinfo=UTC)
    deliveries = engine.push("quotes", batch(("A", 1.0, 0), ("A", 9.0, far), ("A", 2.0, 1)))
    assert deliveries.of("all").num_rows == 3  # queries of one stream see all of them
    assert deliveries.ledger.left_out == {"ahead": 1}
    assert engine.push("quotes", batch(("A", 3.0, -8))).ledger.left_out == {}  # nobody is late for it
    assert pairs(engine, "trades", ("A", 4.0, 2), ("A", 9.0, far)) == [(1.0, 4.0), (2.0, 4.0)]
    assert engine.ledger.totals.left_out == {"ahead": 2}
    assert {each.stream: each.left_out for each in engine.state().streams} == {
        "quotes": {"ahead": 1},
        "trades": {"ahead": 1},
    }


def test_tuples_that_are_late_or_have_no_time(engine: Engine) -> None:
    quotes = batch(("A", 1.0, 100), ("A", 2.0, 89.9), ("A", 3.0, 90), ("A", 4.0, None), (None, 5.0, 100))
    deliveries = engine.push("quotes", quotes)
    assert deliveries.of("all").num_rows == 5
    assert deliveries.ledger.left_out == {"late": 1, "no time": 1}
    assert pairs(engine, "trades", ("A", 6.0, 90), (None, 7.0, 100), ("A", 8.0, 100)) == [
        (3.0, 6.0),
        (1.0, 8.0),
    ]


def test_tuples_beyond_all_times(engine: Engine) -> None:
    far = pa.array([2**62, -(2**62), 0], TIMESTAMP)
    rows = pa.record_batch({"symbol": ["A"] * 3, "price": [1.0] * 3, "ts": far})
    assert engine.push("quotes", rows).ledger.left_out == {"out of range": 2}
    assert engine.push("trades", rows).of("join").num_rows == 1


# -- batches


@pytest.mark.parametrize("column", ["symbol", "price", "ts"])
def test_a_batch_that_lacks_what_joins_read(engine: Engine, column: str) -> None:
    pairs(engine, "quotes", ("A", 1.0, 0))
    before = engine.state(), engine.ledger.totals
    without = batch(("A", 2.0, 0)).drop_columns([column])
    with pytest.raises(SchemaError, match=f'the batch for stream "trades" has no column "{column}"'):
        engine.push("trades", without)
    assert (engine.state(), engine.ledger.totals) == before
    assert pairs(engine, "trades", ("A", 2.0, 0)) == [(1.0, 2.0)]


def test_a_column_that_only_removed_joins_read_may_be_missing(engine: Engine) -> None:
    engine.replace("join", f"SELECT q.price AS quoted, t.symbol AS paid {SAME} WHERE {SOON}")
    pairs(engine, "quotes", ("A", 1.0, 0))
    found = engine.push("trades", batch(("A", 2.0, 0)).drop_columns(["price"])).of("join")
    assert found.to_pylist() == [{"quoted": 1.0, "paid": "A"}]


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("symbol", [5], 'has the type int64, but string is declared'),
        ("price", ["dear"], 'has the type string, but double is declared'),
        ("ts", ["noon"], 'has the type string, but timestamp is declared'),
        ("ts", [5], 'has the type int64, but timestamp is declared'),
    ],
)  # fmt: skip
def test_a_column_of_another_type(engine: Engine, column: str, values: list[Any], said: str) -> None:
    pairs(engine, "quotes", ("A", 1.0, 0))
    before = engine.state(), engine.ledger.totals
    good = batch(("A", 2.0, 0))
    wrong = good.set_column(good.schema.get_field_index(column), column, pa.array(values))
    with pytest.raises(SchemaError, match=f'column "{column}" of the batch for stream "trades" {said}'):
        engine.push("trades", wrong)
    assert (engine.state(), engine.ledger.totals) == before
    assert pairs(engine, "trades", ("A", 2.0, 0)) == [(1.0, 2.0)]


def test_a_column_without_a_type_in_spark_is_handed_through() -> None:
    schema = SCHEMA.append(pa.field("clock", pa.time32("s")))
    streams = [Stream(name, schema, event_time="ts", lateness="10 seconds") for name in ("quotes", "trades")]
    engine = new_engine(f"SELECT * {SAME} WHERE {SOON}", streams=streams)
    clock = pa.array([5], pa.time32("s"))
    quote, trade = (batch(("A", price, 0)) for price in (1.0, 2.0))
    engine.push("quotes", quote.append_column("clock", clock))
    found = engine.push("trades", trade.append_column("clock", clock.cast(pa.time64("ns")))).of("join")
    assert [found[name].cast(pa.int32()).to_pylist() for name in ("q_clock", "t_clock")] == [[5], [5]]
    assert found.schema.field("t_clock").type == pa.time32("s")
    wrong = trade.append_column("clock", pa.array(["noon"]))
    with pytest.raises(SchemaError, match=re.escape("has the type string, but time32[s] is declared")):
        engine.push("trades", wrong)


def test_empty_batches(engine: Engine) -> None:
    for stream in ("quotes", "trades", "quotes"):
        assert pairs(engine, stream) == []
    assert engine.push("quotes", pa.Table.from_batches([], SCHEMA)).of("join").num_rows == 0
    assert engine.ledger.totals == PushTotals(batches=4)
    assert engine.state().tuples == 0 and works(engine)


def test_the_same_batch_twice(tmp_path: Path) -> None:
    """With a folder for deliveries a batch is known by its id; its tuples are kept for joins once."""
    with new_engine(deliveries=tmp_path) as engine:
        quote, trade = batch(("A", 1.0, 0)), batch(("A", 2.0, 1))
        for _ in range(2):
            engine.push("quotes", quote, batch_id="1")
        first, again = (engine.push("trades", trade, batch_id="1") for _ in range(2))
        assert first.of("join").num_rows == 1 and again.repeated
        assert again.of("join").to_pylist() == first.of("join").to_pylist()
        assert engine.ledger.of("join") == Account(matches=1, delivered=1)


def test_after_a_restart_joins_start_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with new_engine(deliveries=tmp_path) as engine:
        engine.push("quotes", batch(("A", 1.0, 0)), batch_id="1")
    assert caplog.messages == []
    with new_engine(deliveries=tmp_path) as engine:
        assert engine.push("quotes", batch(("A", 1.0, 0)), batch_id="1").repeated
        assert pairs(engine, "trades", ("A", 2.0, 1)) == []
        assert caplog.messages == [
            "joins start empty: tuples from before the restart are lost; "
            "engine.state() tells from which event time on joins are complete"
        ]
        # first tuple, lateness and window: whatever partners a later tuple has came after the restart
        assert engine.state().streams[0].complete_from == NOON + timedelta(seconds=1 + 10 + 5)
        assert works(engine)


# -- joins that fail or go


@pytest.mark.parametrize("part", ["eddyline.join.state.keys_of", "eddyline.join.step.evaluate_shape"])
def test_a_join_that_cannot_be_evaluated_is_told_of(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = new_engine(f"{JOIN} AND t.price > q.price * 1.5")
    pairs(engine, "quotes", ("A", 1.0, 0))

    def fail(*_: object) -> None:
        raise ValueError("it is broken")

    monkeypatch.setattr(part, fail)
    found = engine.push("trades", batch(("A", 2.0, 1)))
    assert [(each.queries, str(each.error)) for each in found.errors] == [(("join",), "it is broken")]
    assert (engine.ledger.of("join").errors, engine.ledger.totals.total.errors) == (1, 1)


def test_tuples_go_with_the_last_join(engine: Engine) -> None:
    pairs(engine, "quotes", ("A", 1.0, 0))
    assert engine.state().tuples == 1
    engine.remove("join")
    engine.push("quotes", batch(("A", 1.0, 1)))
    assert (engine.state().tuples, engine.state().bytes) == (0, 0)


def test_keys_of_joins_that_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddyline.standing.version.FEW", 0)
    engine = new_engine()
    for number in range(50):
        key = f"q.symbol = substring(t.symbol, 1, {number + 1})"
        engine.replace("join", f"{JOIN} AND {key} AND t.price > q.price + {number}".replace(SAME, OPEN))
        pairs(engine, "quotes", ("A", 1.0, 0))
        engine.merge()
    engine.remove("join")
    engine.merge()
    engine.add("join", JOIN)
    assert works(engine)
    assert [each.key for each in engine.state().kept] == ["symbol", "symbol"]


def test_tuples_are_late_by_those_that_nobody_joined() -> None:
    engine = Engine(ALL, clock=lambda: NOON)
    named_otherwise = [name.upper() for name in SCHEMA.names]
    engine.push("quotes", batch(("A", 1.0, 60)).rename_columns(named_otherwise))
    engine.add("join", JOIN)
    engine.push("quotes", batch(("A", 1.0, 0)))
    assert engine.ledger.totals.left_out == {"late": 1}


# -- limits


def test_no_more_memory_and_no_folder(tmp_path: Path) -> None:
    engine = new_engine(joins=JoinSettings(max_bytes=4_000), deliveries=tmp_path)
    few: list[Row] = [("A", float(n), 0) for n in range(20)]
    many: list[Row] = [("A", float(n), 0) for n in range(20, 90)]
    pairs(engine, "quotes", *few)
    before = engine.state(), engine.ledger.totals
    with pytest.raises(
        EddylineError, match=r"would take \d+ bytes .* \"quotes\", more than max_bytes=4000"
    ) as caught:
        engine.push("quotes", batch(*many), batch_id="many")
    assert caught.value.hint == "give JoinSettings a folder or a higher max_bytes, or joins narrower windows"
    assert (engine.state(), engine.ledger.totals) == before
    assert ("quotes", "many") not in engine.log  # type: ignore[operator]
    assert pairs(engine, "trades", ("A", -1.0, 1)) == [(float(n), -1.0) for n in range(20)]
    engine.advance("trades", NOON + timedelta(seconds=6))  # the first quotes are not needed any more
    assert engine.state().kept[0].tuples == 0
    with pytest.raises(EddylineError, match="max_bytes"):
        engine.push("quotes", batch(*many, *many), batch_id="many")
    later: list[Row] = [(symbol, price, 6) for symbol, price, _ in many]
    assert not engine.push("quotes", batch(*later), batch_id="many").repeated
    assert pairs(engine, "trades", ("A", -2.0, 6)) == [(float(n), -2.0) for n in range(20, 90)]
    assert engine.ledger.of("all").delivered == 90


def on_disk(folder: Path) -> list[str]:
    """Mapped files of a folder; they have no name any more."""
    return [line for line in Path("/proc/self/maps").read_text().splitlines() if str(folder) in line]


def test_no_more_memory_and_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "joins"
    wide = JOIN.replace("5 SECONDS", "10 MINUTES")
    engine = new_engine(wide, joins=JoinSettings(max_bytes=3_000, folder=str(folder)))
    for second in range(30):
        pairs(engine, "quotes", *(("A", float(10 * second + n), second) for n in range(10)))
    assert engine.state().bytes <= 3_000 < engine.state().spilled
    assert pairs(engine, "trades", ("A", -1.0, 30)) == [(float(n), -1.0) for n in range(300)]
    assert list(folder.iterdir()) == []  # so that nothing is left when the process is killed
    if sys.platform == "linux":
        assert on_disk(folder)
    engine.close()
    gc.collect()
    if sys.platform == "linux":
        assert not on_disk(folder)


def test_a_folder_that_cannot_be_made_is_found_out_with_the_engine(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "joins"
    with pytest.raises(FileError) as caught:
        new_engine(joins=JoinSettings(max_bytes=500, folder=str(folder)))
    assert (
        caught.value.message == f'no file for tuples of joins can be written to "{folder}": Not a directory'
    )
    assert caught.value.hint == "give JoinSettings another folder"


def test_a_folder_that_can_no_longer_be_written_to(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    obstacle = tmp_path / "joins"
    engine = new_engine(joins=JoinSettings(max_bytes=500, folder=str(obstacle)))
    obstacle.rmdir()
    obstacle.write_text("")
    pairs(engine, "quotes", *(("A", float(n), 0) for n in range(30)))
    assert "tuples of joins stay in memory: no file for tuples of joins can be written" in caplog.text
    with pytest.raises(FileError, match="no file for tuples of joins can be written") as caught:
        engine.push("quotes", batch(("A", 30.0, 0)))
    assert caught.value.hint == "give JoinSettings another folder"
    assert engine.ledger.of("all").delivered == 30
    obstacle.unlink()
    pairs(engine, "quotes", ("A", 30.0, 0))
    assert pairs(engine, "trades", ("A", -1.0, 0)) == [(float(n), -1.0) for n in range(31)]


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = new_engine(joins=JoinSettings(max_bytes=500, folder=str(tmp_path)))

    def full(**_: object) -> IO[bytes]:
        return Path("/dev/full").open("w+b", buffering=4096)

    with monkeypatch.context() as patch:
        patch.setattr("eddyline.join.spill.tempfile.TemporaryFile", full)
        pairs(engine, "quotes", *(("A", float(n), 0) for n in range(30)))
        with pytest.raises(FileError, match=r"joins can be written to .* No space left on device"):
            engine.push("quotes", batch(("A", 30.0, 0)))
    pairs(engine, "quotes", ("A", 30.0, 0))
    assert pairs(engine, "trades", ("A", -1.0, 0)) == [(float(n), -1.0) for n in range(31)]


@pytest.mark.parametrize(
    "settings", [{"max_bytes": 0}, {"max_bytes": "5 MB"}, {"max_pairs": None}, {"max_pairs": 1.5}]
)
def test_limits_that_make_no_sense(settings: dict[str, Any]) -> None:
    ((name, value),) = settings.items()
    with pytest.raises(SettingsError) as caught:
        JoinSettings(**settings)
    assert caught.value.message == f"{name} {value!r} makes no sense"
    assert caught.value.hint == "a whole number from 1 on"


# -- receivers, advance, the end


def test_a_callback_that_raises(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    def broken(table: pa.Table) -> None:
        raise ValueError("no such thing")

    seen: list[int] = []
    engine.on("join", broken)
    engine.on("join", lambda table: seen.append(table.num_rows))
    pairs(engine, "quotes", ("A", 1.0, 0))
    deliveries = engine.push("trades", batch(("A", 2.0, 0), ("A", 3.0, 0)))
    assert [(error.what, error.queries) for error in deliveries.errors] == [("callback", ("join",))]
    assert seen == [2] and "no such thing" in caplog.text
    assert pairs(engine, "trades", ("A", 4.0, 0)) == [(1.0, 4.0)]  # the first trades are not told again
    assert engine.ledger.of("join") == Account(matches=3, delivered=3, errors=2)


def test_a_callback_that_removes_its_join(engine: Engine) -> None:
    engine.on("join", lambda table: engine.remove("join"))
    pairs(engine, "quotes", ("A", 1.0, 0))
    (table,) = engine.push("trades", batch(("A", 2.0, 0), ("A", 3.0, 0)))
    assert table["paid"].to_pylist() == [2.0, 3.0]
    assert list(engine) == ["all"] and len(engine.push("trades", batch(("A", 4.0, 0)))) == 0


@pytest.mark.parametrize(
    ("stream", "to", "message", "hint"),
    [
        ("quotes", 5, '5 is no event time of stream "quotes"', "a datetime with a time zone"),
        ("quotes", None, 'None is no event time of stream "quotes"', "a datetime with a time zone"),
        ("quotes", "noon", "'noon' is no event time of stream \"quotes\"", "a datetime with a time zone"),
        ("quotes", NOON.replace(tzinfo=None), "is no event time of stream", "a datetime with a time zone"),
        ("quotes", NOON.date(), "is no event time of stream", "a datetime with a time zone"),
        ("daily", NOON, "is no event time of stream", "give a date"),
        ("counted", True, "is no event time of stream", "give a whole number"),
        ("timeless", NOON, 'stream "timeless" has no event time', 'Stream(..., event_time="ts"'),
        ("news", NOON, 'stream "news" is not known', "name one of quotes, trades"),
    ],
)
def test_a_stream_is_advanced_to_what_is_no_time(
    engine: Engine, stream: str, to: Any, message: str, hint: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        engine.advance(stream, to)
    assert message in caught.value.message and hint in (caught.value.hint or "")
    assert works(engine)


def test_a_stream_is_advanced_back(engine: Engine) -> None:
    engine.advance("quotes", NOON)
    engine.advance("quotes", NOON - timedelta(days=1))  # what was said holds
    assert engine.push("quotes", batch(("A", 1.0, -1), ("A", 2.0, 0))).ledger.left_out == {"late": 1}
    assert pairs(engine, "trades", ("A", 3.0, 0)) == [(2.0, 3.0)]


def test_what_can_be_advanced_to(engine: Engine) -> None:
    for stream, to in (("daily", date(2026, 1, 5)), ("counted", 5), ("QUOTES", NOON)):
        assert len(engine.advance(stream, to)) == 0
    assert works(engine)


def test_a_closed_engine(engine: Engine) -> None:
    pairs(engine, "quotes", ("A", 1.0, 0))
    engine.close()
    for call in (
        lambda: engine.push("trades", batch(("A", 2.0, 0))),
        lambda: engine.advance("trades", NOON),
        lambda: engine.add("more", JOIN),
        lambda: engine.remove("join"),
    ):
        with pytest.raises(EddylineError, match="the engine is closed"):
            call()
    assert engine.state().tuples == 0 and engine.ledger.totals.tuples == 1
    assert engine["join"].stream == "quotes q JOIN trades t"


# -- whole tables


def test_tables_that_are_not_there() -> None:
    queries = QuerySet.build({"join": JOIN, "all": ALL_QUOTES}, streams=ALL)
    with pytest.raises(SchemaError, match='joins read stream "trades", of which there is no table') as caught:
        queries.join({"quotes": batch()})
    assert caught.value.hint == "join({'quotes': ..., 'trades': ...})"
    with pytest.raises(SchemaError, match='stream "news" is not known'):
        queries.join({"quotes": batch(), "trades": batch(), "news": batch()})
    with pytest.raises(EddylineError, match='query "join" is a join, whose matches are pairs of rows'):
        queries.match(batch(), stream="quotes").rows("join")
    with pytest.raises(EddylineError, match="the set has no joins"):
        QuerySet.build({"all": ALL_QUOTES}, streams=ALL).join({"quotes": batch()})


def test_tables_of_which_nothing_is_late() -> None:
    queries = QuerySet.build({"join": JOIN}, streams=ALL)
    far = datetime(9999, 12, 31, tzinfo=UTC)
    quotes = batch(("A", 1.0, far), ("A", 2.0, 0), ("A", 3.0, None), ("A", 4.0, -1e6))
    trades = batch(("A", 1.0, -1e6), ("A", 2.0, far), ("A", 3.0, 5), ("A", 4.0, None))
    found = queries.join({"quotes": quotes, "trades": trades})
    assert set(zip(*(rows.tolist() for rows in found.rows("join")), strict=True)) == {(0, 1), (1, 2), (3, 0)}


def test_failures_of_residuals_and_keys_are_in_the_account_of_the_join() -> None:
    engine = new_engine(
        f"SELECT q.price AS quoted {SAME} AND CAST(q.symbol AS INT) / t.price > 1 WHERE {SOON}"
    )
    engine.push("quotes", batch(("A", 1.0, 0)))
    assert engine.push("trades", batch(("A", 1.0, 0))).ledger.total.failures == 1
    assert engine.ledger.of("join").failures == 1
    keys = "CAST(q.symbol AS INT) = CAST(t.symbol AS INT)"
    engine = new_engine(f"SELECT q.price AS quoted FROM quotes q JOIN trades t ON {keys} WHERE {SOON}")
    assert engine.push("quotes", batch(("A", 1.0, 0))).ledger.total.failures == 1
    assert engine.ledger.of("join").failures == 1


def test_what_is_no_mapping_of_tables() -> None:
    with pytest.raises(EddylineError, match="tables are given by stream"):
        QuerySet.build({"join": JOIN}, streams=ALL).join(batch())


def test_rows_of_a_query_that_is_no_join() -> None:
    queries = QuerySet.build({"join": JOIN, "all": ALL_QUOTES}, streams=ALL)
    with pytest.raises(EddylineError, match='query "all" is no join'):
        queries.join({"quotes": batch(), "trades": batch()}).rows("all")


def test_a_join_window_is_checked_at_once() -> None:
    with pytest.raises(EddylineError, match="join_window 'soon' is no length of time"):
        Engine(streams=ALL, join_window="soon")


@pytest.mark.parametrize("clock", [lambda: NOON.replace(tzinfo=None), lambda: 5])
def test_a_clock_without_zone(clock: Any) -> None:
    engine = Engine(streams=ALL, clock=clock)
    engine.add("join", JOIN)
    with pytest.raises(EddylineError, match="the clock of the engine shows"):
        engine.push("quotes", batch(("A", 1.0, 0)))


@pytest.mark.parametrize("folder", [5, ""])
def test_a_folder_that_is_none(folder: Any) -> None:
    with pytest.raises(EddylineError, match="makes no sense"):
        JoinSettings(max_bytes=100, folder=folder)


def test_why_and_the_engine_agree_on_dates_that_are_out_of_range() -> None:
    days = pa.schema({"k": pa.int32(), "day": pa.date32()})
    streams = [Stream(name, days, event_time="day", lateness="1 day", ahead="50000000 days") for name in "ab"]
    text = "SELECT a.k FROM a JOIN b ON a.k = b.k AND b.day = a.day"
    far = pa.record_batch(
        [pa.array([1], pa.int32()), pa.array([53_500_000], pa.int32()).cast(pa.date32())], schema=days
    )
    engine = Engine(streams=streams)
    engine.add("join", text)
    engine.push("a", far)
    assert engine.push("b", far).ledger.left_out == {"out of range": 1}
    assert not engine.why("join", {"a": far, "b": far}).matched
