"""Query sets of 250 random statements each against real engines: a row matches where the engine says TRUE.

Blocks go through the configurations in turn, so that every executor meets every engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from eddyline.config import IndexSettings
from eddyline.testing.plain import plain_rows
from eddyline.testing.queries import statement
from eddyline.testing.rows import benign_rows, nasty_rows
from eddyline.testing.tree import Statement
from tests.conformance.matrix import CONFIGURATIONS
from tests.conftest import blocks
from tests.differential.duck import judge_matches as judge_duckdb
from tests.differential.duck import plain_statement
from tests.differential.finding import Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCK = 250
ROWS = 40
ZONES = ("UTC", "America/New_York")


def drawn(draw: Callable[[int], Statement], block: int) -> list[Statement]:
    return [draw(seed) for seed in range(90_000 + block * BLOCK, 90_000 + (block + 1) * BLOCK)]


def configuration(block: int) -> IndexSettings:
    return list(CONFIGURATIONS.values())[block % len(CONFIGURATIONS)]


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks(9, quick=(5,)))
def test_spark_on_nasty_rows(spark: SparkSession, block: int) -> None:
    from tests.differential.agreement import judge_matches

    batch, zone = nasty_rows(block, ROWS), ZONES[block % 2]
    report = judge_matches(spark, drawn(statement, block), batch, zone, settings=configuration(block))
    assert not report.findings, str(report)
    assert report.judged > 0.9 * BLOCK and report.excused < 0.05 * BLOCK


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks(2, quick=()))
def test_spark_on_texts_as_written(spark: SparkSession, block: int) -> None:
    from tests.differential.agreement import judge_matches

    settings = configuration(3 * block)
    batch = benign_rows(block, ROWS)
    report = judge_matches(spark, drawn(statement, 20 + block), batch, settings=settings, text=True)
    assert not report.findings, str(report)
    assert report.judged > 0.9 * BLOCK and report.failed < 0.3 * BLOCK


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks(10, quick=(0, 1, 5, 6)))
def test_duckdb(block: int) -> None:
    findings = judge_duckdb(drawn(plain_statement, block), plain_rows(block, ROWS), configuration(block))
    report = Report(findings, judged=BLOCK)
    assert not report.findings, str(report)
