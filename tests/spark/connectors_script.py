"""Kafka and Delta sinks in a session that has their jars: those can only be given when Spark starts.

Called as `python -m tests.spark.connectors_script JARS SERVERS FOLDER`; prints what came of it as JSON. Without SERVERS
the part with Kafka is left out, without the jar of Delta that with Delta.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from eddyline.errors import EddylineError
from eddyline.runtime.spark.sinks import make_sink
from eddyline.spark import session
from tests.spark.sink_rows import US, batch_of, rows_of, settings_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": 1,
}
QUICK = {"kafka.max.block.ms": "500", "kafka.request.timeout.ms": "500", "kafka.delivery.timeout.ms": "1000"}


def kafka(spark: SparkSession, servers: str, folder: Path) -> dict[str, Any]:
    """A topic out by the sink, twice as after a failure, and in again as a stream."""
    reach = {"kafka.bootstrap.servers": servers}
    sink = make_sink(settings_of("kafka", options={**reach, "topic": "results"}), folder=folder)
    sink.open(US)
    for _ in range(2):
        sink.deliver(rows_of(spark, ["cheap", "ü"], batch_of(7), payload=['{"n":1.5}', None]), batch_of(7))
    named = make_sink(
        settings_of("kafka", name="by-name", options={**reach, "headers": "false"}), folder=folder
    )
    named.deliver(rows_of(spark, ["a"]), batch_of(7))
    found: list[Any] = []

    def keep(rows: Any, number: int) -> None:
        found.extend(
            rows.selectExpr("CAST(key AS string)", "CAST(value AS string)", "topic", "headers").collect()
        )

    reading = spark.readStream.format("kafka").options(**reach)
    reading = reading.option("subscribe", "results,by-name").option("startingOffsets", "earliest")
    stream = reading.option("includeHeaders", "true").load().writeStream.foreachBatch(keep)
    stream.option("checkpointLocation", str(folder / "checkpoint")).trigger(
        availableNow=True
    ).start().awaitTermination()
    return {
        "messages": sorted((row.topic, row.key, row.value) for row in found),
        "headers": [
            {one.key: bytes(one.value).decode() for one in row.headers} for row in found if row.headers
        ],
        "failure": failure(spark, folder),
    }


def failure(spark: SparkSession, folder: Path) -> str:
    """What is said where there is no broker."""
    sink = make_sink(
        settings_of("kafka", options={"kafka.bootstrap.servers": "127.0.0.1:1", **QUICK}), folder=folder
    )
    try:
        sink.deliver(rows_of(spark, ["a"]), batch_of(7))
    except EddylineError as error:
        return f"{type(error).__name__}: {error}"
    return "delivered"


def delta(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """A table by the sink, with batches that come again."""
    place = folder / "table"
    schema = pa.schema([("n", pa.int64()), ("(n * 2)", pa.int32())])
    selected = pa.table({"n": [1, None], "(n * 2)": [2, None]}, schema=schema)
    for source, number in (("quotes", 0), ("quotes", 1), ("quotes", 1), ("trades", 1), ("quotes", 0)):
        sink = make_sink(settings_of("delta", place, partition_by=("date",)), folder=folder)
        sink.open(US)
        batch = batch_of(number, source)
        typed = sink.typed_for({0: selected.schema}, batch)
        rows = rows_of(spark, ["a", "b"], batch, selected=selected, payload=['{"n":1,"(n * 2)":2}', None])
        sink.deliver(rows, batch, typed)
        sink.close()
    found = spark.read.format("delta").load(str(place))
    return {
        "rows": sorted((row.source, row.batch_id, row.query_id) for row in found.collect()),
        "values": [
            tuple(row)
            for row in found.where("query_id = 'a'").select("n", "_n_*_2_", "date").distinct().collect()
        ],
    }


def main(jars: str, servers: str, folder: str) -> None:
    """Do what can be done."""
    with_delta = "delta-spark" in jars
    config: dict[str, Any] = {
        "spark.jars": jars,
        "spark.sql.shuffle.partitions": 1,
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        **(DELTA if with_delta else {}),
    }
    spark = session("connectors", cores=1, config=config)
    try:
        results = {
            "kafka": kafka(spark, servers, Path(folder)) if servers else None,
            "delta": delta(spark, Path(folder)) if with_delta else None,
        }
    finally:
        spark.stop()
    sys.stdout.write(json.dumps(results, default=str) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
