"""`match` in Spark against Spark itself, and against the embedded query set: random queries over all types, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from eddyline.queryset import QuerySet
from eddyline.spark import match
from eddyline.testing.queries import statement
from eddyline.testing.rows import EVERYTHING, benign_rows, nasty_rows
from eddyline.testing.text import statement_text
from tests.conftest import blocks
from tests.differential.agreement import judge_matches
from tests.differential.judge import load, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCK = 250
ROWS = 40
ZONES = ("UTC", "America/New_York")
WAYS = ("rows", "lists")

pytestmark = pytest.mark.slow


def found(spark: SparkSession, way: str, queries: QuerySet, batch: pa.RecordBatch) -> Mapping[str, list[int]]:
    """Row numbers by query, found by `match`."""
    numbered = batch.append_column("row number", pa.array(range(batch.num_rows), pa.int32()))
    with settings(spark, spark__sql__session__timeZone=queries.time_zone):
        frame = load(spark, numbered).transform(match(queries, explode=True, _way=way))
        pairs = frame.select("row number", "query_id").toArrow().to_pylist()
    rows: dict[str, list[int]] = {}
    for pair in sorted(pairs, key=lambda pair: pair["row number"]):
        rows.setdefault(pair["query_id"], []).append(pair["row number"])
    return rows


@pytest.mark.parametrize("block", blocks(4, quick=(3,)))
def test_spark_on_nasty_rows(spark: SparkSession, block: int) -> None:
    statements = [statement(seed) for seed in range(200_000 + block * BLOCK, 200_000 + (block + 1) * BLOCK)]
    find = partial(found, spark, WAYS[block % 2])
    report = judge_matches(spark, statements, nasty_rows(block, ROWS), ZONES[block // 2], find=find)
    assert not report.findings, str(report)
    assert report.judged > 0.9 * BLOCK and report.excused < 0.05 * BLOCK


def test_spark_on_texts_as_written(spark: SparkSession) -> None:
    statements = [statement(seed) for seed in range(201_000, 201_000 + BLOCK)]
    find = partial(found, spark, "lists")
    report = judge_matches(spark, statements, benign_rows(7, ROWS), text=True, find=find)
    assert not report.findings, str(report)
    assert report.judged > 0.9 * BLOCK and report.failed < 0.3 * BLOCK


@pytest.mark.parametrize("way", WAYS)
def test_embedded_and_spark_agree(spark: SparkSession, way: str) -> None:
    texts = {str(seed): statement_text(statement(seed)) for seed in range(202_000, 203_000)}
    queries = QuerySet.build(texts, streams=[EVERYTHING], on_error="collect")
    batch = (
        pa.Table.from_batches([nasty_rows(11, 300), benign_rows(11, 300)]).combine_chunks().to_batches()[0]
    )
    matches = queries.match(batch)
    expected = {id: rows for id in texts if id in queries and (rows := matches.rows(id).tolist())}
    assert len(expected) > 300
    assert found(spark, way, queries, batch) == expected
