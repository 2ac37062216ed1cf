"""Results that are written by the job that makes them: what a reader finds is what the other way gives."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from eddyline.registry import Put
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.pipeline.batch import matching
from eddyline.runtime.spark.sinks.files import FileSink
from eddyline.runtime.spark.sinks.shape import PART
from eddyline.runtime.spark.sinks.typed import TypedList
from eddyline.runtime.spark.sinks.written_together import WrittenTogether, written_together
from eddyline.spark import Pipeline
from tests.spark.pipelines import Place, quotes, run, with_sinks
from tests.spark.sink_rows import US, batch_of, settings_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("impatient")


def test_both_ways_give_the_same(spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sinks, one of them without rows in a batch; a batch with a dead letter goes the other way."""
    place.register(
        [
            Put("all", "SELECT * FROM quotes"),
            Put("low", "SELECT * FROM quotes WHERE id < 4", destination="other"),
        ]
    )
    for batch, broken in enumerate(([], [], ["{broken"], [])):
        place.write(f"{batch}.json", quotes(batch * 3, 3), *broken)
        seconds = 1_700_000_000 + batch  # Spark takes the oldest first
        os.utime(place.folder / "quotes" / f"{batch}.json", (seconds, seconds))
    settings = with_sinks(
        place.settings,
        SinkSettings(name="other", format="parquet", path=str(place.folder / "two")),
    )
    monkeypatch.setattr(matching, "PAUSE", 1)
    written = _watched(monkeypatch)

    reports = run(settings, spark).reports()

    assert [batch for batch, _ in written] == [0, 1, 2, 3]
    assert [report.delivered for report in reports] == [
        {"results": 3, "other": 3},
        {"results": 3, "other": 1},
        {"results": 3},
        {"results": 3},
    ]
    assert [letter["text"] for letter in place.letters()] == ["{broken"]
    assert not any(path.is_file() for path in place.folder.glob("*/_staging/**/*"))

    monkeypatch.setattr(matching, "written_together", lambda *_: None)
    again = replace(
        settings,
        checkpoint=str(place.folder / "state2"),
        sinks=tuple(replace(sink, path=f"{sink.path}-kept") for sink in settings.sinks),
    )
    run(again, spark)
    for folder in ("out", "two"):
        assert _tables(place.folder / folder) == _tables(place.folder / f"{folder}-kept")


