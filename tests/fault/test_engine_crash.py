"""An engine with queries in a registry and deliveries in a folder, stopped at every step: nothing lost, nothing twice."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest

from eddyline import DeliveryLog, Engine, Query, Stream, reference
from eddyline.engine.account import BatchAccount
from eddyline.errors import EddylineError, FileError, RegistryError
from eddyline.reference.match import satisfies
from eddyline.registry import Registry, State
from eddyline.sql import bind
from tests.conftest import some
from tests.fault.engine_script import BATCHES, QUOTES, STREAMS, TRADES, Crash, Steps, run

ROOT = Path(__file__).parents[2]
BATCH = BATCHES["quotes", 2]
Line = tuple[object, ...]
Push = tuple[str, str]  # a stream and the id of a batch
HOLD = """
import sys
from eddyline import Engine
from tests.fault.engine_script import BATCHES, QUOTES
engine = Engine([QUOTES], deliveries=sys.argv[1])
engine.add("all", "SELECT * FROM quotes")
engine.push("quotes", BATCHES["quotes", 2], batch_id="1")
print("held", flush=True)
sys.stdin.readline()
"""


def crash() -> None:
    raise Crash


def expected(registry: Registry) -> dict[Push, list[Line]]:
    """What every batch should have delivered: the versions of the day are known, the values are the reference's."""
    found: dict[Push, list[Line]] = {}
    for (stream, number), batch in BATCHES.items():
        version = number // 2
        lines = found[stream, str(number)] = []
        for row in reference.rows(batch, QUOTES):
            for entry in registry.entries(version, state=State.ENABLED):
                query = bind(Query(entry.id, entry.sql), STREAMS)
                if query.stream == stream and satisfies(query, row):
                    lines.append(
                        (entry.id, entry.number, entry.revision, version, *reference.project(query, row))
                    )
    return {push: sorted(lines, key=repr) for push, lines in found.items()}


def on_disk(folder: Path) -> dict[Push, list[Line]]:
    found: dict[Push, list[Line]] = {}
    for push in DeliveryLog(folder / "deliveries"):
        assert (push.stream, push.batch_id) not in found, "a batch is there once"
        lines = [tuple(row.values()) for table in push.tables for row in table.to_pylist()]
        assert len(lines) == push.account.total.delivered
        found[push.stream, push.batch_id] = sorted(lines, key=repr)
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
@pytest.mark.parametrize("step", some(range(2, 60, 6), quick=(38,)))
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
    first = engine.push("quotes", BATCH, batch_id="../a b/é.json")
    engine.replace("all", "SELECT price FROM quotes")
    again = engine.push("QUOTES", BATCH, batch_id="../a b/é.json")
    assert not first.repeated and again.repeated
    assert [table.to_pylist() for table in again] == [table.to_pylist() for table in first]
    assert again.ledger == first.ledger
    assert len(seen) == 1 and engine.ledger.totals.batches == 1
    assert sorted(path.parent.name for path in tmp_path.rglob("*.*")) == ["data", "pushes"]


def test_batches_without_an_id_are_kept_too(tmp_path: Path) -> None:
    for _ in range(2):  # the second time after a restart
        with Engine([QUOTES], deliveries=tmp_path) as engine:
            engine.add("all", "SELECT * FROM quotes")
            assert not any(engine.push("quotes", BATCH).repeated for _ in range(2))
            assert not engine.push(
                "quotes", BATCH, batch_id=f"push {len(DeliveryLog(tmp_path)) - 1}"
            ).repeated
    assert len({push.batch_id for push in DeliveryLog(tmp_path)}) == 6


