"""A day of an engine with everything on disk, which can be stopped at every step that touches the disk, and started again.

`python -m tests.fault.engine_script FOLDER STEP` runs it and ends the process, without any farewell, at the step.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

from eddyline import Engine, Stream
from eddyline.registry import Drop, Put, Registry, Set, State

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.int64())]))
TRADES = Stream("trades", pa.schema([("symbol", pa.string()), ("price", pa.int64())]))
STREAMS = (
    QUOTES,
    TRADES,
)  # of one schema, and their batches have the same ids: only the stream tells them apart
CHANGES = {
    1: [
        Put("cheap", "SELECT symbol FROM quotes WHERE price < 10"),
        Put("all", "SELECT * FROM quotes"),
        Put("sold", "SELECT symbol FROM trades WHERE price < 10"),
    ],
    3: [
        Put("cheap", "SELECT symbol FROM quotes WHERE price < 5"),
        Put("dear", "SELECT price * 2 AS p FROM quotes WHERE price > 7"),
    ],
    5: [Drop("all"), Set("dear", state=State.SHADOW)],
    7: [Set("dear", state=State.ENABLED), Put("half", "SELECT symbol, 10 / price AS h FROM quotes")],
}
BATCHES = {
    (stream.name, step): pa.record_batch(
        {"symbol": [f"{stream.name} {step}", None, "x"], "price": [step, 9, 0]}, schema=stream.schema
    )
    for stream, step in [(QUOTES, 2), (TRADES, 2), (QUOTES, 4), (QUOTES, 6), (QUOTES, 8)]
}


class Crash(BaseException):
    """The process is gone."""


class Steps:
    """Counts the calls that touch the disk; at one of them the process ends: before it is done, or after."""

    def __init__(self, last: int, end: Callable[[], None]) -> None:
        self.count = 0
        self._last = last
        self._end = end

    def __call__(self) -> None:
        self.count += 1
        if self.count == self._last:
            self._end()

    def around(self, call: Callable[..., object]) -> Callable[..., object]:
        def stepped(*arguments: object, **options: object) -> object:
            self()
            result = call(*arguments, **options)
            self()
            return result

        return stepped


def run(folder: Path, step: Steps) -> None:
    """What is left to do of the day: it is seen from the disk how far it came before."""
    with (
        patch.object(os, "fsync", step.around(os.fsync)),
        patch.object(Path, "replace", step.around(Path.replace)),
        patch.object(Registry, "change", step.around(Registry.change)),
        Registry.open(folder / "registry.db") as registry,
        Engine(STREAMS, registry=registry, deliveries=folder / "deliveries") as engine,
    ):
        assert engine.log is not None
        for number in range(1, 9):
            if number in CHANGES:
                if registry.version < (number + 1) // 2:
                    registry.change(CHANGES[number], streams=STREAMS, author="a", reason=f"step {number}")
                continue
            engine.sync()
            for stream in STREAMS:
                batch = BATCHES.get((stream.name, number))
                if batch is not None and ((stream.name, str(number)) not in engine.log or number == 8):
                    engine.push(stream.name, batch, batch_id=str(number))


def leave() -> None:
    """End like a process that is killed."""
    os._exit(17)


if __name__ == "__main__":
    run(Path(sys.argv[1]), Steps(int(sys.argv[2]), leave))
