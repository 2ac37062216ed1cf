"""Which version serves which batch: said once, on disk before it is used, found again at the same cost after a million."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eddyline.errors import FileError
from eddyline.model.visit_order import Arrow, VisitOrder
from eddyline.runtime.spark.versions import SetAside, VersionLog
from eddyline.runtime.spark.versions.log import BATCHES
from eddyline.runtime.spark.versions.orders import SegmentOrder
from eddyline.storage.local import LocalStorage
from tests.unit.spark.test_kept_versions import ObjectStore

PIN = """
import sys
from pathlib import Path
from eddyline.runtime.spark.versions import VersionLog
from eddyline.storage.local import LocalStorage
log, own = VersionLog(LocalStorage(Path(sys.argv[1]))), int(sys.argv[2])
sys.stdin.readline()
for batch in range(40):
    pin = log.pin("quotes", batch, lambda: own)
    print(batch, pin.version, pin.at.isoformat(), flush=True)
"""


def fail() -> int:
    raise AssertionError("the batch is pinned: nothing is chosen")


def test_a_batch_keeps_its_pin(tmp_path: Path) -> None:
    log = VersionLog(LocalStorage(tmp_path))
    pin = log.pin("quotes", 0, lambda: 7)
    assert (pin.source, pin.batch_id, pin.version, pin.nulled) == ("quotes", 0, 7, ())
    assert pin == log.pin("quotes", 0, fail) == VersionLog(LocalStorage(tmp_path)).pin("quotes", 0, fail)
    assert log.pin("trades", 0, lambda: 8).version == 8 and log.sources() == ["quotes", "trades"]
    log.update(replace(pin, nulled=("soundex(a)",)))
    assert VersionLog(LocalStorage(tmp_path)).find("quotes", 0) == replace(pin, nulled=("soundex(a)",))
    files = (SetAside("file:///in/a%20b.json", 'it has no column "é"'),)
    for more in (replace(pin, set_aside=files), replace(pin, set_aside=files, settled=True)):
        log.update(more)
        assert VersionLog(LocalStorage(tmp_path)).find("quotes", 0) == more


def test_orders_are_part_of_the_pin(tmp_path: Path) -> None:
    """A batch keeps the orders it was pinned with; equal ones are written once a file; older lines have none."""
    log = VersionLog(LocalStorage(tmp_path))
    (tmp_path / "quotes").mkdir()
    old = {"batch": 0, "version": 1, "at": "2026-01-01T00:00:00+00:00"}
    (tmp_path / "quotes" / "000000000.jsonl").write_text(json.dumps(old) + "\n")
    one = (SegmentOrder("x", VisitOrder((1, 0)), "row by row", "b -> a"),)
    other = (SegmentOrder("x", VisitOrder((0, 1), (Arrow(0, 3, 1),)), "sliced", "a -> b and 1 micro-arrows"),)
    for batch, orders in ((1, one), (2, one), (3, other), (4, ()), (5, other), (BATCHES, other)):
        log.pin("quotes", batch, lambda: 2, lambda version, orders=orders: orders)  # type: ignore[misc]
    pin = log.pin("quotes", 2, fail, lambda version: other)
    log.update(replace(pin, nulled=("soundex(a)",)))
    for seen in (log, VersionLog(LocalStorage(tmp_path))):
        found = [pin.orders for pin in seen.pins("quotes")]
        assert found == [(), one, one, other, (), other, other]
        assert seen.find("quotes", 2) == replace(pin, nulled=("soundex(a)",))
    lines = (tmp_path / "quotes" / "000000000.jsonl").read_text().splitlines()
    written = [json.loads(line).get("orders") for line in lines]
    assert written == [None, [one[0].as_json()], 1, [other[0].as_json()], None, 3, [one[0].as_json()]]


def test_commits_and_accounts(tmp_path: Path) -> None:
    log = VersionLog(LocalStorage(tmp_path))
    pin = log.pin("quotes", 0, lambda: 7)
    assert [p.batch_id for p in log.uncommitted()] == [0] and not log.committed("quotes", 0)
    log.commit("quotes", 0, {"rows": 3})
    log.commit("quotes", 0, {"rows": 99})
    later = log.pin("quotes", 1, lambda: 8)
    for seen in (log, VersionLog(LocalStorage(tmp_path))):
        assert seen.committed("quotes", 0) and not seen.committed("quotes", 1)
        served = seen.served("quotes", 0)
        assert served is not None and served.account == {"rows": 3} and served.committed is not None
        assert seen.uncommitted() == [later] == [seen.last("quotes")]
        assert seen.pins("quotes") == [pin, later]
    with pytest.raises(FileError, match='batch 5 of source "quotes" is not pinned'):
        log.commit("quotes", 5, {})
    with pytest.raises(FileError, match="is not pinned"):
        log.update(replace(pin, batch_id=5))
    assert (
        VersionLog(LocalStorage(tmp_path / "none")).last("quotes") is None
        and VersionLog(LocalStorage(tmp_path / "none")).sources() == []
    )


def test_ranges(tmp_path: Path) -> None:
    log = VersionLog(LocalStorage(tmp_path))
    for batch in (0, 1, BATCHES - 1, BATCHES, 3 * BATCHES + 5):
        log.pin("a b/c.d", batch, lambda batch=batch: batch)
    again = VersionLog(LocalStorage(tmp_path))
    assert [pin.batch_id for pin in again.pins("a b/c.d", 1, BATCHES)] == [1, BATCHES - 1, BATCHES]
    assert again.last("a b/c.d") == again.find("a b/c.d", 3 * BATCHES + 5)
    assert again.sources() == ["a b/c.d"] and again.find("a b/c.d", 2) is None
    assert len(list(tmp_path.iterdir())) == 1


def test_half_a_line_does_not_count(tmp_path: Path) -> None:
    log = VersionLog(LocalStorage(tmp_path))
    log.pin("quotes", 0, lambda: 1)
    (file,) = tmp_path.rglob("*.jsonl")
    whole = file.read_bytes()
    extra = json.dumps({"batch": 1, "version": 2, "at": "2026-01-01T00:00:00+00:00"}).encode()
    for cut in range(len(extra) + 1):
        file.write_bytes(whole + extra[:cut])
        again = VersionLog(LocalStorage(tmp_path))
        assert again.find("quotes", 1) is None
        assert again.pin("quotes", 1, lambda: 3).version == 3
        assert [p.version for p in VersionLog(LocalStorage(tmp_path)).pins("quotes")] == [1, 3]
    file.write_bytes(whole + bytes(50))  # as some file systems leave it when the power goes
    assert VersionLog(LocalStorage(tmp_path)).pin("quotes", 1, lambda: 4).version == 4
    file.write_bytes(whole + b"nonsense\n")
    damaged = VersionLog(LocalStorage(tmp_path))
    for _ in range(2):  # it is not passed over by asking again
        with pytest.raises(FileError, match="is damaged"):
            damaged.find("quotes", 0)
    with pytest.raises(FileError, match="is damaged"):
        damaged.pin("quotes", 1, lambda: 5)


def test_a_pin_that_may_not_be_on_disk_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = VersionLog(LocalStorage(tmp_path))
    log.pin("quotes", 0, lambda: 1)

    def broken(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", broken)
        with pytest.raises(FileError, match=r"cannot be written down.*No space left"):
            log.pin("quotes", 1, lambda: 2)
    assert log.find("quotes", 1) is None and VersionLog(LocalStorage(tmp_path)).find("quotes", 1) is None
    assert log.pin("quotes", 1, lambda: 3).version == 3


def test_the_start_does_not_look_at_everything(tmp_path: Path) -> None:
    """A million batches: as many files as thousands, of which the newest are read."""
    folder = tmp_path / "quotes"
    folder.mkdir()
    for number in range(1000):
        (folder / f"{number * BATCHES:09d}.jsonl").touch()
    last = folder / f"{999 * BATCHES:09d}.jsonl"
    at = "2026-01-01T00:00:00+00:00"
    lines = [
        {"batch": 999 * BATCHES + i, **more}
        for i in range(999)
        for more in ({"version": i, "at": at}, {"account": {"rows": 1}, "committed": at})
    ]
    last.write_text("".join(json.dumps(line) + "\n" for line in lines))
    start = time.process_time()
    log = VersionLog(LocalStorage(tmp_path))
    newest = log.last("quotes")
    assert newest is not None and newest.batch_id == 999_998 and log.uncommitted() == []
    log.pin("quotes", 999_999, lambda: 5)
    assert time.process_time() - start < 0.5


def test_two_processes_agree(tmp_path: Path) -> None:
    commands = [[sys.executable, "-c", PIN, str(tmp_path), str(own)] for own in (1, 2)]
    both = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for command in commands
    ]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0] for process in both]
    assert said[0] == said[1] and len(said[0].splitlines()) == 40


@pytest.mark.parametrize("kind", [LocalStorage, ObjectStore])
def test_old_batches_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[LocalStorage]
) -> None:
    monkeypatch.setattr("eddyline.runtime.spark.versions.log.BATCHES", 3)
    log = VersionLog(kind(tmp_path))
    for batch in range(14):
        log.pin("quotes", batch, lambda: 1)
        log.commit("quotes", batch, {})
    old = log.pins("quotes")[6].at
    assert log.forget("quotes", old) == 2, "batch 6 is not older than itself, and stays with its log"
    assert [pin.batch_id for pin in VersionLog(kind(tmp_path)).pins("quotes")] == list(range(6, 14))
    assert log.forget("quotes", datetime.now(UTC)) == 1, "the newest two logs stay"
    assert [pin.batch_id for pin in VersionLog(kind(tmp_path)).pins("quotes")] == list(range(9, 14))
    assert log.forget("other", datetime.now(UTC)) == 0
