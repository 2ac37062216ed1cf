"""A file sink killed before and after every step: every batch is read once, whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

from eddyline.runtime.spark.sinks.files import FileSink
from eddyline.runtime.spark.sinks.storage import LocalOutput
from tests.spark.sink_rows import US, batch_of, settings_of

STEPS = [
    (os, "fsync"),
    (os, "link"),
    (Path, "rename"),
    (Path, "replace"),
    (Path, "mkdir"),
    (Path, "unlink"),
    (shutil, "rmtree"),
]


class Killed(BaseException):
    """What a process that is killed does not catch."""


class Killer:
    """Kills at one of the steps; the step itself is done or not."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.left, self.after, self.dead = at, after, False

    def wrap(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **more: Any) -> Any:
            if self.dead:  # nothing runs any more, not even what stands behind `finally`
                raise Killed
            self.left -= 1
            self.dead = self.left == 0
            if self.dead and not self.after:
                raise Killed
            result = step(*args, **more)
            if self.dead:
                raise Killed
            return result

        return wrapped


class Spark:
    """Writes a batch in two files, as Spark would: the first may be there without the second."""

    def __init__(self, sink: FileSink, numbers: list[int]) -> None:
        self.numbers = numbers
        sink._write = self.write  # type: ignore[method-assign]

    def write(self, rows: Any, batch: Any, typed: Any, storage: LocalOutput, to: str) -> None:
        folder = storage.root / to
        folder.mkdir(parents=True)
        for part, number in enumerate(self.numbers):
            parquet.write_table(pa.table({"n": [number]}), folder / f"part-{part}.parquet")
            os.fsync(0)  # a step at which it can be killed


def fsync(handle: int) -> None:
    """Quicker than a disk."""


def attempt(out: Path, numbers: dict[int, list[int]]) -> None:
    """A process: opens the sink and delivers some batches."""
    sink = FileSink(settings_of("parquet", out), Path())
    sink.open(US)
    for number, values in numbers.items():
        Spark(sink, values)
        sink.deliver(None, batch_of(number), None)  # type: ignore[arg-type]


def read(out: Path) -> list[tuple[int, int]]:
    """What somebody sees who knows nothing of us."""
    if not out.exists():
        return []
    table = dataset.dataset(out, partitioning="hive", format="parquet").to_table()
    return sorted(zip(table["batch"].to_pylist(), table["n"].to_pylist(), strict=True)) if len(table) else []


@pytest.mark.parametrize("after", [False, True])
def test_killed_at_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool) -> None:
    monkeypatch.setattr(os, "fsync", fsync)
    batches = {0: [1, 2], 1: [3, 4]}
    whole = [(0, 1), (0, 2), (1, 3), (1, 4)]
    at = kills = 0
    while True:
        at += 1
        out = tmp_path / f"out-{at}"
        killer = Killer(at, after=after)
        with monkeypatch.context() as patch:
            for owner, name in STEPS:
                patch.setattr(owner, name, killer.wrap(getattr(owner, name)))
            try:
                attempt(out, batches)
                break
            except Killed:
                kills += 1
        seen = read(out)
        assert seen in ([], whole[:2], whole), "a batch is there whole or not at all"
        attempt(out, batches)
        assert read(out) == whole
        attempt(out, batches)
        assert read(out) == whole
    assert kills > 20 and read(out) == whole


def test_a_batch_that_is_there_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", fsync)
    attempt(tmp_path / "out", {0: [1]})
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    attempt(tmp_path / "out", {0: [1]})
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == before
