"""`BatchProcessor`: batches of a pipeline in a query of somebody's own."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from eddyline import Compiler
from eddyline.errors import DeliveryError, EddylineError, SchemaError, SetupError
from eddyline.model.catalog import Stream
from eddyline.registry import Registry
from eddyline.spark import BatchProcessor, PipelineSettings, SinkSettings, SourceSettings
from tests.spark.pipelines import QUOTES, Place, log_of, quotes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "id long, symbol string, price double, at timestamp, extra int"


def own(place: Place, *key: str) -> PipelineSettings:
    """Settings whose source is only a name and a stream."""
    source = SourceSettings(name="own", format="any", stream="quotes", key=key)
    return replace(place.settings, sources=(source,))


def run_query(spark: SparkSession, place: Place, processor: BatchProcessor) -> None:
    """The user's own query over the files of the place, until they are read."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    rows = reader.json(str(place.folder / "quotes")).where("id <> 1")
    query = rows.writeStream.foreachBatch(processor.process_batch)
    query = query.option("checkpointLocation", processor.checkpoint).trigger(availableNow=True)
    query.start().awaitTermination()


def test_pinned_delivered_and_counted(spark: SparkSession, place: Place) -> None:
    settings = own(place, "id")
    place.register({"low": "SELECT id FROM quotes WHERE price < 2"})
    place.write("a.json", quotes(0))
    with BatchProcessor(settings, spark) as processor:
        run_query(spark, place, processor)
    place.register({"all": "SELECT id FROM quotes"})
    place.write("b.json", quotes(6, 2))
    with BatchProcessor(settings, spark) as processor:
        run_query(spark, place, processor)
    assert place.pairs() == [("all", 6), ("all", 7), ("low", 0), ("low", 2), ("low", 3)]
    assert {row["tuple_key"] for row in place.results()} >= {'{"id":0}', '{"id":7}'}
    assert place.counters()["low"]["matches"] == 3
    assert [pin.version for pin in log_of(settings).pins("own")] == [1, 2]


def test_a_batch_again(spark: SparkSession, place: Place, impatient: None) -> None:
    """A batch that failed after its pin has the version it had; one that is done is left out."""
    sink = SinkSettings(name="taking", format="callback", callback=f"{__name__}:take")
    settings = replace(own(place), sinks=(sink,))
    place.register({"low": "SELECT id FROM quotes WHERE price < 2"})
    df = spark.createDataFrame([(0, "a", 0.0, None, 1), (9, "b", 9.0, None, 2)], SCHEMA)
    TAKEN.clear()
    with BatchProcessor(settings, spark) as processor:
        os.environ[REFUSING] = "yes"
        try:
            with pytest.raises(DeliveryError, match="not now"):
                processor.process_batch(df, 0)
        finally:
            del os.environ[REFUSING]
        place.register({"all": "SELECT id FROM quotes"})
        for _ in range(2):
            processor.process_batch(df, 0)
        processor.process_batch(df, 1)
    assert [(row["batch_id"], row["query_id"]) for row in TAKEN] == [
        (0, "low"),
        *[(1, id) for id in ("all", "all", "low")],
    ]
    # without a key, a file or an offset a row is what it says
    assert all(row["tuple_key"].startswith(f"own/{row['batch_id']}/") for row in TAKEN)


REFUSING = "EDDYLINE_TEST_REFUSING"
TAKEN: list[dict[str, Any]] = []


def take(table: pa.Table, batch: Any) -> None:
    if REFUSING in os.environ:
        raise OSError("not now")
    TAKEN.extend(sorted(table.to_pylist(), key=lambda row: str(row["query_id"])))


def test_the_stream_gets_another_column(spark: SparkSession, place: Place) -> None:
    settings = own(place, "id")
    place.register({"low": "SELECT id FROM quotes WHERE price < 2"})
    df = spark.createDataFrame([(0, "a", 0.0, None, 1)], SCHEMA)
    wider = Stream("quotes", QUOTES.schema.append(pa.field("extra", pa.int32())), "at")
    with BatchProcessor(settings, spark) as processor:
        processor.process_batch(df, 0)
        with Registry.open(place.folder / "registry.db") as registry:
            registry.declare(wider, author="ann", check=Compiler([wider]).check)
        place.register({"extra": "SELECT id FROM quotes WHERE extra = 1"}, wider)
        processor.process_batch(df, 1)
        with pytest.raises(SchemaError, match='batch for stream "quotes" has no column "extra"'):
            processor.process_batch(df.drop("extra"), 2)
    assert place.pairs() == [("extra", 0), ("low", 0), ("low", 0)]


def test_refused(spark: SparkSession, place: Place) -> None:
    settings = own(place)
    place.register({"low": "SELECT id FROM quotes WHERE price < 2"})
    two = replace(settings, sources=(*settings.sources, place.source("more", "json", stream="quotes")))
    with pytest.raises(SetupError, match=r"has several sources \(own, more\)"):
        BatchProcessor(two, spark)
    df = spark.createDataFrame([(0, "a", 0.0, None, 1)], SCHEMA)
    with BatchProcessor(settings, spark) as processor:
        with pytest.raises(EddylineError, match="is used by process"):
            BatchProcessor(settings, spark)
        processor.process_batch(df, 0)
    with pytest.raises(
        EddylineError, match=r'source "own": 1 batch was served, and its checkpoint .* is missing'
    ):  # a query that kept its checkpoint elsewhere
        BatchProcessor(settings, spark)


def test_a_query_with_another_checkpoint_is_refused(spark: SparkSession, place: Place) -> None:
    """Its first batch has the number of one that is done, and would be left out."""
    place.register({"low": "SELECT id FROM quotes WHERE price < 2"})
    place.write("a.json", quotes(0))
    from pyspark.errors import StreamingQueryException

    with BatchProcessor(own(place, "id"), spark) as processor:
        run_query(spark, place, processor)
        before = place.pairs()
        place.write("b.json", quotes(6, 2))
        reader = spark.readStream.schema(SCHEMA).json(str(place.folder / "quotes"))
        query = reader.writeStream.foreachBatch(processor.process_batch).trigger(availableNow=True)
        running = query.option("checkpointLocation", str(place.folder / "elsewhere")).start()
        with pytest.raises(StreamingQueryException, match="does not keep its checkpoint at"):
            running.awaitTermination()
    assert place.pairs() == before


def test_a_session_of_spark_connect_is_refused(place: Place) -> None:
    remote: Any = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(SetupError, match="needs a classic session") as refused:
        BatchProcessor(own(place), remote)
    assert refused.value.hint == "use a Pipeline there"