def test_ids_belong_to_a_stream(tmp_path: Path) -> None:
    names = ["7", "7-0", "", "A", "a", "@", "%40", "x" * 200, "x" * 199 + "y", "a/b", "a%2fb"]
    with Engine(STREAMS, deliveries=tmp_path) as engine:
        engine.add({"all": "SELECT * FROM quotes", "sold": "SELECT * FROM trades"})
        for stream in STREAMS:
            for name in names:
                assert not engine.push(stream.name, BATCHES[stream.name, 2], batch_id=name).repeated
    with Engine([Stream("TRADES", TRADES.schema), QUOTES], deliveries=tmp_path) as engine:
        for stream in STREAMS:
            for name in names:
                again = engine.push(stream.name, BATCHES["quotes", 4], batch_id=name)
                assert again.repeated and again.ledger.stream == stream.name and again.rows == 3
    assert [(push.stream, push.batch_id) for push in DeliveryLog(tmp_path)] == [
        (stream.name, name) for stream in STREAMS for name in names
    ]
    with pytest.raises(EddylineError, match="ids of batches belong to a stream"):
        assert "7" in DeliveryLog(tmp_path)  # type: ignore[operator]


def test_a_folder_of_an_earlier_format_is_refused(tmp_path: Path) -> None:
    with Engine(STREAMS, deliveries=tmp_path) as engine:
        engine.add("all", "SELECT * FROM quotes")
        engine.push("quotes", BATCH, batch_id="1")
    (path,) = (tmp_path / "pushes").iterdir()
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 2}))
    with pytest.raises(FileError, match="kept by another version of eddyline") as caught:
        Engine(STREAMS, deliveries=tmp_path)
    assert "a new folder" in str(caught.value)


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as other:  # type: ignore[call-overload]
        assert other.stdout.readline() == "held\n"
        with pytest.raises(
            FileError, match=f"deliveries folder .* is used by process {other.pid} on "
        ) as caught:
            Engine([QUOTES], deliveries=tmp_path)
        assert "a folder of its own" in (caught.value.hint or "")
        assert [push.batch_id for push in DeliveryLog(tmp_path)] == ["1"], "readers are welcome"
        other.kill()
    with Engine([QUOTES], deliveries=tmp_path) as engine:
        assert engine.push("quotes", BATCH, batch_id="1").repeated
        with pytest.raises(FileError, match="is used by process"):
            Engine([QUOTES], deliveries=tmp_path)
        with pytest.raises(FileError, match="is used by process"):
            DeliveryLog(tmp_path).write("2", [], BatchAccount("quotes", version=1))


def test_a_folder_is_let_go(tmp_path: Path) -> None:
    """By closing, by forgetting, and by an engine that could not be made."""
    Engine([QUOTES], deliveries=tmp_path).close()
    forgotten = Engine([QUOTES], deliveries=tmp_path)
    del forgotten
    gc.collect()
    with Registry.open(tmp_path / "registry.db") as registry:
        registry.change([], streams=[QUOTES])
        with (
            patch("eddyline.engine.engine.entries_of", side_effect=RegistryError("gone")),
            pytest.raises(RegistryError, match="gone"),
        ):
            Engine([QUOTES], registry=registry, deliveries=tmp_path)
    engine = Engine([QUOTES], deliveries=tmp_path)
    engine.close()
    with pytest.raises(EddylineError, match="the engine is closed"):
        engine.push("quotes", BATCH, batch_id="late")
    assert len(DeliveryLog(tmp_path)) == 0


def test_a_forked_process_does_not_write(tmp_path: Path) -> None:
    with Engine([QUOTES], deliveries=tmp_path) as engine:
        own, child = os.getpid(), os.getpid() + 1
        with (
            patch("eddyline.storage.folder_lock.os.getpid", return_value=child),
            pytest.raises(FileError, match=f"used by process {own}, from which this one was forked"),
        ):
            engine.push("quotes", BATCH, batch_id="1")
        assert not engine.push("quotes", BATCH, batch_id="1").repeated


def push_until_refused(engine: Engine, turn: str, refused: list[str]) -> None:
    try:
        for number in range(10_000):
            engine.push("quotes", BATCH, batch_id=f"{turn}-{number}")
    except EddylineError as error:
        refused.append(error.message)


