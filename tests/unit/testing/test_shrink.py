"""The shrinker: what it gives still fails, and is small."""

from __future__ import annotations

import pyarrow as pa

from eddyline.testing.queries import statement
from eddyline.testing.rows import nasty_rows
from eddyline.testing.shrink import shrink, smaller
from eddyline.testing.text import where_text
from eddyline.testing.tree import Statement


def test_only_what_matters_stays() -> None:
    """Pretend that LIKE is wrong for rows whose s1 is NULL."""
    start = next(s for s in map(statement, range(1000)) if "s1 LIKE" in where_text(s) and s.size > 12)
    rows = nasty_rows(1, 40)

    def fails(one: Statement, batch: pa.RecordBatch) -> bool:
        return "s1 LIKE" in where_text(one) and batch.column("s1").null_count > 0

    small, left = shrink(start, rows, fails)
    assert fails(small, left)
    assert left.num_rows == 1
    assert small.size <= 3
    assert small.outputs == ()


def test_the_budget_is_kept() -> None:
    tried = []

    def fails(one: Statement, _: pa.RecordBatch) -> bool:
        tried.append(one)
        return True

    largest = max(map(statement, range(50)), key=lambda one: one.size)
    shrink(largest, nasty_rows(1, 4), fails, tries=4)
    assert len(tried) == 4


def test_every_step_is_smaller_or_plainer() -> None:
    for seed in range(50):
        start = statement(seed)
        for step in smaller(start):
            assert step.size < start.size or step.style is None or not step.alias
