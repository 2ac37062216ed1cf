"""Changes, deliveries and accounts of the engine, with hand-made queries."""

from __future__ import annotations

import logging
import pickle
import threading
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine, LedgerError, QueryError, QuerySet, RegistryError, SchemaError, Stream
from eddyline.config import IndexSettings
from eddyline.errors import EddylineError
from eddyline.execute.reading import batch as batch_module
from eddyline.model.query import StandingQuery
from eddyline.project.account import Account
from eddyline.project.select_list import SelectedValues, SelectList
from eddyline.project.stage import Results
from eddyline.registry import Put

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.int64())]))
TRADES = Stream("trades", pa.schema([("size", pa.int32())]))
BATCH = pa.record_batch({"symbol": ["A", "B", "C"], "price": [5, 50, 0]})


@pytest.fixture
def engine() -> Engine:
    return Engine(streams=[QUOTES, TRADES])


def ids(table: pa.Table) -> list[str]:
    return table["query"].to_pylist()


def test_a_query_sees_what_comes_after_it(engine: Engine) -> None:
    assert engine.version == 0 and len(engine.push("quotes", BATCH)) == 0
    assert engine.add("all", "SELECT symbol FROM quotes") == 1
    (table,) = engine.push("quotes", BATCH)
    assert table.schema == pa.schema(
        {
            "query": pa.string(),
            "number": pa.int64(),
            "revision": pa.int32(),
            "version": pa.int64(),
            "symbol": pa.string(),
        }
    )
    assert table.num_rows == 3
    assert engine.remove("all") == 2 and "all" not in engine
    assert len(engine.push("quotes", BATCH)) == 0


def test_many_at_once_are_one_change(engine: Engine) -> None:
    engine.add({"a": "SELECT * FROM quotes", "b": "SELECT * FROM quotes", "c": "SELECT size FROM trades"})
    version = engine.change(
        add={"d": "SELECT * FROM quotes"}, remove=["a"], replace={"b": "SELECT * FROM quotes WHERE price > 9"}
    )
    assert (version, list(engine.queries())) == (2, ["c", "d", "b"])
    (table,) = engine.push("quotes", BATCH)
    assert ids(table) == ["d", "d", "b", "d"]
    assert table["revision"].to_pylist() == [1, 1, 2, 1] and set(table["version"].to_pylist()) == {2}
    assert table["number"].to_pylist() == [3, 3, 4, 3]
    assert engine.change() == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"add": {"b": "SELECT * FROM quotes", "a": "SELECT * FROM quotes"}}, "the id is taken already"),
        ({"add": {"b": "SELECT * FROM quotes"}, "remove": ["x"]}, "there is no such query"),
        (
            {"add": {"b": "SELECT * FROM quotes"}, "replace": {"x": "SELECT * FROM quotes"}},
            "there is no such",
        ),
        ({"add": {"b": "SELECT prise FROM quotes"}, "remove": ["a"]}, 'no column "prise"'),
        ({"remove": ["a", "a"]}, "names it twice"),
    ],
)
def test_nothing_happens_if_one_is_refused(engine: Engine, change: dict, message: str) -> None:
    engine.add("a", "SELECT * FROM quotes")
    with pytest.raises(QueryError, match=message):
        engine.change(**change)
    assert engine.version == 1 and list(engine.queries()) == ["a"]
    assert engine.push("quotes", BATCH).rows == 3