@pytest.mark.slow
def test_closing_waits_for_the_push_that_is_written(tmp_path: Path) -> None:
    """Whoever closes an engine may hand the folder to another one at once."""
    for turn in range(20):
        engine = Engine([QUOTES], deliveries=tmp_path)
        engine.add("all", "SELECT * FROM quotes")
        refused: list[str] = []
        pushing = threading.Thread(target=push_until_refused, args=(engine, str(turn), refused))
        pushing.start()
        time.sleep(0.01)
        engine.close()
        with DeliveryLog(tmp_path) as log:
            log.hold()
            there = len(log)
            pushing.join()
            assert len(log) == there
        assert refused == ["the engine is closed"]


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    engine = Engine([QUOTES], deliveries=tmp_path)
    engine.add("all", "SELECT * FROM quotes")
    full = OSError(28, "No space left on device")
    with (
        patch("eddyline.storage.durable.os.fsync", side_effect=full),
        pytest.raises(FileError, match="No space left on device"),
    ):
        engine.push("quotes", BATCH, batch_id="1")
    assert engine.ledger.totals.batches == 0
    assert engine.push("quotes", BATCH, batch_id="1").rows == 3
    engine.ledger.check()


def test_a_push_is_flushed_in_order(tmp_path: Path) -> None:
    """Each file once, then the folder that names them, and only then the manifest and its folder."""
    flushed: list[str] = []

    def fsync(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        flushed.append("draft" if path.suffix == ".draft" else path.name)

    with DeliveryLog(tmp_path) as log:
        tables = [pa.table({"query": [name]}) for name in ("a", "b", "c")]
        log.write("1", tables, BatchAccount("quotes", version=1))
        with patch("eddyline.storage.durable.os.fsync", fsync):
            log.write("2", tables, BatchAccount("quotes", version=1))
            log.write("3", [], BatchAccount("quotes", version=1))
    data = [f"quotes@2-{place}.arrow" for place in range(3)]  # not renamed, which would be slower
    assert flushed == [*data, "data", "draft", "pushes", "draft", "pushes"]


def test_what_a_crash_left_of_a_manifest_is_deleted(tmp_path: Path) -> None:
    with DeliveryLog(tmp_path) as log:
        log.write("1", [pa.table({"query": ["a"]})], BatchAccount("quotes", version=1))
        left = tmp_path / "pushes" / ".a.0f.draft"
        left.touch()
        log.hold()
        assert left.exists(), "this engine may be writing it"
    with DeliveryLog(tmp_path) as log:
        log.hold()
        assert len(log) == 1 and not left.exists()


def test_damage_is_noticed(tmp_path: Path) -> None:
    engine = Engine([QUOTES], deliveries=tmp_path)
    engine.add("all", "SELECT * FROM quotes")
    engine.push("quotes", BATCH, batch_id="1")
    path = next((tmp_path / "data").iterdir())
    content = path.read_bytes()
    path.write_bytes(content[:-9] + bytes(9))
    with pytest.raises(FileError, match="a delivery is damaged"):
        list(DeliveryLog(tmp_path))
    path.unlink()
    with pytest.raises(FileError, match="a delivery is missing"):
        engine.push("quotes", BATCH, batch_id="1")
    manifest = next((tmp_path / "pushes").iterdir())
    manifest.write_text('{"format": 3}')
    with pytest.raises(FileError, match="a push is damaged"):
        list(DeliveryLog(tmp_path))
    manifest.write_text("{")
    with pytest.raises(FileError, match="a push cannot be read"):
        list(DeliveryLog(tmp_path))
    engine.close()
    for _ in range(2):  # the one that failed does not hold the folder
        with pytest.raises(FileError, match="a push cannot be read"):
            Engine([QUOTES], deliveries=tmp_path)
