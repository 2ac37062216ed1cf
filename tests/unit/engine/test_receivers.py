"""Callbacks, iterators and asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine, Stream
from eddyline.engine.receivers import DeliveryStream
from eddyline.errors import EddylineError

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.int64())]))
BATCH = pa.record_batch({"symbol": ["A", "B", "C"], "price": [5, 50, 0]})


@pytest.fixture
def engine() -> Engine:
    engine = Engine(streams=[QUOTES])
    engine.add(
        {
            "cheap": "SELECT symbol FROM quotes WHERE price < 9",
            "dear": "SELECT symbol FROM quotes WHERE price > 9",
        }
    )
    return engine


def test_callbacks(engine: Engine) -> None:
    cheap: list[pa.Table] = []
    everything: list[pa.Table] = []
    with engine.on("cheap", cheap.append) as subscription:
        engine.on(None, everything.append)
        engine.push("quotes", BATCH)
        engine.push("quotes", BATCH.slice(1, 1))
    subscription.close()
    engine.push("quotes", BATCH)
    assert [table["symbol"].to_pylist() for table in cheap] == [["A", "C"]]
    assert set(cheap[0]["query"].to_pylist()) == {"cheap"}
    assert [table.num_rows for table in everything] == [3, 1, 3]


@pytest.mark.parametrize("id", [5, ["cheap"], "", "\ud800"])
def test_callbacks_for_what_no_query_is_called(engine: Engine, id: Any) -> None:
    with pytest.raises(EddylineError, match="is not accepted"):
        engine.on(id, print)
    assert engine.push("quotes", BATCH).rows == 3


def test_a_callback_that_fails_does_not_stop_the_others(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[pa.Table] = []

    def fail(table: pa.Table) -> None:
        raise ValueError("no")

    engine.on("cheap", fail)
    engine.on("cheap", seen.append)
    deliveries = engine.push("quotes", BATCH)
    assert len(seen) == 1 and deliveries.rows == 3
    (error,) = deliveries.errors
    assert (error.what, error.queries, str(error.error)) == ("callback", ("cheap",), "no")
    assert str(error) == 'callback of "cheap" failed: ValueError: no' and "ValueError: no" in "\n".join(
        caplog.messages
    )
    assert engine.ledger.of("cheap").errors == 1 and engine.ledger.totals.total.errors == 1
    engine.ledger.check()


def test_callbacks_may_change_and_push(engine: Engine) -> None:
    def again(table: pa.Table) -> None:
        if "more" not in engine:
            engine.add("more", "SELECT price FROM quotes")
            engine.push("quotes", BATCH.slice(2))

    engine.on("cheap", again)
    assert engine.push("quotes", BATCH).ledger.version == 1
    assert engine.ledger.totals.batches == 2 and engine.ledger.of("more").delivered == 1
    engine.ledger.check()


def test_an_iterator_in_a_thread(engine: Engine) -> None:
    found: list[int] = []
    iterator = engine.deliveries(waiting=1)
    thread = threading.Thread(target=lambda: found.extend(table.num_rows for table in iterator))
    thread.start()
    for _ in range(5):
        engine.push("quotes", BATCH)
    engine.close()
    thread.join()
    assert found == [3] * 5
    assert list(iterator) == []


def test_a_push_waits_for_a_slow_reader(engine: Engine) -> None:
    with engine.deliveries(waiting=1) as iterator:
        engine.push("quotes", BATCH)
        thread = threading.Thread(target=lambda: engine.push("quotes", BATCH.slice(0, 1)))
        thread.start()
        time.sleep(0.05)
        assert thread.is_alive()
        assert next(iterator).num_rows == 3
        thread.join()
        assert next(iterator).num_rows == 1


def test_asyncio(engine: Engine) -> None:
    async def main() -> list[int]:
        found: list[int] = []

        async def read() -> None:
            async with engine.stream(waiting=2) as stream:
                ready.set()
                async for table in stream:
                    found.append(table.num_rows)

        ready = asyncio.Event()
        reader = asyncio.create_task(read())
        await ready.wait()
        for _ in range(6):
            assert (await engine.apush("quotes", BATCH)).rows == 3
        for _ in range(6):
            engine.push("quotes", BATCH)  # in the loop's own thread: does not wait
        engine.close()
        await reader
        return found

    assert asyncio.run(main()) == [3] * 12


def test_a_reader_may_look_at_the_ledger_while_a_push_waits_for_it(engine: Engine) -> None:
    seen: list[int] = []

    def read() -> None:
        for _ in iterator:
            time.sleep(0.01)
            seen.append(engine.ledger.totals.tuples)

    iterator = engine.deliveries(waiting=1)
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    pushing = threading.Thread(target=lambda: [engine.push("quotes", BATCH) for _ in range(5)], daemon=True)
    pushing.start()
    pushing.join(20)
    assert not pushing.is_alive()
    iterator.close()
    reader.join(20)
    assert len(seen) == 5 and seen[-1] == 15


def test_a_push_does_not_wait_for_an_event_loop_that_is_gone(engine: Engine) -> None:
    async def open_stream() -> DeliveryStream:
        return engine.stream(waiting=1)

    stream = asyncio.run(open_stream())
    pushing = threading.Thread(target=lambda: [engine.push("quotes", BATCH) for _ in range(3)], daemon=True)
    pushing.start()
    pushing.join(20)
    assert not pushing.is_alive() and stream.closed


def push_many(engine: Engine, times: int) -> threading.Thread:
    """Push in a thread of its own, which a test waits for."""
    pushing = threading.Thread(
        target=lambda: [engine.push("quotes", BATCH) for _ in range(times)], daemon=True
    )
    pushing.start()
    return pushing


def test_nobody_waits_for_an_iterator_that_was_left(engine: Engine) -> None:
    def read_one() -> None:
        for _ in engine.deliveries(waiting=2):
            break

    reader = threading.Thread(target=read_one)
    reader.start()
    while not engine._queues:
        time.sleep(0.001)
    engine.push("quotes", BATCH)
    reader.join()
    pushing = push_many(engine, 5)
    pushing.join(20)
    assert not pushing.is_alive()
    engine.deliveries()
    assert len(engine._queues) == 1, "those that are gone are let go"


def test_an_iterator_that_is_forgotten_while_a_push_waits_for_it(engine: Engine) -> None:
    held = [engine.deliveries(waiting=1)]
    pushing = push_many(engine, 5)
    time.sleep(0.15)
    assert pushing.is_alive()
    held.clear()
    pushing.join(20)
    assert not pushing.is_alive()


def test_nobody_waits_for_an_async_for_that_was_left(engine: Engine) -> None:
    async def main() -> bool:
        async def read_one() -> None:
            async for _ in engine.stream(waiting=1):
                return

        reader = asyncio.create_task(read_one())
        await asyncio.sleep(0)
        await engine.apush("quotes", BATCH)
        await reader
        pushing = push_many(engine, 5)
        for _ in range(200):
            await asyncio.sleep(0.01)
            if not pushing.is_alive():
                return True
        engine.close()
        return False

    assert asyncio.run(main())


def test_closed_as_generators_are(engine: Engine) -> None:
    async def main() -> None:
        async with contextlib.aclosing(engine.stream(waiting=1)) as stream:
            engine.push("quotes", BATCH)
        assert stream.closed

    asyncio.run(main())
    with contextlib.closing(engine.deliveries(waiting=1)) as iterator:
        engine.push("quotes", BATCH)
    assert iterator.closed and [table.num_rows for table in iterator] == [3]
    assert engine._queues == ()


def test_a_push_that_waits_says_for_whom(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("eddyline.engine.receivers.PATIENCE", 0.05)
    with engine.deliveries(waiting=1) as iterator:
        pushing = push_many(engine, 2)
        while not caplog.records:
            time.sleep(0.01)
        time.sleep(0.2)
        assert pushing.is_alive(), "it goes on waiting"
        assert next(iterator).num_rows == 3
        pushing.join(20)
        assert not pushing.is_alive() and next(iterator).num_rows == 3
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert f"the reader of engine.deliveries() made at {__file__}:" in record.getMessage()


def test_closing_ends_a_push_that_waits(engine: Engine) -> None:
    iterator = engine.deliveries(waiting=1)
    pushing = push_many(engine, 2)
    time.sleep(0.05)
    assert pushing.is_alive()
    engine.close()
    pushing.join(20)
    assert not pushing.is_alive() and [table.num_rows for table in iterator] == [3]
    with pytest.raises(EddylineError, match="the engine is closed"):
        engine.deliveries()


def test_a_queue_has_room_for_something(engine: Engine) -> None:
    with pytest.raises(EddylineError, match="a queue of 0 deliveries takes none"):
        engine.deliveries(waiting=0)
