"""Folders of files, written by Spark and read by Spark as by somebody who knows nothing of us."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eddyline.errors import DeliveryError
from eddyline.runtime.spark.sinks import Sink, make_sink
from tests.spark.sink_rows import NOON, US, batch_of, rows_of, settings_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READING: Mapping[str, Mapping[str, str]] = {"csv": {"header": "true", "escape": '"', "inferSchema": "true"}}


def opened(format: str, path: Path, **more: Any) -> Sink:
    sink = make_sink(settings_of(format, path, **more), folder=Path())
    sink.open(US)
    return sink


def read(spark: SparkSession, format: str, path: Path) -> DataFrame:
    return spark.read.format(format).options(**READING.get(format, {})).load(str(path))


@pytest.mark.parametrize("format", ["parquet", "json", "csv", "orc"])
def test_every_row_once(spark: SparkSession, tmp_path: Path, format: str) -> None:
    out = tmp_path / "out put"
    payload = '{"text":"a, \\"b\\" \\\\ c\\nü","n":0.1}'
    for source, number in (("quotes", 0), ("quotes", 1), ("trades", 0), ("quotes", 1), ("quotes", 0)):
        sink = opened(format, out)
        batch = batch_of(number, source)
        rows = rows_of(spark, ["cheap", " x,y"], batch, payload=[payload, None], event_time=[NOON, None])
        sink.deliver(rows, batch)
        sink.close()
    found = read(spark, format, out).orderBy("source", "batch", "query_id")
    assert [(row.source, row.batch, row.query_id) for row in found.collect()] == [
        (source, number, id)
        for source, number in (("quotes", 0), ("quotes", 1), ("trades", 0))
        for id in (" x,y", "cheap")
    ]
    assert set(found.columns) == {
        *("query_id", "query_revision", "version", "tuple_key", "event_time", "payload", "source", "batch"),
    }
    row = found.where("query_id = 'cheap'").first()
    assert row is not None and row.payload == payload and row.tuple_key == '{"id":0}' and row.version == 3
    moment = found.where("query_id = 'cheap'").selectExpr("CAST(event_time AS timestamp) t").first()
    assert moment is not None and moment.t.astimezone(UTC) == NOON
    other = found.where("query_id = ' x,y'").first()
    assert other is not None and other.payload is None and other.event_time is None
    assert not list((out / "_staging").rglob("part-*"))


def test_rows_are_counted(spark: SparkSession, tmp_path: Path) -> None:
    sink = opened("parquet", tmp_path)
    assert sink.deliver(rows_of(spark, ["a", "b", "c"]), batch_of()) == 3
    assert sink.deliver(rows_of(spark, ["a"]), batch_of()) is None  # it was there


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_a_batch_without_rows_writes_nothing(spark: SparkSession, tmp_path: Path, format: str) -> None:
    sink = opened(format, tmp_path)
    assert sink.deliver(rows_of(spark, ["a"]).where("false"), batch_of()) == 0
    assert not (tmp_path / "source=quotes").exists()
    assert not list(tmp_path.rglob("part-*"))


def test_parts_by_date_and_query(spark: SparkSession, tmp_path: Path) -> None:
    ids = ["001", "a/b", "a=b%2F", "ü ..", "ö ..", "x" * 300, "/" * 80]
    times = [NOON, datetime(2020, 2, 29, 23, 59, 59, tzinfo=UTC), None, NOON, NOON, NOON, NOON]
    sink = opened("parquet", tmp_path, partition_by=("date", "query"))
    for number in (0, 1):
        batch = batch_of(number)
        sink.deliver(rows_of(spark, ids, batch, event_time=times), batch)
    found = read(spark, "parquet", tmp_path)
    assert found.count() == 14 and found.select("query").distinct().count() == 7
    assert {row.query_id: row.date for row in found.where("batch = 1").collect()} == {
        id: date(2020, 2, 29) if id == "a/b" else date(2026, 3, 4) for id in ids
    }
    assert found.where("query = 'a/b' AND date = '2020-02-29'").count() == 2
    assert (tmp_path / "source=quotes" / "batch=0" / "date=2026-03-04" / "query=001").is_dir()


def test_ids_that_look_like_numbers_stay_texts(spark: SparkSession, tmp_path: Path) -> None:
    sink = opened("parquet", tmp_path, partition_by=("query",))
    for source in ("007", "1e3"):
        batch = batch_of(0, source)
        sink.deliver(rows_of(spark, ["001", "01"], batch), batch)
    found = read(spark, "parquet", tmp_path)
    assert {(row.source, row.query_id) for row in found.collect()} == {
        (source, id) for source in ("007", "1e3") for id in ("001", "01")
    }


def test_what_a_killed_attempt_left_is_not_read(spark: SparkSession, tmp_path: Path) -> None:
    sink = opened("parquet", tmp_path)
    staged = tmp_path / "_staging" / "source=quotes" / "0"
    rows_of(spark, ["a"]).write.parquet(str(staged))
    sink.deliver(rows_of(spark, ["b"], batch_of(1)), batch_of(1))
    assert [row.query_id for row in read(spark, "parquet", tmp_path).collect()] == ["b"]
    assert not staged.exists()


def test_a_sink_that_fails_for_a_while(spark: SparkSession, tmp_path: Path) -> None:
    sink = opened("parquet", tmp_path)
    (tmp_path / "_staging").write_text("in the way")
    with pytest.raises(DeliveryError, match='sink "out" did not take batch 0 of source "quotes"'):
        sink.deliver(rows_of(spark, ["a"]), batch_of())
    (tmp_path / "_staging").unlink()
    assert sink.deliver(rows_of(spark, ["a"]), batch_of()) == 1
