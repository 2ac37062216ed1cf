"""A pipeline's state is sound whenever the process is killed: at every single step of writing it, one after the other."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from eddyline import QuerySet
from eddyline.errors import FileError
from eddyline.queryset import open_set
from eddyline.registry import Drop, Put, Registry, Set, State
from eddyline.runtime.spark.versions import StateFolder, VersionLog, Versions
from eddyline.standing.saved.files import files_of
from eddyline.storage.local import LocalStorage
from tests.conftest import some
from tests.unit.spark.registries import BATCH, QUOTES, check, filled, text

BATCHES = 2
STEPS = ("fsync", "replace", "link", "mkdir", "unlink", "rmdir", "ftruncate", "pwrite")


class Killed(BaseException):
    """The process ends here."""


@contextmanager
def killed_at(step: int | None, *, torn: bool = False) -> Iterator[list[str]]:
    """Run until a step of writing and no further; `torn`: what was not on disk for sure by then is only half there."""
    done: list[str] = []

    def wrapped(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if len(done) == step:
                if torn and name == "fsync" and Path(f"/proc/self/fd/{arguments[0]}").is_file():
                    os.truncate(f"/proc/self/fd/{arguments[0]}", os.fstat(arguments[0]).st_size // 2)
                raise Killed
            done.append(name)
            return None if name == "fsync" else plain(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in STEPS:
            patch.setattr(os, name, wrapped(name, getattr(os, name)))
        with suppress(Killed):
            yield done


def work(registry: Registry, state: Path) -> None:
    """A short life of a pipeline: versions made, pinned, committed, forgotten."""
    folder = StateFolder.open(state, name="market", sources=["quotes"])
    with folder.lock():
        versions, log = Versions(registry, state / "sets"), VersionLog(folder.batches)
        last = log.last("quotes")
        first = 0 if last is None else last.batch_id + log.committed("quotes", last.batch_id)
        for batch in range(first, BATCHES):
            pin = log.pin("quotes", batch, versions.current)
            versions.shipment(pin.version)
            log.commit("quotes", batch, {"rows": 1})
            versions.forget(pin.version, keep={pin.version for pin in log.uncommitted()})
            next_change(registry)


def next_change(registry: Registry) -> None:
    """One change of queries, states and destinations for each batch."""
    at = registry.version
    if at < 2 + BATCHES:
        edits = [Put(f"n{at}", text(at)), Drop(f"q{at - 2}"), Set("q5", state=State.SHADOW)]
        registry.change([*edits, Set("q4", destination=f"d{at}")], author="ann")


def pinned(state: Path) -> dict[int, int]:
    return {pin.batch_id: pin.version for pin in VersionLog(LocalStorage(state / "batches")).pins("quotes")}


@pytest.mark.parametrize("torn", some([False, True], quick=[True]))
def test_every_step_of_a_pipeline(tmp_path: Path, torn: bool) -> None:
    filled(tmp_path / "template.db", 6).close()
    shutil.copy(tmp_path / "template.db", tmp_path / "whole.db")
    with Registry.open(tmp_path / "whole.db") as registry, killed_at(None) as done:
        work(registry, tmp_path / "whole")
    assert 40 < len(done) < 200 and pinned(tmp_path / "whole") == {0: 2, 1: 3}
    for step, name in enumerate(done):
        if torn and name != "fsync":
            continue
        state = tmp_path / f"state-{step}"
        shutil.copy(tmp_path / "template.db", tmp_path / f"{step}.db")
        with Registry.open(tmp_path / f"{step}.db") as registry:
            with killed_at(step, torn=torn):
                work(registry, state)
            before = pinned(state)
            with killed_at(None):
                work(registry, state)
                versions = Versions(registry, state / "sets")
                after = pinned(state)
                assert before.items() <= after.items() and set(after) == {0, 1}, "a pin changed"
                assert versions.current() == registry.version and not versions.notices
                for version in {after[1], registry.version}:
                    check(versions, registry, version)
                versions.forget(registry.version)
            root = state / "sets"
            found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
            assert found == set(files_of(root / "versions" / str(registry.version))), (
                "something was left behind"
            )


def test_every_step_of_saving(tmp_path: Path) -> None:
    one = QuerySet.build({f"q{i}": text(i) for i in range(9)}, streams=[QUOTES])
    two = one.remove(["q1"]).add({"new": text(1)})
    wanted = [version.count(BATCH) for version in (one, two)]
    with killed_at(None) as done:
        one.save_shared(tmp_path / "whole", "1")
        first = len(done)
        two.save_shared(tmp_path / "whole", "2")
    for step in range(len(done)):
        root = tmp_path / str(step)
        with killed_at(step):
            one.save_shared(root, "1")
            two.save_shared(root, "2")
        for name, counts, needed in (("1", wanted[0], first), ("2", wanted[1], len(done))):
            try:
                assert open_set(root / "versions" / name).count(BATCH) == counts
            except FileError:
                assert step < needed, "what was saved is there"
        for version, name in ((one, "1"), (two, "2")):
            with suppress(FileError):  # it is there already
                version.save_shared(root, name)
        assert [open_set(root / "versions" / name).count(BATCH) for name in "12"] == wanted
