"""The contract: whatever is added, removed, replaced, pushed and merged, in whatever order, a query delivers exactly what
the reference says of the tuples that were pushed while it was there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.config import IndexSettings
from tests.property.engine_model import BATCHES, STREAMS, TEXTS, Model, lines

IDS = [f"q{i}" for i in range(14)]
texts = st.sampled_from(TEXTS)
changes = st.tuples(
    st.just("change"),
    st.dictionaries(st.sampled_from(IDS), texts, max_size=5),
    st.sets(st.sampled_from(IDS), max_size=4),
)
pushes = st.tuples(
    st.just("push"), st.sampled_from(sorted(BATCHES)), st.tuples(st.integers(0, 59), st.integers(0, 20))
)
merges = st.sampled_from([("merge", "due"), ("merge", "all")])
steps = st.lists(st.one_of(changes, changes, pushes, merges), min_size=4, max_size=30)


@contextmanager
def small_levels() -> Iterator[None]:
    """Merge from the second query on, so that a dozen of them go through all levels."""
    with (
        patch("eddyline.engine.live.OPEN", 2),
        patch("eddyline.engine.merging.OPEN", 2),
        patch("eddyline.engine.merging.FAN", 2),
        patch("eddyline.engine.pieces.KEEP_QUERIES", 4),
    ):
        yield


def run(engine: Engine, script: list[tuple]) -> None:
    model = Model()
    for step in script:
        match step:
            case ("change", wanted, unwanted):
                there = set(model.queries)
                add = {id: sql for id, sql in wanted.items() if id not in there}
                replace = {id: sql for id, sql in wanted.items() if id in there and id not in unwanted}
                remove = sorted(unwanted & there)
                version = model.change(add=add, remove=remove, replace=replace)
                assert engine.change(add=add, remove=remove, replace=replace) == version
                assert list(engine.queries()) == list(model.queries)
            case ("push", name, (first, size)):
                batch = BATCHES[name].slice(first, size)
                found = engine.push(name, batch)
                assert not found.errors
                assert lines(found) == model.deliveries(name, batch)
                assert found.ledger.tuples == batch.num_rows
                assert found.ledger.total.delivered == found.rows
            case ("merge", "due"):
                engine._merging.merge()
            case ("merge", "all"):
                engine.merge()
                assert all(len(pieces) <= 1 for pieces in engine._live.state.pieces.values())
    engine.ledger.check()
    assert set(engine.ledger.queries()) == set(model.queries)


@pytest.mark.slow
@settings(max_examples=120)
@given(steps)
def test_deliveries_are_the_references(script: list[tuple]) -> None:
    with small_levels():
        engine = Engine(streams=STREAMS)
        engine._merging.paused = True
        run(engine, script)


@pytest.mark.slow
@settings(max_examples=40)
@given(steps, st.sampled_from(["keyed", "rowwise", "sliced"]))
def test_with_merging_in_its_thread_and_other_executors(script: list[tuple], executor: str) -> None:
    with small_levels():
        run(Engine(streams=STREAMS, settings=IndexSettings(executor=executor)), script)


@settings(max_examples=15)
@given(steps)
def test_a_few(script: list[tuple]) -> None:
    with small_levels():
        run(Engine(streams=STREAMS), script)
