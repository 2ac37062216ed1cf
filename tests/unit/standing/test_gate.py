"""Compiling beside pushes: it pauses for them, gets done all the same, and leaves the interpreter's settings alone."""

from __future__ import annotations

import gc
import sys
import threading
import time

import pyarrow as pa
import pytest

from eddyline import Engine, QuerySet, Stream
from eddyline.model.pacing import paced
from eddyline.standing.merging.gate import PATIENCE, Gate

TICKS = Stream("ticks", pa.schema({"a": pa.int32()}))
BATCH = pa.record_batch({"a": pa.array(range(50), pa.int32())})
STEPS = 2_000_000


class Compiling:
    """Work of many small steps in a thread of its own."""

    def __init__(self, gate: Gate) -> None:
        self.done = 0
        self._gate = gate
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with self._gate.compiling():
            for _ in paced(range(STEPS)):
                self.done += 1
                if self._stop.is_set():
                    return

    def __enter__(self) -> Compiling:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()


def test_compiling_pauses_for_a_push() -> None:
    gate = Gate()
    with Compiling(gate) as compiling:
        while not compiling.done:
            time.sleep(0)
        with gate:
            time.sleep(PATIENCE / 4)  # by now it has looked
            before = compiling.done
            time.sleep(PATIENCE / 4)
            assert compiling.done == before
        while compiling.done == before:
            time.sleep(0)


def test_compiling_gets_done_beside_pushes_without_end() -> None:
    gate = Gate()
    with Compiling(gate) as compiling:
        for _ in range(20):
            before = compiling.done
            with gate:
                time.sleep(0.001)
            while compiling.done == before:
                time.sleep(0)


def test_the_interpreter_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its settings belong to whoever runs the process."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("a setting of the whole process")

    for owner, name in (
        (gc, "disable"),
        (gc, "enable"),
        (gc, "freeze"),
        (gc, "set_threshold"),
        (sys, "setswitchinterval"),
    ):
        monkeypatch.setattr(owner, name, refuse)
    texts = {f"q{i}": f"SELECT * FROM ticks WHERE a > {i}" for i in range(40)}
    assert len(QuerySet.build(texts, streams=[TICKS]).match(BATCH)) > 0
    engine = Engine(streams=[TICKS])
    engine.add(texts)
    for i in range(40, 60):
        engine.add(f"q{i}", f"SELECT * FROM ticks WHERE a = {i}")
    engine.merge()
    assert engine.push("ticks", BATCH).ledger.total.matches > 0
