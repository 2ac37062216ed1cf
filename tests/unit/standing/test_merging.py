"""Which segments are merged, when, and where."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest

from eddyline import Engine, Stream
from eddyline.execute.placed import Placed
from eddyline.model.numbering import Numbering
from eddyline.standing.merging.policy import due, open_segment, untidy

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.int64())]))
BATCH = pa.record_batch({"symbol": ["A", "B", "C"], "price": [5, 50, 0]})


def segments(*sizes: int, dead: int = 0) -> list[Placed]:
    return [Placed(None, Numbering(size), dead) for size in sizes]  # type: ignore[arg-type]


def sizes_of(chosen: tuple[Placed, ...]) -> list[int]:
    return [placed.size for placed in chosen]


@pytest.mark.parametrize(
    ("sizes", "chosen"),
    [
        ([], []),
        ([10_000], []),
        ([10_000, 7], []),
        ([10_000, 16, 7], []),
        ([10_000, 100, 16, 3], [16, 100]),
        ([10_000, 1_000, 250, 16], [16, 250, 1_000]),
        ([10_000, 4_090, 250, 16, 1], [16, 250, 4_090, 10_000]),
        ([10_000, 9, 12, 2], [9, 12]),
    ],
)
def test_segments_that_are_not_of_a_higher_level(sizes: list[int], chosen: list[int]) -> None:
    assert sizes_of(due(segments(*sizes))) == chosen


def test_large_segments_are_left_where_nobody_may_wait_for_them() -> None:
    assert sizes_of(due(segments(10_000, 1_000, 250, 16), largest=500)) == [16, 250]


def test_a_segment_that_is_mostly_dead_is_compiled_anew() -> None:
    assert sizes_of(due(segments(100, dead=51))) == [100]
    assert due(segments(100, dead=50)) == ()


def test_new_queries_go_into_the_youngest_segment_while_it_is_small() -> None:
    assert open_segment([], 1) is None and open_segment(segments(3, 16), 1) is None
    found = open_segment(segments(100, 15), 1)
    assert found is not None and found.size == 15
    assert open_segment(segments(100, 15), 2) is None
    found = open_segment(segments(100, dead=90), 6)
    assert found is not None and found.size == 100


def test_tidying_up_has_to_pay() -> None:
    assert untidy([]) == () and untidy(segments(1_000, 50)) == () and untidy(segments(100, dead=5)) == ()
    assert sizes_of(untidy(segments(1_000, 60))) == [1_000, 60]
    assert sizes_of(untidy(segments(100, dead=6))) == [100]
    assert sizes_of(untidy(segments(3, dead=3))) == [3]


def fill(engine: Engine, first: int, last: int) -> None:
    for number in range(first, last):
        engine.add(f"q{number}", f"SELECT symbol FROM quotes WHERE price < {number}")
    wait_for_merging()


@pytest.mark.slow
def test_in_another_process(caplog: pytest.LogCaptureFixture) -> None:
    with Engine(streams=[QUOTES], merging="process") as engine:
        fill(engine, 0, 200)
        assert len(engine._standing.current.segments) <= 3
        assert engine.push("quotes", BATCH).ledger.total.matches == 199 + 194 + 149
        builder = engine._standing.merger._process
        assert builder is not None and builder._process is not None
        builder._process.kill()
        fill(engine, 200, 300)
        assert "merging goes on in this process" in "\n".join(caplog.messages)
        assert len(engine._standing.current.segments) <= 3
        assert engine.push("quotes", BATCH).ledger.total.matches == 299 + 294 + 249


def segments_of(engine: Engine) -> list[tuple[int, int]]:
    return [(placed.size, placed.dead) for placed in engine._standing.current.segments]


def wait_for_merging() -> None:
    for thread in threading.enumerate():
        if thread.name == "eddyline-merging":
            thread.join()


def test_what_changes_left_behind_is_tidied_up_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddyline.standing.merging.merger.REST", 0.05)
    engine = Engine(streams=[QUOTES])
    engine.add({f"q{i}": f"SELECT symbol FROM quotes WHERE price < {i}" for i in range(300)})
    engine.add("one more", "SELECT symbol FROM quotes WHERE price < 300")
    wait_for_merging()
    assert segments_of(engine) == [(300, 0), (1, 0)], "one query of many is not worth it"
    engine.remove([f"q{i}" for i in range(20)])
    wait_for_merging()
    assert segments_of(engine) == [(281, 0)]
    before = engine.push("quotes", BATCH)
    assert before.ledger.total.matches == 281 + 281 + 250


def test_an_engine_that_is_closed_does_not_wait_for_rest() -> None:
    engine = Engine(streams=[QUOTES])
    engine.add({f"q{i}": f"SELECT symbol FROM quotes WHERE price < {i}" for i in range(3)})
    engine.remove("q0")
    engine.close()
    wait_for_merging()
    assert segments_of(engine) == [(3, 1)]
