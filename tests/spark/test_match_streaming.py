"""`match` on streaming DataFrames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.spark import match

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READINGS = Stream("readings", pa.schema([("id", pa.int64())]))
QUERIES = QuerySet.build(
    {"even": "SELECT * FROM readings WHERE id % 2 = 0", "large": "SELECT * FROM readings WHERE id >= 15"},
    streams=[READINGS],
)


@pytest.mark.parametrize("way", ["rows", "lists"])
def test_files_arriving(spark: SparkSession, tmp_path: Path, way: str) -> None:
    for part in range(2):
        spark.range(10 * part, 10 * part + 10, 1, 1).write.mode("append").parquet(str(tmp_path / "in"))
    source = spark.readStream.schema("id long").option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    query = (
        source.transform(match(QUERIES, explode=True, _way=way))
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "state"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    expected = [(i, "even") for i in range(0, 20, 2)] + [(i, "large") for i in range(15, 20)]
    assert sorted((row["id"], row["query_id"]) for row in found) == sorted(expected)
