"""A batch that is run again with other tasks: every result is what it was, and in the document in which it was."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import orc

from eddyline.errors import EddylineError
from eddyline.model.catalog import Stream
from eddyline.runtime.spark.base.settings import SinkSettings, SourceSettings
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.pipeline.input.identity import with_complete_keys
from eddyline.runtime.spark.sinks.shape import PART
from tests.spark.pipelines import QUOTES, Place, quotes, read_in_blocks, run
from tests.spark.sink_rows import rows_of
from tests.web_server import receiver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 300


def test_a_row_is_its_file_and_its_number_wherever_files_are_cut(spark: SparkSession, place: Place) -> None:
    ticks = Stream("ticks", pa.schema([("id", pa.int64()), ("text", pa.string())]))
    place.register({"all": "SELECT id FROM ticks WHERE id % 7 < 6"}, ticks)
    sources = [place.source(format, format, stream="ticks") for format in ("json", "csv", "text", "orc")]
    rows = [{"id": id, "text": "x" * (id % 50)} for id in range(ROWS)]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (place.folder / "json" / "a#0 b.json").write_text(lines)
    (place.folder / "json" / "small.json").write_text("nonsense\n" + lines[: lines.index("\n") + 1])
    (place.folder / "text" / "a.txt").write_text(lines)
    (place.folder / "csv" / "a.csv").write_text("".join(f"{row['id']},{row['text']}\n" for row in rows))
    stripes = {"stripe_size": 1024, "batch_size": 64, "compression": "uncompressed"}
    orc.write_table(pa.Table.from_pylist(rows), place.folder / "orc" / "a.orc", **stripes)
    with read_in_blocks(spark, 8_000):
        run(replace(place.settings, sources=tuple(sources)), spark)
    found = [(row["source"], row["tuple_key"].rpartition("/")[2], row["id"]) for row in place.results()]
    names = {"json": "a%230%20b.json", "csv": "a.csv", "text": "a.txt", "orc": "a.orc"}
    expected = [(of, f"{name}#{id}", id) for of, name in names.items() for id in range(ROWS) if id % 7 < 6]
    assert sorted(found) == sorted([*expected, ("json", "small.json#1", 0)])
    assert [letter["tuple_key"].rpartition("/")[2] for letter in place.letters()] == ["small.json#0"]


@pytest.mark.usefixtures("impatient")
def test_documents_stay_the_same(spark: SparkSession, place: Place) -> None:
    """The receiver fails in the middle of a batch; then tasks are others, and so is the size of documents."""
    place.register({"some": "SELECT id FROM quotes WHERE id % 3 = 0"}, QUOTES)
    place.write("a.json", quotes(0, ROWS))
    options = {"rows": "20", "attempts": "1"}
    with receiver() as server:
        hook = SinkSettings(name="hook", format="webhook", url=f"{server.address}/hook", options=options)
        settings = replace(place.settings, sinks=(hook,))
        server.answers.extend([204, 204, *[503] * 10])
        with read_in_blocks(spark, 10_000), pytest.raises(EddylineError, match="answered 503"):
            run(settings, spark)
        taken, failed = server.received[:2], server.received[2:]
        server.received.clear()
        server.answers.clear()
        hook = replace(hook, options={**options, "rows": "30"})
        with read_in_blocks(spark, 3_000):
            run(replace(settings, sinks=(hook,)), spark)
        keys = [one.headers["Idempotency-Key"] for one in server.received]
    assert len(keys) == len(set(keys)) and failed
    bodies = {one.headers["Idempotency-Key"]: one.body for one in server.received}
    for one in taken + failed:
        assert bodies[one.headers["Idempotency-Key"]] == one.body
    ids = [result["payload"]["id"] for body in bodies.values() for result in json.loads(body)["results"]]
    assert sorted(ids) == list(range(0, ROWS, 3))


@pytest.mark.usefixtures("impatient")
def test_rows_of_which_the_source_says_nothing_are_known_by_their_values(
    spark: SparkSession, place: Place
) -> None:
    ticks = Stream("ticks", pa.schema([("value", pa.int64())]))
    place.register({"some": "SELECT value FROM ticks WHERE value % 3 > 0"}, ticks)
    attempts: list[list[tuple[str, str]]] = []

    def take(table: pa.Table, batch: Batch) -> None:
        if batch.batch_id == 0:
            rows = zip(table["tuple_key"].to_pylist(), table["payload"].to_pylist(), strict=True)
            attempts.append(sorted(rows))
            if tasks == 3:
                raise OSError("not now")

    sink = SinkSettings(name="function", format="callback", callback=take)
    for tasks in (3, 2):
        options = {"rowsPerBatch": "20", "numPartitions": str(tasks)}
        source = SourceSettings(name="ticks", format="rate-micro-batch", options=options)
        settings = replace(place.settings, sources=(source,), sinks=(sink,))
        with pytest.raises(EddylineError, match="not now") if tasks == 3 else nullcontext():
            run(settings, spark)
    first, *others = attempts
    assert len(first) == len({key for key, _ in first}) == 13
    assert len(others) == 3 and all(one == first for one in others)


def test_tuples_that_say_the_same_are_counted(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    rows = rows_of(
        spark, ["a", "a", "b", "b", "a"], query_number=[0, 0, 1, 1, 0], tuple_key=["x", "x", "x", "x", "y"]
    ).withColumn(PART, F.lit(0))
    found = with_complete_keys(rows, "content", {}).select("query_id", "tuple_key").collect()
    assert sorted(map(tuple, found)) == [("a", "x/0"), ("a", "x/1"), ("a", "y/0"), ("b", "x/0"), ("b", "x/1")]
