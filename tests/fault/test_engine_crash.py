"""An engine with queries in a registry and deliveries in a folder, stopped at every step: nothing lost, nothing twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest

from eddyline import DeliveryLog, Engine, Query, reference
from eddyline.errors import FileError
from eddyline.reference.match import satisfies
from eddyline.registry import Registry, State
from eddyline.sql import bind
from tests.fault.engine_script import BATCHES, QUOTES, Crash, Steps, run

ROOT = Path(__file__).parents[2]
Line = tuple[object, ...]


def crash() -> None:
    raise Crash


def expected(registry: Registry) -> dict[str, list[Line]]:
    """What every batch should have delivered: the versions of the day are known, the values are the reference's."""
    found: dict[str, list[Line]] = {}
    for version, (number, batch) in enumerate(BATCHES.items(), start=1):
        lines = found[str(number)] = []
        for row in reference.rows(batch, QUOTES):
            for entry in registry.entries(version, state=State.ENABLED):
                query = bind(Query(entry.id, entry.sql), [QUOTES])
                if satisfies(query, row):
                    lines.append((entry.id, entry.revision, version, *reference.project(query, row)))
    return {number: sorted(lines, key=repr) for number, lines in found.items()}


def on_disk(folder: Path) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for push in DeliveryLog(folder / "deliveries"):
        assert push.batch_id not in found, "a batch is there once"
        lines = [tuple(row.values()) for table in push.tables for row in table.to_pylist()]
        assert len(lines) == push.account.total.delivered
        found[push.batch_id] = sorted(lines, key=repr)
    return found


def check(folder: Path) -> None:
    with Registry.open(folder / "registry.db") as registry:
        assert registry.version == 4
        assert on_disk(folder) == expected(registry)


@pytest.mark.slow
def test_stopped_at_every_step(tmp_path: Path) -> None:
    step = 0
    while True:
        step += 1
        folder = tmp_path / str(step)
        folder.mkdir()
        try:
            run(folder, Steps(step, crash))
        except Crash:
            run(folder, Steps(0, crash))
            check(folder)
        else:
            check(folder)
            break
    assert step > 50


def test_stopped_at_two_steps(tmp_path: Path) -> None:
    for first in (9, 40):
        for second in (1, 8):
            folder = tmp_path / f"{first}-{second}"
            folder.mkdir()
            for step in (first, second, 0):
                try:
                    run(folder, Steps(step, crash))
                except Crash:
                    continue
            check(folder)


@pytest.mark.slow
@pytest.mark.parametrize("step", range(2, 60, 6))
def test_killed(tmp_path: Path, step: int) -> None:
    command = [sys.executable, "-m", "tests.fault.engine_script", str(tmp_path)]
    assert subprocess.run([*command, str(step)], cwd=ROOT).returncode == 17
    subprocess.run([*command, "0"], cwd=ROOT, check=True)
    check(tmp_path)


def test_a_batch_that_comes_again_is_not_handed_out_again(tmp_path: Path) -> None:
    engine = Engine([QUOTES], deliveries=tmp_path)
    engine.add("all", "SELECT * FROM quotes")
    seen: list[pa.Table] = []
    engine.on("all", seen.append)
    first = engine.push("quotes", BATCHES[2], batch_id="../a b/é.json")
    engine.replace("all", "SELECT price FROM quotes")
    again = engine.push("quotes", BATCHES[2], batch_id="../a b/é.json")
    assert not first.repeated and again.repeated
    assert [table.to_pylist() for table in again] == [table.to_pylist() for table in first]
    assert again.ledger == first.ledger
    assert len(seen) == 1 and engine.ledger.totals.batches == 1
    assert sorted(path.parent.name for path in tmp_path.rglob("*.*")) == ["data", "pushes"]


def test_batches_without_an_id_are_kept_too(tmp_path: Path) -> None:
    for _ in range(2):  # the second time after a restart
        engine = Engine([QUOTES], deliveries=tmp_path)
        engine.add("all", "SELECT * FROM quotes")
        assert not any(engine.push("quotes", BATCHES[2]).repeated for _ in range(2))
    assert [push.batch_id for push in DeliveryLog(tmp_path)] == ["push 0", "push 1", "push 2", "push 3"]


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    engine = Engine([QUOTES], deliveries=tmp_path)
    engine.add("all", "SELECT * FROM quotes")
    full = OSError(28, "No space left on device")
    with (
        patch("eddyline.engine.delivery_log.os.fsync", side_effect=full),
        pytest.raises(FileError, match="No space left on device"),
    ):
        engine.push("quotes", BATCHES[2], batch_id="1")
    assert engine.ledger.totals.batches == 0
    assert engine.push("quotes", BATCHES[2], batch_id="1").rows == 3
    engine.ledger.check()


def test_damage_is_noticed(tmp_path: Path) -> None:
    engine = Engine([QUOTES], deliveries=tmp_path)
    engine.add("all", "SELECT * FROM quotes")
    engine.push("quotes", BATCHES[2], batch_id="1")
    path = next((tmp_path / "data").iterdir())
    content = path.read_bytes()
    path.write_bytes(content[:-9] + bytes(9))
    with pytest.raises(FileError, match="a delivery is damaged"):
        list(DeliveryLog(tmp_path))
    path.unlink()
    with pytest.raises(FileError, match="a delivery is missing"):
        engine.push("quotes", BATCHES[2], batch_id="1")
    next((tmp_path / "pushes").iterdir()).write_text("{")
    with pytest.raises(FileError, match="a push cannot be read"):
        DeliveryLog(tmp_path)