def test_what_fails_is_made_the_other_way(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place.register({"all": "SELECT id FROM quotes"})
    place.write("a.json", quotes(0, 2))
    place.write("b.json", quotes(2, 2))
    written = _watched(monkeypatch, failure=OSError("the disk is gone"))

    with caplog.at_level("WARNING"):
        run(place.settings, spark)

    assert place.pairs() == [("all", id) for id in range(4)]
    assert [batch for batch, _ in written] == [0], "not tried again for a while"
    assert [text for text in caplog.messages if "are made again" in text and "the disk is gone" in text]


def test_rows_that_are_missing_are_made_the_other_way(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that do not come to the driver's disk are seen in the counts of the tasks."""
    place.register({"all": "SELECT id FROM quotes"})
    place.write("a.json", quotes(0, 2))
    monkeypatch.setattr(WrittenTogether, "rows", lambda self, part: 1)

    run(place.settings, spark)

    assert place.pairs() == [("all", 0), ("all", 1)]


@pytest.mark.parametrize(
    ("format", "more", "fits"),
    [
        ("parquet", {}, True),
        ("parquet", {"partition_by": ("query",)}, False),
        ("parquet", {"options": {"compression": "zstd"}}, False),
        ("json", {}, False),
    ],
)
def test_sinks_that_fit(tmp_path: Path, format: str, more: dict[str, Any], fits: bool) -> None:
    sinks = [
        _opened(settings_of("parquet", tmp_path / "a")),
        _opened(settings_of(format, tmp_path / "b", **more)),
    ]
    assert (written_together(sinks, [None, None], batch_of()) is not None) == fits


@pytest.mark.parametrize("left", [False, True])
def test_folders_between_which_nothing_can_be_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: bool
) -> None:
    """Two mounts of one disk have the same device, and renaming from one to the other is refused all the same."""
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.relative_to(tmp_path).parts[0] != target.relative_to(tmp_path).parts[0]:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    sinks = [_opened(settings_of("parquet", tmp_path / name)) for name in "ab"]
    together = written_together(sinks, [None, None], batch_of(7))
    assert together is not None
    for part in range(2):
        folder = together.folder / "rows" / f"__eddyline_part={part}"
        folder.mkdir(parents=True)
        parquet.write_table(pa.table({"query_id": ["all"] * (part + 1)}), folder / "one.parquet")
    if left:  # by an attempt that was killed while it copied
        staged = tmp_path / "b" / "_staging" / "source=quotes" / "7"
        staged.mkdir(parents=True)
        (staged / "one.parquet").write_bytes(b"half")

    for part in range(2):
        together.hand_over(part, None)

    for part, name in enumerate("ab"):
        (found,) = (tmp_path / name / "source=quotes" / "batch=7").iterdir()
        assert parquet.read_table(found).num_rows == part + 1
        assert not [path for path in (tmp_path / name / "_staging").rglob("*.parquet") if name == "b"]


def test_selected_columns_called_as_the_parts_are(tmp_path: Path) -> None:
    """Such a column would have another name than in rows that are written for one sink."""
    sinks = [_opened(settings_of("parquet", tmp_path / name)) for name in "ab"]
    typed = TypedList((PART.upper(),), ("int",), (0,))
    assert written_together(sinks, [typed, typed], batch_of()) is None


def test_an_output_that_was_deleted(tmp_path: Path) -> None:
    sink = _opened(settings_of("parquet", tmp_path / "a"))
    shutil.rmtree(tmp_path / "a")
    assert written_together([sink], [None], batch_of()) is None


def test_a_batch_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    sink = _opened(settings_of("parquet", tmp_path))
    assert written_together([sink], [None], batch_of(7)) is not None
    (tmp_path / "source=quotes" / "batch=7").mkdir(parents=True)
    assert written_together([sink], [None], batch_of(7)) is None


def _opened(settings: SinkSettings) -> FileSink:
    sink = FileSink(settings, Path())
    sink.open(US)
    return sink


def _watched(
    monkeypatch: pytest.MonkeyPatch, failure: Exception | None = None
) -> list[tuple[int, WrittenTogether]]:
    """What is written together, as it comes; `failure` is raised when it was."""
    found: list[tuple[int, WrittenTogether]] = []
    real = WrittenTogether.write

    def write(self: WrittenTogether, rows: DataFrame) -> None:
        found.append((self.batch.batch_id, self))
        real(self, rows)
        if failure is not None:
            raise failure

    monkeypatch.setattr(WrittenTogether, "write", write)
    return found


def _tables(folder: Path) -> dict[str, tuple[pa.Schema, list[dict[str, Any]]]]:
    """By batch the columns and the rows."""
    found = {}
    for batch in sorted(folder.glob("source=*/batch=*")):
        table = pa.dataset.dataset(batch).to_table()
        rows = sorted(table.to_pylist(), key=lambda row: (row["query_id"], row["tuple_key"]))
        found[str(batch.relative_to(folder))] = (table.schema.remove_metadata(), rows)
    return found


def test_a_batch_that_is_stopped_is_not_made_again(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its job was cancelled: the one that would make its results anew is nobody's to cancel."""
    place.register({"all": "SELECT id FROM quotes"})
    place.write("a.json", quotes(0, 2))
    begun, again = Event(), list[object]()
    real = WrittenTogether.write

    def slowly(self: WrittenTogether, rows: DataFrame) -> None:
        begun.set()
        real(self, rows.mapInArrow(_slow, rows.schema))

    monkeypatch.setattr(WrittenTogether, "write", slowly)
    monkeypatch.setattr(matching, "summary_of", lambda kept: again.append(kept))
    settings = replace(place.settings, trigger="100 milliseconds")
    with Pipeline(settings).start(spark) as running:
        assert begun.wait(60)
        time.sleep(1)
        assert running.stop(now=True, timeout=30)
    assert not again and place.pairs() == []
    assert not any(path.is_file() for path in place.folder.glob("*/_staging/**/*"))


def _slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        time.sleep(20)
        yield batch
