"""Files that wait: those in the folder that Spark's log of the source does not have yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eddyline.runtime.spark.base.settings import SourceSettings
from eddyline.runtime.spark.pipeline.input import waiting_files as module
from eddyline.runtime.spark.pipeline.input.waiting_files import WaitingFiles, waiting_files


class Place:
    """A folder of files and Spark's log of them, with a clock that goes on with every look."""

    def __init__(self, folder: Path) -> None:
        self.files = folder / "in coming"
        self.entries = folder / "spark" / "sources" / "0"
        self.files.mkdir()
        self.now = 0.0
        self._waiting = WaitingFiles(self.files, folder / "spark", clock=self.clock)

    def clock(self) -> float:
        self.now += module.AGAIN
        return self.now

    def come(self, *names: str) -> None:
        for name in names:
            path = self.files / name
            path.parent.mkdir(exist_ok=True)
            path.touch()

    def taken(self, log: str, *names: str) -> None:
        self.entries.mkdir(parents=True, exist_ok=True)
        paths = [(self.files / name).as_uri() for name in names]
        (self.entries / log).write_text("v1\n" + "\n".join(json.dumps({"path": path}) for path in paths))

    @property
    def count(self) -> int | None:
        return self._waiting.count()


def test_files_come_and_are_taken(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.count == 0
    place.come("a b.json", "day=1/c.json", "_hidden.json", ".draft", "_folder/d.json")
    assert place.count == 2
    place.taken("0", "a b.json")
    assert place.count == 1
    place.taken("1", "day=1/c.json")
    place.come("e.json")
    assert place.count == 1
    (place.files / "a b.json").unlink()  # somebody clears up: nothing waits more for it
    assert place.count == 1


def test_a_log_that_was_made_one(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.come("a.json", "b.json", "c.json")
    place.taken("8", "a.json")
    assert place.count == 2
    place.taken("9.compact", "a.json", "b.json")
    (place.entries / "8").unlink()
    assert place.count == 1


def test_too_many_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place = Place(tmp_path)
    place.come("a.json", "b.json")
    monkeypatch.setattr(module, "MOST_FILES", 1)
    with caplog.at_level("INFO"):
        assert place.count is None and place.count is None
    assert len([text for text in caplog.messages if "too many" in text]) == 1
    monkeypatch.undo()
    place.taken("0", "a.json")
    monkeypatch.setattr(module, "MOST_BYTES", 1)
    assert place.count is None
    monkeypatch.undo()
    assert place.count is None and not place._waiting._seen, "the log only grows: nothing of it is kept"


def test_a_folder_that_is_away(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.come("a.json")
    assert place.count == 1
    away = place.files.rename(tmp_path / "away")
    assert place.count is None, "nobody knows, which is not none"
    away.rename(place.files)
    assert place.count == 1


def test_sources_of_which_only_spark_knows(tmp_path: Path) -> None:
    def found(**settings: object) -> object:
        given = {"name": "a", "format": "json", "path": str(tmp_path), **settings}
        return waiting_files(SourceSettings(**given), tmp_path)  # type: ignore[arg-type]

    assert found() is not None and found(path=tmp_path.as_uri()) is not None
    assert found(format="kafka", path=None) is None
    assert found(path="s3a://lake/in") is None
    assert found(path=f"{tmp_path}/*.json") is None
    assert found(options={"pathGlobFilter": "*.json"}) is None
