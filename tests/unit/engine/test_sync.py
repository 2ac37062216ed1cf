"""An engine whose queries are a registry's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine, QueryError, Stream
from eddyline.errors import EddylineError, RegistryError
from eddyline.project.account import Account
from eddyline.registry import Drop, Put, Registry, Set, State, Verdict
from eddyline.standing.standing import Standing

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.int64())]))
BATCH = pa.record_batch({"symbol": ["A", "B", "C"], "price": [5, 50, 0]})


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with Registry.open(tmp_path / "registry.db") as registry:
        registry.declare(QUOTES)
        yield registry


def test_takes_over_versions(registry: Registry) -> None:
    engine = Engine(registry=registry)
    assert (engine.version, len(engine)) == (1, 0)
    registry.change(
        [Put("a", "SELECT symbol FROM quotes"), Put("b", "SELECT * FROM quotes", state=State.DISABLED)]
    )
    registry.change([Put("a", "SELECT price FROM quotes")])
    assert engine.version == 1
    assert engine.sync() == 3 and list(engine.queries()) == ["a"]
    (table,) = engine.push("quotes", BATCH)
    assert table.to_pylist()[0] == {
        "query": "a",
        "number": registry.entry("a").number,
        "revision": 2,
        "version": 3,
        "price": 5,
    }
    registry.change([Drop("a"), Set("b", state=State.ENABLED)])
    assert engine.sync() == 4 and list(engine.queries()) == ["b"]
    assert engine.sync() == 4


def test_shadows_are_counted_and_not_delivered(registry: Registry) -> None:
    registry.change(
        [Put("a", "SELECT symbol FROM quotes", state=State.SHADOW), Put("b", "SELECT symbol FROM quotes")]
    )
    engine = Engine(registry=registry)
    deliveries = engine.push("quotes", BATCH)
    assert deliveries.of("a").num_rows == 0 and deliveries.of("b").num_rows == 3
    assert engine.ledger.of("a") == Account(matches=3, shadowed=3)
    registry.change([Set("a", state=State.ENABLED)])
    engine.sync()
    assert engine.push("quotes", BATCH).of("a").num_rows == 3
    assert engine.ledger.of("a") == Account(matches=6, shadowed=3, delivered=3)
    engine.ledger.check()


def test_changes_of_the_engine_are_changes_of_the_registry(registry: Registry) -> None:
    engine = Engine(registry=registry)
    registry.change(
        [Put("other", "SELECT * FROM quotes"), Put("off", "SELECT * FROM quotes", state=State.DISABLED)]
    )
    assert engine.add("a", "SELECT symbol FROM quotes") == 3
    assert list(engine.queries()) == ["other", "a"]
    assert engine.replace("a", "SELECT price FROM quotes") == 4 and engine.remove("other") == 5
    assert [(e.id, e.revision) for e in registry.entries(state=State.ENABLED)] == [("a", 2)]
    with pytest.raises(QueryError, match="not evaluated here"):
        engine.add("off", "SELECT price FROM quotes")
    with pytest.raises(QueryError, match="no column"):
        engine.add("b", "SELECT x FROM quotes")
    assert registry.version == engine.version == 5


def test_what_cannot_be_evaluated_is_a_problem(registry: Registry) -> None:
    registry.change(
        [Put("a", "SELECT soundex(symbol) AS s FROM quotes"), Put("b", "SELECT symbol FROM quotes")]
    )
    engine = Engine(registry=registry)
    assert [problem.query for problem in engine.problems] == ["a"] and list(engine.queries()) == ["b"]


def test_streams_may_change(registry: Registry) -> None:
    registry.change([Put("a", "SELECT * FROM quotes WHERE price > 9")])
    engine = Engine(registry=registry)
    engine.push("quotes", BATCH)
    wider = Stream("quotes", QUOTES.schema.append(pa.field("day", pa.date32())))
    registry.declare(wider, check=lambda query: Verdict())
    engine.sync()
    batch = BATCH.append_column("day", pa.array([1, 2, 3], pa.date32()))
    assert engine.push("quotes", batch).of("a").column_names == ["symbol", "price", "day"]


def test_counters_are_kept(registry: Registry) -> None:
    registry.change(
        [Put("a", "SELECT symbol FROM quotes"), Put("b", "SELECT symbol FROM quotes WHERE price > 9")]
    )
    engine = Engine(registry=registry)
    engine.push("quotes", BATCH)
    engine.save_counters()
    engine.push("quotes", BATCH)
    engine.remove("a")
    engine.save_counters()
    engine.save_counters()
    counters = registry.counters()
    assert (counters["a"]["matches"], counters["b"]["deliveries"]) == (6, 2)
    with pytest.raises(EddylineError, match="no registry"):
        Engine(streams=[QUOTES]).save_counters()


def test_streams_are_compared_without_case(registry: Registry) -> None:
    registry.change([Put("a", "SELECT symbol FROM Quotes")])
    engine = Engine([Stream("QUOTES", QUOTES.schema)], registry=registry)
    assert [stream.name for stream in engine.streams] == ["quotes"]
    assert engine.push("quotes", BATCH).of("a").num_rows == 3
    assert engine.push("QUOTES", BATCH).of("a").num_rows == 3
    engine.add("b", "SELECT symbol FROM QUOTES")
    assert [stream.name for stream in registry.streams()] == ["quotes"]


def test_a_registry_that_went_back_is_refused(registry: Registry, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "registry.db", tmp_path / "copy.db")
    registry.change([Put("a", "SELECT symbol FROM quotes")])
    engine = Engine(registry=registry)
    (tmp_path / "copy.db").replace(tmp_path / "registry.db")
    with pytest.raises(RegistryError, match="at version 1, behind the engine's 2"):
        engine.sync()
    assert engine.push("quotes", BATCH).of("a").num_rows == 3


def test_pushes_see_other_columns_only_with_the_version_that_has_them(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.change([Put("a", "SELECT symbol FROM quotes WHERE price < 9")])
    engine = Engine(registry=registry)
    wider = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.decimal128(20, 2))]))
    registry.declare(wider, check=lambda query: Verdict())
    change, during = Standing.change, []

    def watched(standing: Standing, *arguments: Any, **named: Any) -> Any:
        during.append(engine.push("quotes", BATCH).rows)
        return change(standing, *arguments, **named)

    monkeypatch.setattr(Standing, "change", watched)
    engine.sync()
    assert during == [2] and engine.streams == (wider,)


def test_a_column_without_a_type_in_spark_is_delivered_as_it_is_now(registry: Registry) -> None:
    hours, seconds = (
        Stream("clock", pa.schema([("at", kind)])) for kind in (pa.time32("s"), pa.time64("us"))
    )
    registry.change([Put("a", "SELECT * FROM clock")], streams=[hours])
    engine = Engine(registry=registry)
    registry.declare(seconds, check=lambda query: Verdict())
    engine.sync()
    batch = pa.record_batch({"at": pa.array([1_500_000], pa.time64("us"))})
    assert engine.push("clock", batch).of("a").schema == seconds.schema


def test_a_registry_that_was_replaced_under_the_engine(tmp_path: Path) -> None:
    """By an unrelated one, with a higher version: nothing of it is taken over, and nothing is written into it."""
    path = tmp_path / "followed.db"
    with Registry.open(path) as registry:
        registry.change([Put("a", "SELECT symbol FROM quotes")], streams=[QUOTES])
        engine = Engine(registry=registry)
        with Registry.open(tmp_path / "other.db") as other:
            for id in ("x", "y", "z"):
                other.change([Put(id, "SELECT symbol FROM quotes")], streams=[QUOTES])
        (tmp_path / "other.db").replace(path)
        for use in (engine.sync, lambda: engine.add("b", "SELECT price FROM quotes"), engine.save_counters):
            with pytest.raises(RegistryError, match="was replaced by another one"):
                use()
        assert list(engine.queries()) == ["a"] and engine.push("quotes", BATCH).of("a").num_rows == 3
    with Registry.open(path) as found:
        assert [entry.id for entry in found.entries()] == ["x", "y", "z"]


@pytest.mark.parametrize("names", [("symbol", "Price"), ("symbol", "cost")])
def test_a_stream_that_is_declared_otherwise_is_pushed_at_once(
    registry: Registry, names: tuple[str, str]
) -> None:
    """What was compiled for the stream as it was is dead, and reads nothing any more."""
    registry.change([Put("a", "SELECT symbol FROM quotes WHERE price > 3")])
    engine = Engine(registry=registry)
    registry.change([Set("a", state=State.DISABLED), Put("b", "SELECT symbol FROM quotes")])
    other = Stream("quotes", pa.schema(list(zip(names, (pa.string(), pa.int64()), strict=True))))
    registry.declare(other, check=lambda query: Verdict())
    engine.sync()
    batch = pa.record_batch([BATCH.column(0), BATCH.column(1)], names=list(names))
    assert engine.push("quotes", batch).of("b").num_rows == 3


def test_a_join_goes_on_when_it_becomes_a_shadow_and_no_shadow_again(tmp_path: Path) -> None:
    schema = pa.schema({"k": pa.int32(), "t": pa.int64()})
    orders, payments = (Stream(name, schema, "t", 9) for name in ("orders", "payments"))
    text = "SELECT o.t AS one, p.t AS other FROM orders o JOIN payments p ON o.k = p.k AND p.t BETWEEN o.t AND o.t + 5"
    with Registry.open(tmp_path / "queries.db") as registry:
        registry.declare(orders)
        registry.declare(payments)
        registry.change([Put("join", text)])
        engine = Engine(registry=registry)
        engine.push("orders", pa.record_batch({"k": pa.array([1], pa.int32()), "t": [1]}))
        registry.change([Set("join", state=State.SHADOW)])
        engine.sync()
        assert engine.push("payments", pa.record_batch({"k": pa.array([1], pa.int32()), "t": [2]})).rows == 0
        registry.change([Set("join", state=State.ENABLED)])
        engine.sync()
        found = engine.push("payments", pa.record_batch({"k": pa.array([1], pa.int32()), "t": [3]}))
        assert found.of("join").to_pylist() == [{"one": 1, "other": 3}]
        assert (engine.ledger.of("join").shadowed, engine.ledger.of("join").delivered) == (1, 1)
        engine.ledger.check()