def test_a_change_that_breaks_leaves_no_trace(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.add("a", "SELECT * FROM quotes")
    with monkeypatch.context() as patch:
        patch.setattr("eddyline.standing.merging.building.Building.segments", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            engine.change(add={"b": "SELECT symbol FROM quotes"}, remove=["a"])
    assert engine.version == 1
    assert engine.push("quotes", BATCH).rows == 3
    engine.change(add={"b": "SELECT symbol FROM quotes"}, remove=["a"])
    assert engine.push("quotes", BATCH).of("b")["symbol"].to_pylist() == ["A", "B", "C"]


def test_one_table_for_each_distinct_select_list(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    applied = []
    values = SelectList.values

    def counted(self: SelectList, *rest: Any, **named: Any) -> SelectedValues:
        applied.append(self)
        return values(self, *rest, **named)

    monkeypatch.setattr(SelectList, "values", counted)
    engine.add({f"q{i}": f"SELECT symbol, price + 1 AS p FROM quotes WHERE price > {i}" for i in range(40)})
    engine.add({"one": "SELECT symbol FROM quotes WHERE price = 50"})
    deliveries = engine.push("quotes", BATCH)
    assert len(deliveries) == len(applied) == 2
    assert deliveries.of("q7").to_pylist() == [{"symbol": "B", "p": 51}]
    assert deliveries.of("one").to_pylist() == [{"symbol": "B"}]
    assert engine.push("quotes", BATCH.slice(2)).of("q7").schema.names == ["symbol", "p"]
    with pytest.raises(EddylineError, match='there is no query "x"'):
        deliveries.of("x")


def test_rows_that_nobody_needs_are_let_go(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddyline.standing.version.FEW", 20)
    for number in range(300):
        engine.add(f"q{number}", f"SELECT symbol FROM quotes WHERE price > {number % 7}")
        if number >= 10:
            engine.remove(f"q{number - 10}")
        assert set(ids(next(iter(engine.push("quotes", BATCH))))) == set(engine.queries())
        if number % 50 == 0:
            engine.merge()
    assert engine._standing.current.table.size <= 128 and engine._standing.current.epoch > 0
    delivered = next(iter(engine.push("quotes", BATCH)))
    assert delivered["number"][0].as_py() == 290 and engine["q299"].sql.endswith("> 5")
    engine.ledger.check()
    assert engine.ledger.totals.total.matches == engine.ledger.removed.matches + sum(
        account.matches for account in engine.ledger.queries().values()
    )


def test_a_select_list_that_fails_does_not_stop_the_others(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.add(
        {"a": "SELECT symbol FROM quotes WHERE price < 9", "b": "SELECT price FROM quotes WHERE price < 9"}
    )
    deliveries = engine.push("quotes", BATCH.select(["price"]))
    assert deliveries.of("b").num_rows == 2
    (error,) = deliveries.errors
    assert error.what == "projection" and error.queries == ("a",) and isinstance(error.error, SchemaError)
    (record,) = caplog.records
    assert record.exc_info is not None and 'no column "symbol"' in str(record.exc_info[1])
    assert engine.ledger.of("a") == Account(matches=2, undelivered=2, errors=1)
    assert engine.ledger.of("b") == Account(matches=2, delivered=2)
    engine.ledger.check()


def test_failures_are_counted_by_query_and_expression(engine: Engine) -> None:
    engine.add(
        {"a": "SELECT symbol FROM quotes WHERE 1000 % price >= 0", "b": "SELECT 7 % price AS r FROM quotes"}
    )
    engine.push("quotes", BATCH)
    engine.add("late", "SELECT symbol FROM quotes WHERE 1000 % price >= 0")
    engine.push("quotes", BATCH.slice(0, 1))
    assert engine.ledger.of("a").failures == 1 and engine.ledger.of("late").failures == 0
    assert list(engine.ledger.failures("a").values()) == [1]
    assert list(engine.ledger.failures("b").values()) == [1] and "%" in next(
        iter(engine.ledger.failures("b"))
    )
    engine.push("quotes", BATCH)
    engine.replace("a", "SELECT symbol FROM quotes WHERE price > 100")
    assert (engine.ledger.of("a").failures, engine.ledger.of("late").failures) == (2, 1)
    assert engine.ledger.totals.total.failures == 4


def test_the_account_of_a_batch(engine: Engine) -> None:
    engine.add(
        {"a": "SELECT symbol FROM quotes WHERE price < 9", "none": "SELECT * FROM quotes WHERE price < -1"}
    )
    account = engine.push("quotes", BATCH).ledger
    assert (account.tuples, account.matched, account.deliveries, dict(account.queries)) == (3, 2, 1, {"a": 2})
    assert account.total == Account(matches=2, delivered=2)
    assert engine.ledger.totals.tuples == 3 and engine.ledger.of("none") == Account()


def test_deliveries_travel_to_other_processes(engine: Engine) -> None:
    engine.add(
        {"cheap": "SELECT symbol FROM quotes WHERE price < 10", "none": "SELECT * FROM quotes WHERE false"}
    )
    found = engine.push("quotes", BATCH)
    again = pickle.loads(pickle.dumps(found))
    assert again.tables == found.tables and again.ledger == found.ledger and repr(again) == repr(found)
    assert again.of("cheap") == found.of("cheap") and found.of("none").num_rows == 0
    with pytest.raises(EddylineError, match='query "none" has no rows here, and only its engine knows'):
        again.of("none")


def test_what_does_not_add_up_is_told(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.add("a", "SELECT symbol FROM quotes WHERE price < 9")
    monkeypatch.setattr(Results, "selected", lambda *_: [])
    with pytest.raises(LedgerError, match="unaccounted for"):
        engine.push("quotes", BATCH)
    version = engine._standing.current
    wrong = replace(version, segments=(replace(version.segments[0], dead=1),))
    engine._standing.current = wrong
    with pytest.raises(LedgerError, match="2 queries are alive, but 1 are compiled"):
        engine.add({"b": "SELECT size FROM trades"})


def test_bad_pushes(engine: Engine) -> None:
    engine.add("a", "SELECT symbol FROM quotes WHERE price < 9")
    with pytest.raises(EddylineError, match='stream "x" is not known'):
        engine.push("x", BATCH)
    with pytest.raises(SchemaError, match='no column "price"'):
        engine.push("quotes", BATCH.select(["symbol"]))
    assert engine.ledger.totals.batches == 0
    assert engine.push("quotes", BATCH).rows == 2
    with pytest.raises(EddylineError, match="an engine needs streams"):
        Engine()


@pytest.mark.slow
def test_changes_while_pushes_go_on(engine: Engine) -> None:
    """What a version delivers depends on the version alone, whoever changes and merges meanwhile."""
    wanted: dict[int, set[str]] = {0: set()}
    stop = threading.Event()

    def change() -> None:
        alive: list[str] = []
        for number in range(600):
            if number % 3 == 2:
                engine.remove(gone := alive.pop(number * 7 % len(alive)))
                assert gone not in engine
            else:
                alive.append(f"q{number}")
                engine.add(
                    alive[-1],
                    f"SELECT {'symbol' if number % 2 else 'price'} FROM quotes WHERE price < {number}",
                )
            wanted[engine.version] = {id for id in alive if int(id[1:]) > 5}
        stop.set()

    thread = threading.Thread(target=change)
    found = []
    thread.start()
    while not stop.is_set():
        found.append(engine.push("quotes", BATCH.slice(0, 1)))
    thread.join()
    found.append(engine.push("quotes", BATCH.slice(0, 1)))
    assert found[-1].ledger.version == 600
    for deliveries in found:
        assert set(deliveries.ledger.queries) == wanted[deliveries.ledger.version]
        assert {id for table in deliveries for id in ids(table)} == wanted[deliveries.ledger.version]
    engine.ledger.check()


def test_merging_that_breaks_is_logged(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("eddyline.standing.merging.merger.members_of", lambda *_: 1 / 0)
    with caplog.at_level(logging.ERROR, "eddyline.engine"):
        for number in range(40):
            engine.add(f"q{number}", f"SELECT symbol FROM quotes WHERE price < {number}")
        for thread in threading.enumerate():
            if thread.name == "eddyline-merging":
                thread.join()
    assert "merging 2 segments of stream quotes failed" in "\n".join(caplog.messages)
    assert engine.push("quotes", BATCH.slice(0, 1)).ledger.total.matches == 34


BAD_IDS: list[Any] = [1, None, b"a", "", " a", "a ", "a\nb", "a\x00", "\ud800", "x" * 501, "a\u2028b"]


@pytest.mark.parametrize("id", BAD_IDS)
def test_an_id_is_the_same_everywhere(id: Any) -> None:
    engine, sql = Engine([QUOTES]), "SELECT * FROM quotes"
    messages = set()
    for put in (
        lambda: engine.add({"fine": sql, id: sql}),
        lambda: engine.change(replace={id: sql}),
        lambda: QuerySet.build({"fine": sql, id: sql}, streams=[QUOTES]),
        lambda: Put(id, sql),
    ):
        with pytest.raises(QueryError, match=r"the id .* is not accepted") as caught:
            put()
        assert isinstance(caught.value, RegistryError)
        messages.add(str(caught.value))
    assert len(messages) == 1 and len(engine) == 0
    collected = QuerySet.build({"fine": sql, id: sql}, streams=[QUOTES], on_error="collect")
    assert list(collected) == ["fine"] and {str(problem) for problem in collected.problems} == messages


def test_ids_and_texts_that_are_something_else(engine: Engine) -> None:
    with pytest.raises(QueryError, match="the id 5 is not accepted"):
        engine.add(5, "SELECT * FROM quotes")  # type: ignore[arg-type]
    with pytest.raises(EddylineError, match='query "a" has no text'):
        engine.replace("a")
    for bad in (None, 5, b"SELECT * FROM quotes"):
        with pytest.raises(QueryError, match=r'query "a": its text must be a string, not '):
            engine.add({"a": bad})  # type: ignore[dict-item]
        with pytest.raises(QueryError, match=r'query "a": its text must be a string, not '):
            QuerySet.build({"a": bad}, streams=[QUOTES])  # type: ignore[dict-item]
    with pytest.raises(QueryError, match="the text has a lone surrogate"):
        engine.add("a", "SELECT * FROM quotes WHERE symbol = '\ud800'")


@pytest.mark.parametrize(("id", "message"), [(5, "is text, not 5"), ("\udc80", "half of a character")])
def test_the_id_of_a_batch_is_text(engine: Engine, id: Any, message: str) -> None:
    with pytest.raises(EddylineError, match=message):
        engine.push("quotes", BATCH, batch_id=id)


def test_streams_are_found_in_any_case(engine: Engine) -> None:
    engine.add("a", "SELECT symbol FROM Quotes")
    assert engine.push("QUOTES", BATCH).ledger.stream == "quotes"
    assert engine.push("QUOTES", BATCH).of("a").num_rows == 3
    for stream in (5, None, ""):
        with pytest.raises(SchemaError, match="stream"):
            engine.push(stream, BATCH)  # type: ignore[arg-type]


def test_two_streams_of_one_name_are_refused() -> None:
    for other in (QUOTES, Stream("QUOTES", TRADES.schema)):
        with pytest.raises(SchemaError, match='two streams have the name "quotes"'):
            Engine(streams=[QUOTES, TRADES, other])


def test_the_queries_of_an_engine_by_id(engine: Engine) -> None:
    engine.add({"a": "SELECT symbol FROM QUOTES", "b": "SELECT size FROM trades"})
    assert list(engine) == ["a", "b"] and "a" in engine and "c" not in engine
    assert engine["a"] == StandingQuery("a", "SELECT symbol FROM QUOTES", "quotes")
    engine.replace("a", "SELECT price FROM quotes")
    assert engine["a"].sql == "SELECT price FROM quotes" and list(engine) == ["b", "a"]
    with pytest.raises(KeyError, match=r'there is no query "aa"\nhint: did you mean "a"\?'):
        engine["aa"]


def test_a_closed_engine_takes_nothing_and_can_be_read(engine: Engine) -> None:
    engine.add("a", "SELECT symbol FROM quotes")
    deliveries = engine.push("quotes", BATCH)
    engine.close()
    for call in (
        lambda: engine.push("quotes", BATCH),
        lambda: engine.add("b", "SELECT symbol FROM quotes"),
        lambda: engine.replace("a", "SELECT price FROM quotes"),
        lambda: engine.remove("a"),
        lambda: engine.on("a", print),
        engine.deliveries,
        engine.merge,
    ):
        with pytest.raises(EddylineError, match="the engine is closed"):
            call()
    engine.close()
    assert list(engine) == ["a"] and engine.version == 1 and deliveries.of("a").num_rows == 3
    assert engine.ledger.totals.batches == 1


def test_a_wide_table_is_read_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thousands of columns only those that queries read are looked at, whatever the others are."""
    wide = Stream("wide", pa.schema([(f"c{i}", pa.int64()) for i in range(3_000)]))
    engine = Engine([wide])
    engine.add("one", "SELECT c2999 FROM wide WHERE c7 = 5")
    columns = {field.name: pa.array([5]) for field in wide.schema}
    columns["c8"] = pa.array(["not a number"])
    del columns["c9"]
    batch = pa.record_batch(columns)
    assert engine.push("wide", batch).of("one").to_pylist() == [{"c2999": 5}]
    looked: list[str] = []
    conversion = batch_module.conversion
    monkeypatch.setattr(
        batch_module, "conversion", lambda *column: looked.append(str(column)) or conversion(*column)
    )
    for _ in range(3):
        again = pa.record_batch(columns)  # another schema object, the same columns
        assert engine.push("wide", again).of("one").to_pylist() == [{"c2999": 5}]
    assert looked == []
    engine.add("two", "SELECT c9 FROM wide WHERE c7 = 5")
    (error,) = engine.push("wide", batch).errors
    assert 'no column "c9"' in str(error)


def test_what_is_added_are_queries() -> None:
    with pytest.raises(EddylineError, match="'cheap' is no query"):
        Engine([QUOTES]).add(["cheap"])  # type: ignore[list-item]


def test_columns_that_only_removed_queries_read_may_be_missing(engine: Engine) -> None:
    engine.add({f"q{i}": f"SELECT price FROM quotes WHERE price > {i}" for i in range(60)})
    engine.add("named", "SELECT price FROM quotes WHERE symbol = 'A' OR price > 7")
    engine.merge()
    prices = BATCH.select(["price"])
    with pytest.raises(SchemaError, match='no column "symbol"'):
        engine.push("quotes", prices)
    engine.remove("named")
    engine.add("says so", "SELECT price FROM quotes WHERE price = 5 /* whatever its symbol */")
    engine._standing.merger.close()
    assert any(placed.dead for placed in engine._standing.current.segments)
    for _ in range(2):
        assert engine.push("quotes", prices).of("says so").num_rows == 1
    assert engine.push("quotes", BATCH).of("says so").num_rows == 1
    with pytest.raises(SchemaError, match='no column "price"'):
        engine.push("quotes", BATCH.select(["symbol"]))
    engine.add("again", "SELECT price FROM quotes WHERE Symbol = 'A'")
    with pytest.raises(SchemaError, match='no column "symbol"'):
        engine.push("quotes", prices)


def test_merging_everything_ends_while_others_change(engine: Engine) -> None:
    engine.add({f"q{i}": f"SELECT price FROM quotes WHERE price > {i}" for i in range(400)})
    stop = threading.Event()

    def change() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            engine.add(f"more {number}", f"SELECT symbol FROM quotes WHERE price > {number}")

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(3):
            engine.merge()
    finally:
        stop.set()
        thread.join()
    engine.ledger.check()


def test_a_change_stands_though_there_is_no_thread_for_merging(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            threading.Thread, "start", lambda _: raise_error(RuntimeError("can't start new thread"))
        )
        for number in range(40):
            assert engine.add(f"q{number}", f"SELECT symbol FROM quotes WHERE price > {number}") == number + 1
    assert "segments are not merged now: can't start new thread" in caplog.messages
    engine.add("q40", "SELECT symbol FROM quotes")
    for thread in threading.enumerate():
        if thread.name == "eddyline-merging":
            thread.join()
    assert len(engine._standing.current.segments) <= 2


def raise_error(error: Exception) -> None:
    raise error


def test_nothing_piles_up_where_queries_only_change(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddyline.standing.version.FEW", 20)
    engine.add("q", "SELECT symbol FROM quotes")
    for number in range(1, 300):
        engine.replace("q", f"SELECT symbol FROM quotes WHERE {number} % price >= 0")
        if number % 3 == 0:
            engine.push("quotes", BATCH)
    engine.merge()
    assert not engine._ledger._events and engine._standing.current.table.size < 100
    assert len(engine._ledger._failed) < 60
    assert engine.ledger.of("q").failures == 99


def test_small_segments_that_are_dead_are_dropped() -> None:
    engine = Engine([QUOTES], settings=IndexSettings(segment_size=2))
    engine.add("q", "SELECT symbol FROM quotes")
    for number in range(50):
        engine.replace("q", f"SELECT symbol FROM quotes WHERE price > {number}")
    engine.merge()
    assert len(engine._standing.current.segments) == 1
    assert engine.push("quotes", BATCH).of("q")["symbol"].to_pylist() == ["B"]
