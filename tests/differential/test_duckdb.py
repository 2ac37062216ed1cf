"""Random statements against DuckDB, on the SQL that means the same there."""

from __future__ import annotations

import pytest

from eddyline.testing.plain import plain_rows
from tests.conftest import blocks
from tests.differential.duck import judge_duckdb, plain_statement
from tests.differential.finding import Report

BLOCK = 500


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks(6, quick=(0, 1)))
def test_conditions(block: int) -> None:
    statements = [plain_statement(seed) for seed in range(block * BLOCK, (block + 1) * BLOCK)]
    report = Report(judge_duckdb(statements, plain_rows(block, 40)), judged=BLOCK)
    assert not report.findings, str(report)
