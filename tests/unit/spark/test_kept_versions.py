"""State in a store that knows whole files only: sound whenever the process is killed, and found again by another machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from eddyline.errors import FileError, OwnershipError
from eddyline.registry import Registry
from eddyline.runtime.spark.versions import VersionLog, Versions
from eddyline.standing.saved.files import files_of
from eddyline.storage.local import LocalStorage
from eddyline.storage.object_log import ObjectLineLog
from tests.conftest import some
from tests.unit.spark.owners import Owner
from tests.unit.spark.registries import check, filled
from tests.unit.spark.test_version_crashes import BATCHES, Killed, next_change

STEPS = ("put", "put_if_absent", "delete", "delete_folder")


class ObjectStore(LocalStorage):
    """Files that are put whole; the process is killed before a step, or after it, when nobody has heard of its end."""

    def __init__(
        self, root: Path, steps: list[str] | None = None, kill: tuple[int, bool] | None = None
    ) -> None:
        super().__init__(root)
        self._steps = [] if steps is None else steps
        self._kill = kill

    def line_log(self, name: str) -> ObjectLineLog:  # type: ignore[override]
        return ObjectLineLog(self, name)

    def put(self, name: str, content: bytes | Iterable[bytes]) -> None:
        self._step("put", super().put, name, content)

    def put_if_absent(self, name: str, content: bytes) -> bool:
        return bool(self._step("put_if_absent", super().put_if_absent, name, content))

    def delete(self, name: str) -> None:
        self._step("delete", super().delete, name)

    def delete_folder(self, folder: str) -> None:
        self._step("delete_folder", super().delete_folder, folder)

    def _step(self, name: str, plain: Callable[..., Any], *arguments: Any) -> Any:
        dies, after = self._kill == (len(self._steps), False), self._kill == (len(self._steps), True)
        if dies:
            raise Killed
        self._steps.append(name)
        result = plain(*arguments)
        if after:
            raise Killed
        return result


def work(registry: Registry, store: Callable[[str], ObjectStore], machine: Path) -> None:
    """A short life of a pipeline on a machine that has nothing: versions made, pinned, committed, forgotten."""
    versions, log = Versions(registry, machine, kept=store("sets")), VersionLog(store("batches"))
    last = log.last("quotes")
    first = 0 if last is None else last.batch_id + log.committed("quotes", last.batch_id)
    for batch in range(first, BATCHES):
        pin = log.pin("quotes", batch, versions.current)
        check(versions, registry, pin.version)
        log.commit("quotes", batch, {"rows": 1})
        versions.forget(pin.version, keep={pin.version for pin in log.uncommitted()})
        next_change(registry)


def pinned(root: Path) -> dict[int, int]:
    return {pin.batch_id: pin.version for pin in VersionLog(ObjectStore(root / "batches")).pins("quotes")}


@pytest.mark.parametrize("after", some([False, True], quick=[True]), ids=["before a step", "after a step"])
def test_every_step(tmp_path: Path, after: bool) -> None:
    steps: list[str] = []
    with filled(tmp_path / "whole.db", 6) as registry:
        work(registry, lambda name: ObjectStore(tmp_path / "whole" / name, steps), tmp_path / "m")
    assert pinned(tmp_path / "whole") == {0: 2, 1: 3} and set(steps) == set(STEPS)
    for step in range(len(steps)):
        root, done = tmp_path / f"s{step}", list[str]()

        def store(name: str, root: Path = root, done: list[str] = done, step: int = step) -> ObjectStore:
            return ObjectStore(root / name, done, (step, after))

        with filled(tmp_path / f"{step}.db", 6) as registry:
            with suppress(Killed):
                work(registry, store, tmp_path / f"m{step}")
            before = pinned(root)
            work(registry, lambda name, root=root: ObjectStore(root / name), tmp_path / f"n{step}")
            found = pinned(root)
            assert before.items() <= found.items() and set(found) == {0, 1}, "a pin changed"
            third = tmp_path / f"o{step}"
            versions = Versions(registry, third, kept=ObjectStore(root / "sets"))
            assert versions.current() == registry.version and not versions.notices
            check(versions, registry, registry.version)
            versions.forget(registry.version)
            sets = root / "sets"
            left = {path.relative_to(sets).as_posix() for path in sets.rglob("*") if path.is_file()}
            assert left == set(files_of(third / "versions" / str(registry.version))), (
                "something was left behind"
            )


def test_a_version_of_which_something_is_missing_is_compiled_again(tmp_path: Path) -> None:
    with filled(tmp_path / "registry.db", 6) as registry:
        Versions(registry, tmp_path / "one", kept=ObjectStore(tmp_path / "sets")).current()
        next((tmp_path / "sets" / "segments").iterdir()).unlink()
        versions = Versions(registry, tmp_path / "two", kept=ObjectStore(tmp_path / "sets"))
        check(versions, registry, versions.current())


@pytest.mark.parametrize("content", [b"", b"{", b"[]"])
def test_a_damaged_manifest_is_made_again(tmp_path: Path, content: bytes) -> None:
    with filled(tmp_path / "r.db", 5) as registry:
        store = ObjectStore(tmp_path / "kept")
        Versions(registry, tmp_path / "one", kept=store).current()
        (manifest,) = (tmp_path / "kept").rglob("manifest.json")
        manifest.write_bytes(content)
        versions = Versions(registry, tmp_path / "two", kept=store)
        check(versions, registry, versions.current())


def test_what_is_damaged_in_the_store_is_replaced(tmp_path: Path) -> None:
    with filled(tmp_path / "r.db", 5) as registry:
        store = ObjectStore(tmp_path / "kept")
        Versions(registry, tmp_path / "one", kept=store).current()
        segment = next((tmp_path / "kept" / "segments").iterdir())
        whole = segment.read_bytes()
        segment.write_bytes(whole[: len(whole) // 2])
        for machine, notices in (("two", 1), ("three", 0)):
            versions = Versions(registry, tmp_path / machine, kept=store)
            check(versions, registry, versions.current())
            assert len(versions.notices) == notices


def test_only_what_is_needed_is_brought_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of versions that nobody asks for only the manifest, and nothing through the memory but that."""
    with filled(tmp_path / "registry.db", 6) as registry:
        versions = Versions(registry, tmp_path / "one", kept=ObjectStore(tmp_path / "sets"))
        first = versions.current()
        next_change(registry)
        second = versions.current()
        read: list[str] = []
        real = ObjectStore.read
        monkeypatch.setattr(ObjectStore, "read", lambda self, name: read.append(name) or real(self, name))  # type: ignore[func-returns-value]
        again = Versions(registry, tmp_path / "two", kept=ObjectStore(tmp_path / "sets"))
        assert read == [f"versions/{version}/manifest.json" for version in (first, second)]
        monkeypatch.undo()
        here = {
            path.relative_to(tmp_path / "two") for path in (tmp_path / "two").rglob("*") if path.is_file()
        }
        newest = {Path(file) for file in files_of(tmp_path / "two" / "versions" / str(second))}
        assert here == {*newest, Path("versions", str(first), "manifest.json")}
        check(again, registry, first)
        assert again.current() == second and not again.notices


def test_nothing_is_written_by_one_that_was_taken_over(tmp_path: Path) -> None:
    log = VersionLog(ObjectStore(tmp_path), Owner(error=OwnershipError("taken over")))
    with pytest.raises(FileError, match="taken over"):
        log.pin("quotes", 0, lambda: 1)
    assert log.last("quotes") is None and not list(tmp_path.iterdir())


def test_one_that_meets_lines_of_another_asks_whether_it_was_taken_over(tmp_path: Path) -> None:
    owner = Owner()
    log, other = VersionLog(ObjectStore(tmp_path), owner), VersionLog(ObjectStore(tmp_path))
    log.pin("quotes", 0, lambda: 1)
    other.pin("quotes", 1, lambda: 2)
    assert not owner.asked and log.pin("quotes", 1, lambda: 3).version == 2 and owner.asked
