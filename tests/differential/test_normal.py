"""Random statements in normal form against the reference, over nasty rows."""

from __future__ import annotations

import pytest

from eddyline.testing.queries import statement
from eddyline.testing.rows import nasty_rows
from tests.conftest import blocks
from tests.differential.finding import Report
from tests.differential.normal import judge_normal

BLOCK = 500
ZONES = ("UTC", "America/New_York")


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks(6, quick=(0, 1)))
def test_normal_forms(block: int) -> None:
    statements = [statement(seed) for seed in range(block * BLOCK, (block + 1) * BLOCK)]
    report = Report(judge_normal(statements, nasty_rows(block, 40), ZONES[block % 2]), judged=BLOCK)
    assert not report.findings, str(report)
