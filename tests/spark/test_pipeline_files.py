"""Files that cannot be read as rows of the stream: set aside with their reason, again at a replay, and the rest goes on."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from eddyline.errors import BrokenFileError, EddylineError
from eddyline.model.catalog import Stream
from eddyline.registry import Registry
from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.catch_up import catch_up, look
from eddyline.runtime.spark.pipeline.batch import run as batches
from eddyline.runtime.spark.pipeline.input import broken_files
from eddyline.spark import Pipeline
from tests.spark.pipelines import Place, log_of, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("impatient")

PART = pa.struct([("x", pa.int64()), ("y", pa.int64())])
TICKS = Stream(
    "ticks",
    pa.schema([("id", pa.int64()), ("price", pa.float64()), ("small", pa.int16()), ("part", PART)]),
)
QUERIES = {
    "all": "SELECT id FROM ticks",
    "null": "SELECT id FROM ticks WHERE price IS NULL OR part.y IS NULL",
}


def ticks(first: int, **columns: pa.Array) -> pa.Table:
    """Two rows with ids from `first` on."""
    whole = {
        "id": pa.array([first, first + 1]),
        "price": pa.array([1.5, 2.5]),
        "small": pa.array([1, 2], pa.int16()),
        "part": pa.array([{"x": 1, "y": 2}] * 2, PART),
    }
    return pa.table({**whole, **columns})


def broken_parquet(path: Path) -> None:
    """A file whose last bytes are not Parquet's."""
    pq.write_table(ticks(90), path)
    path.write_bytes(path.read_bytes()[:-8] + b"\0" * 8)


def of_ticks(place: Place, *sources: Any, **more: Any) -> PipelineSettings:
    place.register(QUERIES, TICKS)
    return replace(place.settings, sources=sources, **more)


def names(letters: list[dict[str, Any]]) -> dict[str, str]:
    return {Path(letter["file"]).name: letter["reason"] for letter in letters}


def test_the_rest_goes_on(spark: SparkSession, place: Place) -> None:
    """Every way in which a file can be wrong, a file from long ago, and files that differ without being wrong."""
    columnar = place.source("columnar", "parquet", stream="ticks")
    lines = place.source("lines", "json", stream="ticks")
    rows = place.source("rows", "orc", stream="ticks", key=("id",))
    folder = place.folder / "columnar"
    good = {
        "a good one %.parquet": ticks(0),
        "old.parquet": ticks(2),
        "more.parquet": ticks(
            4, extra=pa.array([1, 2]), part=pa.array([{"z": 0, "Y": 1, "x": 2}] * 2)
        ).rename_columns(["ID", "Price", "small", "part", "extra"]),
        "narrow.parquet": ticks(6, price=pa.array([1, 2], pa.int32())),
    }
    bad = {
        "lacks a column.parquet": ticks(90).drop_columns(["price"]),
        "lacks a field.parquet": ticks(90, part=pa.array([{"x": 1}] * 2)),
        "wide.parquet": ticks(90, small=pa.array([70_000, 2], pa.int32())),
    }
    for name, table in (good | bad).items():
        pq.write_table(table, folder / name)
    os.utime(folder / "old.parquet", (1, 1))
    broken_parquet(folder / "broken.parquet")
    (folder / "empty.parquet").touch()
    text = "".join(json.dumps(row) + "\n" for row in ticks(8).to_pylist()).encode()
    (place.folder / "lines" / "a.json").write_bytes(text)
    (place.folder / "lines" / "cut.json.gz").write_bytes(gzip.compress(text * 50)[:40])
    orc.write_table(ticks(10), place.folder / "rows" / "a.orc")
    orc.write_table(ticks(90, price=pa.array(["a", "b"])), place.folder / "rows" / "text.orc")
    (place.folder / "rows" / "cut.orc").write_bytes((place.folder / "rows" / "a.orc").read_bytes()[:-30])

    running = run(of_ticks(place, columnar, lines, rows), spark)

    assert place.pairs() == [("all", id) for id in range(12)]
    told = names(place.letters())
    assert told.keys() == bad.keys() | {*("broken.parquet", "cut.json.gz", "text.orc", "cut.orc")}
    assert told["lacks a column.parquet"] == 'it has no column "price"'
    assert told["lacks a field.parquet"] == 'it has no column "part.y"'
    assert told["wide.parquet"] == 'its column "small" has the type int, but smallint is declared'
    assert "is not a Parquet file" in told["broken.parquet"]
    assert "Unexpected end of input stream" in told["cut.json.gz"]
    counts = {name: one.dropped_files for name, one in running.totals.sources.items()}
    assert counts == {"columnar": 4, "lines": 1, "rows": 2}
    problems = [problem for report in running.reports() for problem in report.problems]
    assert f'{folder / "lacks a column.parquet"} is set aside: it has no column "price"' in problems
    assert running.totals.count("dropped_rows") == 0


