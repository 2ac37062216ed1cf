"""Two owners with the same batch: one stands still at some step, the other takes over, then the first goes on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from eddyline.errors import DeliveryError, OwnershipError
from eddyline.runtime.spark.sinks import folder as folder_module
from eddyline.runtime.spark.sinks.batch_folders import new_attempt, remove_leftovers
from eddyline.runtime.spark.sinks.files import FileSink
from eddyline.runtime.spark.sinks.storage import LocalOutput, SparkOutput
from eddyline.storage.local import LocalStorage
from tests.spark.sink_rows import US, batch_of, settings_of
from tests.unit.spark.owners import Owner
from tests.unit.spark.sinks.test_kills import Killed

ROWS = ["a", "b", "c"]
Step = Callable[[str], None]


class Store(LocalStorage):
    """What a file system of Spark's can do, with files that are moved one by one; `before` is called before each step."""

    def __init__(self, root: Path, before: Step) -> None:
        super().__init__(root)
        self.before = before

    def exists(self, name: str) -> bool:
        self.before(f"exists {name}")
        return super().exists(name)

    def folders(self, folder: str) -> list[str]:
        self.before(f"folders {folder}")
        return super().folders(folder)

    def put(self, name: str, content: bytes | Iterable[bytes]) -> None:
        self.before(f"put {name}")
        super().put(name, content)

    def put_if_absent(self, name: str, content: bytes) -> bool:
        self.before(f"put_if_absent {name}")
        return super().put_if_absent(name, content)

    def delete_folder(self, folder: str) -> None:
        for file in sorted(path for path in (self.root / folder).rglob("*") if path.is_file()):
            self.before(f"delete {file}")
            file.unlink(missing_ok=True)
        super().delete_folder(folder)

    def move_folder(self, folder: str, to: str) -> None:
        for file in sorted(path for path in (self.root / folder).rglob("*") if path.is_file()):
            self.before(f"move {file}")
            target = self.root / to / file.relative_to(self.root / folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)
        shutil.rmtree(self.root / folder, ignore_errors=True)

    def walk(self, folder: str) -> list[tuple[str, int]] | None:
        self.before(f"walk {folder}")
        root = self.root / folder
        files = sorted(path for path in root.rglob("*") if path.is_file())
        return [(str(path.relative_to(root)), path.stat().st_size) for path in files] or None


def sink_of(
    root: Path, owner: Owner, monkeypatch: pytest.MonkeyPatch, before: Step = lambda step: None
) -> FileSink:
    """The sink of an owner; its job names files as no other job does, as Spark's jobs do."""
    output = SparkOutput.__new__(SparkOutput)
    output.address = str(root)
    output._storage = Store(root, lambda step: None)  # type: ignore[assignment]
    with monkeypatch.context() as patch:
        patch.setattr(folder_module, "storage_of", lambda path, folder: output)
        sink = FileSink(settings_of("json", root), Path())
        sink.open(replace(US, owner=owner))
    output._storage.before = before  # type: ignore[attr-defined]

    def write(rows: Any, batch: Any, typed: Any, storage: Any, to: str) -> None:
        job = uuid4().hex
        (root / to).mkdir(parents=True)
        for row in ROWS:
            before(f"write {row}")
            (root / to).mkdir(parents=True, exist_ok=True)  # as stores do, which know no folders
            (root / to / f"part-{row}-{job}").write_text(row)
        (root / to / "_SUCCESS").touch()

    sink._write = write  # type: ignore[method-assign]
    return sink


def deliver(sink: FileSink) -> None:
    sink.deliver(None, batch_of(), None)  # type: ignore[arg-type]


def read(root: Path) -> list[str]:
    """What somebody finds who goes by the records."""
    records = [json.loads(path.read_text()) for path in (root / "_commits").rglob("*.json")]
    return sorted((root / file).read_text() for record in records for file in record["files"])


