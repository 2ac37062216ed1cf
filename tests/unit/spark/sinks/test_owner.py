"""Who may write into a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eddyline.errors import SinkError
from eddyline.runtime.spark.sinks import make_sink
from tests.spark.sink_rows import THEM, US, settings_of


def open_sink(path: Path, whose: object = US, **more: object) -> None:
    make_sink(settings_of("parquet", path, **more), folder=Path()).open(whose)  # type: ignore[arg-type]


def test_a_new_folder_is_taken_and_opened_again(tmp_path: Path) -> None:
    open_sink(tmp_path / "a" / "out")
    open_sink(tmp_path / "a" / "out")
    mark = json.loads((tmp_path / "a" / "out" / "_eddyline.json").read_bytes())
    assert mark["pipeline"] == US.id and mark["sink"] == "out" and mark["format"] == "parquet"
    assert [path.name for path in (tmp_path / "a" / "out").iterdir()] == ["_eddyline.json"]


def test_inspecting_changes_nothing(tmp_path: Path) -> None:
    make_sink(settings_of("parquet", tmp_path / "out"), folder=Path()).inspect()
    assert not (tmp_path / "out").exists()


def test_a_new_checkpoint_is_refused(tmp_path: Path) -> None:
    open_sink(tmp_path)
    with pytest.raises(SinkError, match="another checkpoint") as refusal:
        open_sink(tmp_path, THEM)
    assert "name a new folder" in (refusal.value.hint or "")
    with pytest.raises(SinkError, match="another checkpoint"):
        make_sink(settings_of("parquet", tmp_path), folder=Path()).inspect()


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(SinkError, match="is not empty"):
        open_sink(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "other"}, 'belongs to the sink "out"'),
        ({"partition_by": ("date",)}, r'partition_by = \[\], and the settings say \["date"\]'),
    ],
)
def test_a_folder_keeps_its_sink_and_layout(tmp_path: Path, change: dict[str, object], words: str) -> None:
    open_sink(tmp_path)
    with pytest.raises(SinkError, match=words):
        open_sink(tmp_path, **change)


def test_a_folder_keeps_its_format(tmp_path: Path) -> None:
    open_sink(tmp_path)
    with pytest.raises(SinkError, match='format = "parquet", and the settings say "json"'):
        make_sink(settings_of("json", tmp_path), folder=Path()).open(US)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"eddyline": 1}'])
def test_a_damaged_mark_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "_eddyline.json").write_text(content)
    with pytest.raises(SinkError, match="is damaged"):
        open_sink(tmp_path)


def test_another_form_is_told(tmp_path: Path) -> None:
    (tmp_path / "_eddyline.json").write_text('{"eddyline": 2}')
    with pytest.raises(SinkError, match="another version of Eddyline"):
        open_sink(tmp_path)


def test_a_path_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(SinkError, match="Not a directory"):
        open_sink(tmp_path / "out")


def test_a_table_that_somebody_made_may_be_used_by_delta(tmp_path: Path) -> None:
    (tmp_path / "table" / "_delta_log").mkdir(parents=True)
    (tmp_path / "table" / "part-0.parquet").touch()
    make_sink(settings_of("delta", tmp_path / "table"), folder=Path()).open(US)
    with pytest.raises(SinkError, match="another checkpoint"):
        make_sink(settings_of("delta", tmp_path / "table"), folder=Path()).open(THEM)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "y.txt").touch()
    with pytest.raises(SinkError, match="is not empty"):
        make_sink(settings_of("delta", tmp_path / "x"), folder=Path()).open(US)


def test_relative_paths_and_urls(tmp_path: Path) -> None:
    make_sink(settings_of("json", "out"), folder=tmp_path).open(US)
    assert (tmp_path / "out" / "_eddyline.json").exists()
    make_sink(settings_of("json", (tmp_path / "ü x").as_uri()), folder=Path("/nowhere")).open(US)
    assert (tmp_path / "ü x" / "_eddyline.json").exists()


def test_no_path() -> None:
    for format in ("parquet", "delta"):
        with pytest.raises(SinkError, match="has no path"):
            make_sink(settings_of(format), folder=Path()).inspect()
