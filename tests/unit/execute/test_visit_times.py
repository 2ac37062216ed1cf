"""What visits take, from times that are made up."""

from __future__ import annotations

import numpy as np
import pytest

from eddyline.execute.rowwise.visit_times import NUMBER, TEXT, WORD, VisitTimes
from tests.unit.execute.test_rowwise import WHERES, evaluation, rowwise, tuples

WORDS = 8  # of a bitmap: one block of 512 queries


def test_a_text_takes_longer_as_long_as_nothing_is_known() -> None:
    number, fraction, text = VisitTimes(rowwise(*WHERES).index).costs.visit
    assert number == fraction == pytest.approx(NUMBER + WORDS * WORD) and text == pytest.approx(
        TEXT + WORDS * WORD
    )


def test_times_follow_what_is_measured() -> None:
    times = VisitTimes(rowwise(*WHERES).index)
    for _ in range(40):
        times.located(1, 10_000, 10_000 * 50e-9)
        times.visited(1_000, np.array([0, 600, 100]), 2_400 * WORDS * 1e-9)  # 1,000 visits, 1,000 and 400
    assert times.costs.visit[1] == pytest.approx(50e-9 + WORDS * 1e-9, rel=1e-3)
    assert times.costs.visit[0] == pytest.approx(NUMBER + WORDS * 1e-9, rel=1e-3)


def test_one_batch_that_loads_kernels_changes_little() -> None:
    times = VisitTimes(rowwise(*WHERES).index)
    before = times.costs.visit[0]
    times.located(0, 10_000, 3.0)
    times.visited(1_000, np.array([0, 600, 100]), 3.0)
    assert before < times.costs.visit[0] <= 1.25 * before


def test_large_batches_are_measured() -> None:
    executor = rowwise(*WHERES)
    before = executor.times.costs
    executor.match(evaluation(tuples(500, 8)), 500)
    assert executor.times.costs == before
    executor.match(evaluation(tuples(5_000, 8)), 5_000)
    assert executor.times.costs.visit[0] != before.visit[0]