def steps_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    steps: list[str] = []
    deliver(sink_of(tmp_path / "plain", Owner(1), monkeypatch, steps.append))
    assert read(tmp_path / "plain") == ROWS
    return len(steps)


def test_one_stands_still_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every step; meanwhile the other delivers all of the batch, and the first goes on or finds that it must not."""
    count = steps_of(tmp_path, monkeypatch)
    assert count > 12
    for at in range(count):
        root, owner, left = tmp_path / str(at), Owner(1), [at]

        def stand_still(step: str, root: Path = root, owner: Owner = owner, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == -1:
                owner.error = OwnershipError("taken over")
                deliver(sink_of(root, Owner(2), monkeypatch))
                assert read(root) == ROWS

        with suppress(OwnershipError, DeliveryError):
            deliver(sink_of(root, owner, monkeypatch, stand_still))
        assert left[0] < 0 and read(root) == ROWS, f"step {at}"
        deliver(sink_of(root, Owner(3), monkeypatch))
        assert read(root) == ROWS


def test_the_other_is_killed_and_the_first_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every step of both: what the first one finds then may be half removed."""
    count = steps_of(tmp_path, monkeypatch)
    for at in range(count):
        for then in range(count):
            root, owner, left, more = tmp_path / f"{at}-{then}", Owner(1), [at], [then]

            def die(step: str, more: list[int] = more) -> None:
                more[0] -= 1
                if more[0] == -1:
                    raise Killed

            def stand_still(
                step: str, root: Path = root, owner: Owner = owner, left: list[int] = left, die: Step = die
            ) -> None:
                left[0] -= 1
                if left[0] == -1:
                    owner.error = OwnershipError("taken over")
                    with suppress(Killed):
                        deliver(sink_of(root, Owner(2), monkeypatch, die))

            with suppress(OwnershipError, DeliveryError):
                deliver(sink_of(root, owner, monkeypatch, stand_still))
            with suppress(
                FileNotFoundError
            ):  # an error, until the batch is delivered again, and nothing wrong
                assert read(root) in ([], ROWS), f"steps {at} and {then}"
            deliver(sink_of(root, Owner(3), monkeypatch))
            assert read(root) == ROWS, f"steps {at} and {then}"


def test_what_a_late_task_writes_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task of an earlier owner ends while the next one writes the same batch, and when it moves it."""
    first, late = batch_of(), [0]

    def a_task_ends(step: str) -> None:
        late[0] += 1
        stray = tmp_path / old / f"part-late-{late[0]}"
        stray.parent.mkdir(parents=True, exist_ok=True)
        stray.write_text("late")

    old = new_attempt(first, Owner(1))
    deliver(sink_of(tmp_path, Owner(2), monkeypatch, a_task_ends))
    assert late[0] > 5 and read(tmp_path) == ROWS


def test_leftovers(tmp_path: Path) -> None:
    """Those of the same owner and of the ones before it go, also those of older releases; never those of the next owner."""
    output, batch = LocalOutput(tmp_path), batch_of(17)
    folders = {owner: tmp_path / new_attempt(batch, Owner(owner)) for owner in (1, 2, 3)}
    folders[0] = tmp_path / "_staging" / "source=quotes" / "17"
    for folder in folders.values():
        folder.mkdir(parents=True)
    remove_leftovers(output, batch_of(18), Owner(2))
    assert [owner for owner, folder in folders.items() if folder.exists()] == [3]
    assert new_attempt(batch, Owner()) != new_attempt(batch, Owner())


def test_a_batch_that_is_there_leaves_nothing_in_staging(tmp_path: Path) -> None:
    """A process was killed after it had put the batch in its place, and before it had removed the summaries beside it."""
    sink = FileSink(settings_of("parquet", tmp_path), Path())
    sink.open(replace(US, owner=Owner(2)))
    left = tmp_path / new_attempt(batch_of(), Owner(1)) / "part=-2"
    left.mkdir(parents=True)
    (tmp_path / "source=quotes" / "batch=0").mkdir(parents=True)
    deliver(sink)
    assert not left.exists()
