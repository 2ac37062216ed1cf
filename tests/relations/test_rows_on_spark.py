"""Rows that show that a query does not imply another are confirmed by Spark."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline.relations.pair import Pair, StreamRows
from eddyline.relations.question import Terms
from eddyline.sql.render import render
from tests.comparisons import compared
from tests.relations.tiny import STREAMS

PAIRS = 60  # of each stream, six in all


@pytest.mark.long
@pytest.mark.parametrize("name", STREAMS)
def test_spark_agrees(spark: SparkSession, name: str) -> None:
    tiny = STREAMS[name]
    rng = random.Random(f"rows {name}")
    rows, conditions = [], []
    while len(rows) < PAIRS:
        one, other = (tiny.side(tiny.condition(rng)) for _ in range(2))
        row = Pair(StreamRows(tiny.stream), one, other, Terms()).implies().row
        if row is None:
            continue
        left, right = (render(side.bound.predicate, try_forms=True) for side in (one, other))
        conditions.append(
            f"CASE WHEN id = {len(rows)} THEN {left} AND NOT coalesce({right}, false) END AS c{len(rows)}"
        )
        rows.append({**row, "id": len(rows)})
    table = pa.Table.from_pylist(rows, tiny.stream.schema.append(pa.field("id", pa.int32())))
    found = spark.createDataFrame(table).selectExpr("id", *conditions).collect()
    wrong = [row["id"] for row in found if row[f"c{row['id']}"] is not True]
    assert len(found) == PAIRS and not wrong, f"{conditions[wrong[0]]} for {rows[wrong[0]]}"
    compared("Spark: rows that show the opposite", PAIRS)
