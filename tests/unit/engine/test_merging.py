"""Which pieces are merged, and where."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine, Stream
from eddyline.engine.merging import choose
from eddyline.engine.pieces import Piece

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.int64())]))
BATCH = pa.record_batch({"symbol": ["A", "B", "C"], "price": [5, 50, 0]})


def pieces(*sizes: int, dead: int = 0) -> list[Piece]:
    return [Piece(None, np.arange(size), dead=dead) for size in sizes]  # type: ignore[arg-type]


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
def test_pieces_that_are_not_of_a_higher_level(sizes: list[int], chosen: list[int]) -> None:
    assert [len(piece) for piece in choose(pieces(*sizes))] == chosen


def test_a_piece_that_is_mostly_dead_is_compiled_anew() -> None:
    assert [len(piece) for piece in choose(pieces(100, dead=51))] == [100]
    assert choose(pieces(100, dead=50)) == ()
    taken = pieces(100, 100)
    taken[0].taken = True
    assert choose(taken) == ()


def fill(engine: Engine, first: int, last: int) -> None:
    for number in range(first, last):
        engine.add(f"q{number}", f"SELECT symbol FROM quotes WHERE price < {number}")
    for thread in threading.enumerate():
        if thread.name == "eddyline-merging":
            thread.join()


@pytest.mark.slow
def test_in_another_process(caplog: pytest.LogCaptureFixture) -> None:
    with Engine(streams=[QUOTES], merging="process") as engine:
        fill(engine, 0, 200)
        assert len(engine._live.state.pieces["quotes"]) <= 3
        assert engine.push("quotes", BATCH).ledger.total.matches == 199 + 194 + 149
        builder = engine._merging._builder
        assert builder is not None and builder._process is not None
        builder._process.kill()
        fill(engine, 200, 300)
        assert "merging goes on in this process" in "\n".join(caplog.messages)
        assert len(engine._live.state.pieces["quotes"]) <= 3
        assert engine.push("quotes", BATCH).ledger.total.matches == 299 + 294 + 249
