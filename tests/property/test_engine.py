"""The contract: whatever is added, removed, replaced, pushed and merged, in whatever order, a query delivers exactly what
the reference says of the tuples that were pushed while it was there. Readers get each delivery once, and the folder has each batch of each stream
once, whoever leaves and whatever ids batches have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline import DeliveryLog, Engine
from eddyline.config import IndexSettings
from eddyline.engine.receivers import DeliveryIterator
from eddyline.errors import FileError
from tests.property.engine_model import BATCHES, JOINS, STREAMS, TEXTS, Lines, Model, lines

IDS = [f"q{i}" for i in range(14)]
texts = st.one_of(st.sampled_from(TEXTS), st.sampled_from(sorted(JOINS)))
changes = st.tuples(
    st.just("change"),
    st.dictionaries(st.sampled_from(IDS), texts, max_size=5),
    st.sets(st.sampled_from(IDS), max_size=4),
)
pushes = st.tuples(
    st.just("push"),
    st.sampled_from(["everything", "Everything", "other", "OTHER", *3 * ["orders", "payments"]]),
    st.tuples(st.integers(0, 59), st.integers(0, 20)),
    st.sampled_from([None, "1", "2", "A", "a"]),
)
merges = st.sampled_from([("merge", "due"), ("merge", "all")])
readers = st.sampled_from([("reader", "open"), ("reader", "open"), ("reader", "forget"), ("reader", "close")])
restarts = st.just(("restart",))
steps = st.lists(
    st.one_of(changes, changes, pushes, pushes, merges, readers, restarts), min_size=4, max_size=30
)
ROOM = 2 * len(IDS)  # tables of one push: each query may have a SELECT list of its own


@contextmanager
def small_levels() -> Iterator[None]:
    """Merge from the second query on, so that a dozen of them go through all levels."""
    with (
        patch("eddyline.standing.merging.policy.OPEN", 2),
        patch("eddyline.standing.merging.policy.FAN", 2),
        patch("eddyline.standing.merging.building.KEEP_QUERIES", 4),
        patch("eddyline.standing.version.FEW", 3),
        patch("eddyline.standing.merging.merger.REST", 0.0),
        patch("eddyline.storage.durable.os.fsync"),
        patch("eddyline.engine.receivers.PATIENCE", 0.2),
        patch("eddyline.engine.receivers.log.warning", side_effect=AssertionError("a push waits for ever")),
    ):
        yield


class Readers:
    """Iterators over deliveries, all in this thread: a push that waited for one of them would wait for ever."""

    def __init__(self) -> None:
        self.held: list[DeliveryIterator] = []

    def step(self, engine: Engine, what: str) -> None:
        if what == "open":
            self.held.append(engine.deliveries(waiting=ROOM))
        elif what == "forget":
            self.held = self.held[1:]
            engine.deliveries(waiting=1)  # would be full after one table
        elif self.held:
            self.held.pop(0).close()

    def expect(self, tables: list[Lines]) -> None:
        """Read what a push gave, which makes room for the next one."""
        for iterator in self.held:
            assert lines([next(iterator) for _ in tables]) == tables
            assert not iterator._tables


def run(make: Callable[..., Engine], script: list[tuple]) -> None:
    with TemporaryDirectory() as folder:
        engine = make(streams=STREAMS, deliveries=folder)
        model, readers = Model(), Readers()
        for step in script:
            if step == ("restart",):
                with pytest.raises(FileError, match="is used by process"):
                    Engine(streams=STREAMS, deliveries=folder)
                engine.close()
                assert all(list(iterator) == [] for iterator in readers.held)
                engine, readers = make(streams=STREAMS, deliveries=folder), Readers()
                model.restart()
            else:
                follow(engine, model, readers, step)
        engine.ledger.check()
        assert set(engine.ledger.queries()) == set(engine) == set(model.queries)
        engine.close()
        log = list(DeliveryLog(folder))
        named = [(push.stream, re.sub(" [0-9a-f]{32}$", "", push.batch_id)) for push in log]  # by chance
        assert named == list(model.recorded)
        assert [lines(push.tables) for push in log] == list(model.recorded.values())


def follow(engine: Engine, model: Model, readers: Readers, step: tuple) -> None:
    """One step of a script, by the engine and by the model."""
    match step:
        case ("change", wanted, unwanted):
            there = set(model.queries)
            add = {id: sql for id, sql in wanted.items() if id not in there}
            replace = {id: sql for id, sql in wanted.items() if id in there and id not in unwanted}
            remove = sorted(unwanted & there)
            version = model.change(add=add, remove=remove, replace=replace)
            assert engine.change(add=add, remove=remove, replace=replace) == version
            assert list(engine) == list(engine.queries()) == list(model.queries)
        case ("push", name, (first, size), batch_id):
            batch = BATCHES[name.lower()].slice(first, size)
            found = engine.push(name, batch, batch_id=batch_id)
            given = f"push {len(model.recorded)}" if batch_id is None else batch_id
            expected, repeated = model.push(name.lower(), batch, given)
            assert not found.errors and found.repeated == repeated
            assert lines(found) == expected
            assert found.ledger.total.delivered == found.rows
            if not repeated:
                assert (found.ledger.stream, found.ledger.tuples) == (name.lower(), batch.num_rows)
                readers.expect(expected)
        case ("reader", what):
            readers.step(engine, what)
        case ("merge", "due"):
            engine._standing.merger.merge()
        case ("merge", "all"):
            engine.merge()
            version = engine._standing.current
            streams = [placed.segment.stream for placed in version.segments]
            assert len(streams) == len(set(streams)) and not version.is_worn


def without_merging(**options: Any) -> Engine:
    engine = Engine(**options)
    engine._standing.merger.close()
    return engine


@pytest.mark.slow
@settings(max_examples=120)
@given(steps)
def test_deliveries_are_the_references(script: list[tuple]) -> None:
    with small_levels():
        run(without_merging, script)


@pytest.mark.slow
@settings(max_examples=40)
@given(steps, st.sampled_from(["keyed", "rowwise", "sliced"]))
def test_with_merging_in_its_thread_and_other_executors(script: list[tuple], executor: str) -> None:
    with small_levels():
        run(partial(Engine, settings=IndexSettings(executor=executor)), script)


@settings(max_examples=15)
@given(steps)
def test_a_few(script: list[tuple]) -> None:
    with small_levels():
        run(Engine, script)