def test_a_replay_decides_the_same(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was mended or broken since the first run; nor does a query that catches up read what was set aside."""
    settings = of_ticks(place, place.source("ticks", "parquet"))
    folder = place.folder / "ticks"
    pq.write_table(ticks(0), folder / "a.parquet")
    pq.write_table(ticks(2).drop_columns(["price"]), folder / "b.parquet")
    broken_parquet(folder / "c.parquet")
    real = batches._deliver

    def crash(*args: Any) -> Any:
        real(*args)
        raise EddylineError("no power")

    monkeypatch.setattr(batches, "_deliver", crash)
    with pytest.raises(EddylineError, match="no power"):
        run(settings, spark)
    pin = log_of(settings).find("ticks", 0)
    assert pin is not None and pin.settled
    assert {Path(file.path).name for file in pin.set_aside} == {"b.parquet", "c.parquet"}

    monkeypatch.setattr(batches, "_deliver", real)
    pq.write_table(ticks(2), folder / "b.parquet")
    pq.write_table(ticks(4), folder / "c.parquet")
    whole = (folder / "a.parquet").read_bytes()
    broken_parquet(folder / "a.parquet")
    with pytest.raises(EddylineError, match=r"a\.parquet"):
        run(settings, spark)
    assert log_of(settings).find("ticks", 0) == pin

    (folder / "a.parquet").write_bytes(whole)
    assert run(settings, spark).totals.count("dropped_files") == 2
    assert place.pairs() == [("all", 0), ("all", 1)]
    assert names(place.letters()).keys() == {"b.parquet", "c.parquet"}
    assert log_of(settings).find("ticks", 0) == pin

    place.register({"late": "SELECT id FROM ticks WHERE id >= 0"}, TICKS)
    with Registry.open(place.folder / "registry.db") as registry:
        late = look(settings, spark, registry, "late")
        with catch_up(late, "late") as found:
            assert sorted(json.loads(row.payload)["id"] for row in found.results.collect()) == [0, 1]


def test_a_strict_source_stops(spark: SparkSession, place: Place) -> None:
    """At once, with the file's name; mended, it is read."""
    source = replace(place.source("ticks", "parquet"), strict=True)
    settings = of_ticks(place, source, retries=3)
    file = place.folder / "ticks" / "b.parquet"
    pq.write_table(ticks(0), file.with_name("a.parquet"))
    broken_parquet(file)
    with pytest.raises(
        BrokenFileError, match=rf'source "ticks" cannot read {file}: .*not a Parquet file'
    ) as failure:
        run(settings, spark)
    assert failure.value.hint is not None and "move it out of the folder" in failure.value.hint
    pq.write_table(ticks(2), file)
    run(settings, spark)
    assert place.pairs() == [("all", id) for id in range(4)] and place.letters() == []


def test_a_file_system_that_fails(spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the bytes of a file cannot be had it is not set aside: the source fails, and goes on when it can be read."""
    settings = of_ticks(place, place.source("ticks", "parquet"))
    broken_parquet(place.folder / "ticks" / "b.parquet")
    pq.write_table(ticks(0), place.folder / "ticks" / "a.parquet")
    monkeypatch.setattr(broken_files, "can_be_fetched", lambda *_: False)
    running = Pipeline(replace(settings, retries=1)).start(spark)
    with pytest.raises(EddylineError, match="failed 2 times in a row"):
        running.await_termination(60)
    assert place.letters() == [] and place.pairs() == []
    monkeypatch.undo()
    run(settings, spark)
    assert place.pairs() == [("all", 0), ("all", 1)] and len(place.letters()) == 1
