"""Random statements against Spark: what is accepted, what it is bound to, and what it gives for every row."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from eddyline.testing.queries import statement
from eddyline.testing.rows import benign_rows, nasty_rows
from eddyline.testing.tree import Statement
from tests.conftest import blocks
from tests.differential.agreement import judge_refusals, judge_render, judge_text, judge_try
from tests.differential.finding import Report

BLOCK = 500
ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata")
WILD = 0.06  # share of operands of any type at all

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def statements(block: int, *, wild: float = 0.0, count: int = BLOCK) -> list[Statement]:
    return [statement(seed, wild=wild) for seed in range(block * BLOCK, block * BLOCK + count)]


def check(report: Report) -> None:
    assert not report.findings, str(report)


@pytest.mark.parametrize("block", blocks(7, quick=(0,)))
def test_text_over_benign_rows(spark: SparkSession, block: int) -> None:
    report = judge_text(spark, statements(block), benign_rows(block, 32), ZONES[block % len(ZONES)])
    check(report)
    assert report.failed < 0.1 * report.judged, "too many statements fail on benign rows to be judged"
    assert report.refused < 0.05 * report.judged, "too many statements are refused to be judged"


@pytest.mark.parametrize("block", blocks(7, quick=(2,)))
def test_try_forms_over_nasty_rows(spark: SparkSession, block: int) -> None:
    report = judge_try(spark, statements(block), nasty_rows(block, 48), ZONES[block % len(ZONES)])
    check(report)
    assert report.judged > 0.9 * BLOCK


@pytest.mark.parametrize("block", blocks(3, quick=(0,)))
def test_what_was_bound_means_the_text(spark: SparkSession, block: int) -> None:
    check(judge_render(spark, statements(100 + block, count=200), benign_rows(100, 32)))


@pytest.mark.parametrize("block", blocks(2, quick=(0,)))
def test_refusals(spark: SparkSession, block: int) -> None:
    report = judge_refusals(spark, statements(200 + block, wild=WILD), benign_rows(200 + block, 2))
    check(report)
    assert report.refused > 0.1 * report.judged, "too few wrong statements to learn from"


def test_generated_code_agrees(spark: SparkSession) -> None:
    """Spark's generated code, which jobs normally run, gives what its interpreter gives."""
    report = judge_try(spark, statements(300, count=60), nasty_rows(300, 32), codegen=True)
    check(report)
