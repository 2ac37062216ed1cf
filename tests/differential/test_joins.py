"""Random scripts of joins: the reference against Spark and DuckDB, normal forms against the reference."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import duckdb
import pytest

from eddyline.testing.joins.scripts import draw_script
from tests.comparisons import compared
from tests.conftest import blocks
from tests.differential.duck_joins import judge_duckdb
from tests.differential.join_stretches import JoinReport
from tests.differential.normal_joins import judge_normal_joins
from tests.fuzz.joins import ASKED_FOR_NOTHING, judge_engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCK = 30
ENGINE_BLOCK = 8
SPARK_BLOCK = 2


def check(report: JoinReport, share: float = 1.0) -> None:
    assert not report.findings, "\n".join(report.findings[:3])
    assert report.pairs > share * report.judged, "tuples seldom meet"


@pytest.mark.parametrize("block", blocks(40, quick=(0,)))
def test_normal_forms(block: int) -> None:
    report = JoinReport()
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        judge_normal_joins(draw_script(random.Random(seed)), report)
    check(report)
    assert report.refused < 0.02 * report.judged


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks(60, quick=range(10)))
def test_engine(block: int) -> None:
    """Many joins together, few rows: the reference takes its time for each pair of them."""
    report = JoinReport()
    for seed in range(block * ENGINE_BLOCK, (block + 1) * ENGINE_BLOCK):
        judge_engine(draw_script(random.Random(seed), joins=40, rows=18), report, seed)
    check(report, 0.25)
    compared("reference: random joins of engines", report.judged)


@pytest.mark.parametrize("block", blocks(3, quick=(0,)))
def test_engine_that_keeps_few_columns(block: int) -> None:
    """So few joins that for some tuples, or at first, no column of a stream is kept: SELECT lists name none."""
    report = JoinReport()
    for seed in range(block * 50, (block + 1) * 50):
        judge_engine(draw_script(random.Random(seed), joins=2), report, ASKED_FOR_NOTHING + 8 * seed)
    check(report, 0.5)
    compared("reference: random joins of engines", report.judged)


@pytest.mark.parametrize("block", blocks(20, quick=(0,)))
def test_duckdb(block: int) -> None:
    report = JoinReport()
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for seed in range(block * BLOCK, (block + 1) * BLOCK):
            judge_duckdb(connection, draw_script(random.Random(seed), plain=True), report)
    check(report)


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks(45, quick=(0,)))
def test_spark(spark: SparkSession, block: int) -> None:
    from tests.differential.spark_joins import judge_spark

    report = JoinReport()
    for seed in range(block * SPARK_BLOCK, (block + 1) * SPARK_BLOCK):
        judge_spark(spark, draw_script(random.Random(seed)), report)
    assert not report.findings, "\n".join(report.findings[:3])
