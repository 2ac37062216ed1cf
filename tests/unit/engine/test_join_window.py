"""The join window of a registry, as an engine follows it: joins that name no time bound start anew, others go on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from eddyline import Admission, Compiler, Engine, QueryError, RefusedError, Registry, Stream
from eddyline.model.event_time import Length
from eddyline.registry import Budget, Check, Put, Verdict

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
SCHEMA = pa.schema({"symbol": pa.string(), "price": pa.float64(), "ts": pa.timestamp("us", "UTC")})
STREAMS = [Stream(name, SCHEMA, "ts", "10 minutes") for name in ("quotes", "trades")]
SAME = "SELECT q.price AS quoted, t.price AS paid FROM quotes q JOIN trades t ON q.symbol = t.symbol"
BOUND = f"{SAME} WHERE t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"
CHEAP = "SELECT price FROM quotes WHERE price < 10"


@pytest.fixture
def registry(place: str) -> Iterator[Registry]:
    with Registry.open(place) as registry:
        registry.change(
            [Put("any", SAME), Put("bound", BOUND), Put("cheap", CHEAP)],
            streams=STREAMS,
            join_window="1 minute",
        )
        yield registry


def fitting(registry: Registry, window: Length | None) -> Check:
    return Admission().of(registry, [], Compiler(registry.streams(), join_window=window))


def push(engine: Engine, stream: str, *seconds: int) -> dict[str, list[float]]:
    """Push tuples of these times, each at a price that is its time; what completes pairs, by join."""
    columns = {
        "symbol": ["A"] * len(seconds),
        "price": [float(second) for second in seconds],
        "ts": [NOON + timedelta(seconds=second) for second in seconds],
    }
    found = engine.push(stream, pa.RecordBatch.from_pydict(columns, schema=SCHEMA))
    engine.ledger.check()
    joins = [id for id in engine if id != "cheap"]
    return {id: found.of(id)["quoted"].to_pylist() for id in joins if found.of(id).num_rows}


def new_engine(registry: Registry, **options: Length) -> Engine:
    return Engine(registry=registry, clock=lambda: NOON, **options)


def test_the_registrys_window_holds(registry: Registry) -> None:
    engine = new_engine(registry)
    assert engine.problems == [] and list(engine) == ["any", "bound", "cheap"]
    push(engine, "quotes", 0, 58)
    assert push(engine, "trades", 60) == {"any": [0.0, 58.0], "bound": [58.0]}
    assert push(engine, "trades", 61) == {"any": [58.0], "bound": [58.0]}
    engine.add("another", SAME)
    assert registry.entry("another") is not None


def test_another_window_starts_only_those_anew_that_take_it(registry: Registry) -> None:
    engine = new_engine(registry)
    numbers = {id: engine._standing.current.table.dense(id) for id in engine}
    push(engine, "quotes", 0)
    registry.set_join_window("2 minutes", check=fitting(registry, "2 minutes"))
    assert engine.sync() == 2 and engine.problems == []
    assert {id for id in engine if engine._standing.current.table.dense(id) == numbers[id]} == {
        "bound",
        "cheap",
    }
    assert push(engine, "trades", 4) == {"bound": [0.0]}  # "any" has not seen that quote
    push(engine, "quotes", 5)
    assert push(engine, "trades", 120) == {"any": [5.0]}
    engine.merge()
    assert push(engine, "trades", 125, 126) == {"any": [5.0]}
    assert engine.ledger.of("bound").matches == 1


def test_the_same_window_disturbs_nobody(registry: Registry) -> None:
    engine = new_engine(registry)
    push(engine, "quotes", 0)
    registry.set_join_window("60 seconds")
    registry.change([Put("dear", "SELECT price FROM quotes WHERE price > 90")])
    assert engine.sync() == 2
    assert push(engine, "trades", 60) == {"any": [0.0]}


def test_no_window_any_more(registry: Registry) -> None:
    engine = new_engine(registry)
    with pytest.raises(RefusedError, match='query "any": "q" and "t" are not bound in time'):
        registry.set_join_window(None, check=fitting(registry, None))
    assert registry.version == 1
    registry.set_join_window(None, check=lambda _: Verdict())
    engine.sync()
    assert [problem.query for problem in engine.problems] == ["any"] and list(engine) == ["bound", "cheap"]
    push(engine, "quotes", 0)
    assert push(engine, "trades", 4) == {"bound": [0.0]}
    registry.rollback(1)
    engine.sync()
    assert engine.problems == [] and set(engine) == {"any", "bound", "cheap"}
    push(engine, "quotes", 10)
    assert push(engine, "trades", 50) == {"any": [10.0]}


def test_a_window_that_fits_no_event_time_is_refused(registry: Registry) -> None:
    with pytest.raises(RefusedError, match='query "any": join_window 100 is no length of time'):
        registry.set_join_window(100, check=fitting(registry, 100))
    assert registry.join_window() == "1 minute"


def test_an_engine_keeps_its_own_window(registry: Registry) -> None:
    engine = new_engine(registry, join_window="5 minutes")
    push(engine, "quotes", 0)
    registry.set_join_window("2 minutes", check=fitting(registry, "2 minutes"))
    assert engine.sync() == 2
    assert push(engine, "trades", 300, 301) == {"any": [0.0]}


def test_joins_are_let_in_by_the_registrys_window(registry: Registry) -> None:
    edits = [Put("more", SAME)]
    assert registry.change(edits, check=Admission().of(registry, edits)).added == ("more",)
    registry.set_budget(Budget("query", "most", nanoseconds=1e9))
    edits = [Put("most", SAME)]
    assert registry.change(edits, check=Admission().of(registry, edits)).added == ("most",)


def test_a_registry_without_window_refuses(place: str) -> None:
    with Registry.open(place) as registry:
        registry.change([], streams=STREAMS)
        engine = new_engine(registry)
        with pytest.raises(QueryError, match="not bound in time"):
            engine.add("any", SAME)
        registry.set_join_window("1 minute")
        engine.add("any", SAME)
        assert list(engine) == ["any"]
