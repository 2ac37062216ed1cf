"""Rates as a pipeline has them: what its reports say of Python, matches and batches, and when they say too little."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eddyline.capacity import ObservedBatch, calibrate
from tests.unit.capacity.figures import RATES


def batch(number: int, rows: int = 1_000_000, *, twice: float = 2.0, queries: int = 1_000) -> ObservedBatch:
    """A batch of keyed queries for which Python took twice as long as the rates say, with a result for every tenth row."""
    results = rows // 10
    working = twice * (rows * RATES.matching["keyed"].at(queries, 2) + results * RATES.result_python)
    return ObservedBatch("events", number, queries, rows, results, results, working, 0.4 + rows * 3e-6)


def test_python_is_as_slow_as_it_was() -> None:
    found = calibrate(RATES, [batch(number) for number in range(10)], columns=2)
    assert found is not None and found.factor == pytest.approx(2) and found.kind == "keyed"
    assert (found.batches, found.rows, found.queries) == (8, 1_000_000, 1_000)
    assert found.share * found.queries == pytest.approx(0.1) and found.delivered == 1
    assert found.rates.matching["keyed"].at(1_000, 2) == pytest.approx(2e-6)
    assert found.rates.result_python == pytest.approx(2e-6)
    assert found.rates.reading == RATES.reading and found.rates.result_java == RATES.result_java
    assert found.batch is None and found.rates.batch == RATES.batch  # all batches are alike


def test_batches_of_different_sizes_say_what_one_takes_anyway() -> None:
    found = calibrate(RATES, [batch(number, 100_000 * (1 + number % 5)) for number in range(12)], columns=2)
    assert found is not None and found.batch == pytest.approx(0.4) and found.rates.batch == found.batch


def test_first_batches_of_each_source_do_not_count() -> None:
    slow = [batch(number, twice=100.0) for number in (7, 8)]
    other = [replace(one, source="others") for one in slow]
    found = calibrate(RATES, [*slow, *other, *(batch(number) for number in (9, 10, 11))], columns=2)
    assert found is not None and found.factor == pytest.approx(2) and found.batches == 3
    assert calibrate(RATES, [*slow, *other], columns=2) is None


def test_small_batches_say_little_of_rows() -> None:
    few = [batch(number, 10, twice=1_000.0) for number in range(5)]
    assert calibrate(RATES, few, columns=2) is None
    found = calibrate(RATES, [*few, *(batch(number) for number in range(5, 8))], columns=2)
    assert found is not None and found.factor == pytest.approx(2)
    assert calibrate(RATES, [batch(number, 0) for number in range(5)], columns=2) is None
    assert calibrate(RATES, [], columns=2) is None


def test_the_nearer_kind_is_taken_unless_one_is_named() -> None:
    slow = [batch(number, queries=100_000, twice=40.0) for number in range(5)]
    found = calibrate(RATES, slow, columns=2)
    assert found is not None and found.kind == "ranges"
    named = calibrate(RATES, slow, columns=2, kind="keyed")
    assert named is not None and named.kind == "keyed" and named.factor == pytest.approx(40)


def test_shadow_queries_deliver_nothing() -> None:
    found = calibrate(RATES, [replace(batch(number), delivered=0) for number in range(5)], columns=2)
    assert found is not None and found.delivered == 0 and found.share > 0
    silent = [replace(batch(number), matches=0, delivered=0) for number in range(5)]
    none = calibrate(RATES, silent, columns=2)
    assert none is not None and none.share == 0 and none.delivered == 1
