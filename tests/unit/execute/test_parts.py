"""Masks read as pairs, rows and counts, beside a plain reading of their bits."""

from __future__ import annotations

import numpy as np
import pytest

from eddyline.execute.parts import SORTED_BY_DIGITS, MaskPart, PairPart
from eddyline.kernels.sorting import run_starts
from eddyline.model.masks import BLOCK, WORDS, Masks


def masks(rows: int, results: int, share: float, seed: int) -> tuple[Masks, np.ndarray]:
    """Random masks, and the same as booleans, tuple by result."""
    rng = np.random.default_rng(seed)
    blocks = -(-rows // BLOCK)
    truth = np.zeros((blocks * BLOCK, results), bool)
    truth[:rows] = rng.random((rows, results)) < share
    bits = truth.reshape(blocks, BLOCK, results).transpose(0, 2, 1)
    words = np.packbits(bits, axis=2, bitorder="little").reshape(-1).view(np.uint64)
    assert len(words) == blocks * results * WORDS
    numbers = rng.permutation(3 * results)[:results].astype(np.int32)
    return Masks(rows, results, numbers, np.ascontiguousarray(words)), truth[:rows]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.5, 1.0])
@pytest.mark.parametrize(("rows", "results"), [(1, 1), (511, 3), (512, 64), (513, 65), (1500, 200), (7, 129)])
def test_pairs_come_by_row_then_by_number(rows: int, results: int, share: float) -> None:
    found, truth = masks(rows, results, share, seed=rows + results)
    row, place = np.nonzero(truth)
    number = found.numbers[place]
    order = np.lexsort((number, row))
    pair_rows, pair_numbers = MaskPart(found).pairs()
    assert pair_rows.tolist() == row[order].tolist()
    assert pair_numbers.tolist() == number[order].tolist()
    starts, listed = MaskPart(found).lists(rows)
    assert starts.tolist() == np.searchsorted(row, np.arange(rows + 1)).tolist()
    assert listed.tolist() == number[order].tolist()


def test_row_numbers_past_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = masks(1500, 200, 0.2, seed=7)
    expected = MaskPart(found).pairs()
    monkeypatch.setattr("eddyline.execute.parts.STREAMED", 0)
    monkeypatch.setattr("eddyline.execute.pool.SMALL", 0)
    for got, wanted in zip(MaskPart(found).pairs(), expected, strict=True):
        assert got.tolist() == wanted.tolist()


def test_numbers_that_count_through_are_not_looked_up() -> None:
    found, truth = masks(600, 70, 0.3, seed=1)
    plain = Masks(found.rows, found.results, np.arange(70, dtype=np.int32), found.words)
    row, number = np.nonzero(truth)
    assert [column.tolist() for column in MaskPart(plain).pairs()] == [row.tolist(), number.tolist()]


def test_rows_and_counts() -> None:
    found, truth = masks(1000, 9, 0.1, seed=2)
    numbers, counts = MaskPart(found).counts()
    assert numbers is found.numbers
    assert counts.tolist() == truth.sum(axis=0).tolist()
    for place, number in enumerate(numbers.tolist()):
        assert MaskPart(found).rows(number).tolist() == np.flatnonzero(truth[:, place]).tolist()


def test_rows_of_the_batch_where_only_some_were_looked_at() -> None:
    found, truth = masks(40, 5, 0.4, seed=3)
    selected = np.arange(40, dtype=np.int64) * 10
    some = Masks(found.rows, found.results, found.numbers, found.words, selected)
    rows, numbers = MaskPart(some).pairs()
    assert sorted(rows.tolist()) == sorted((np.nonzero(truth)[0] * 10).tolist())
    starts, listed = MaskPart(some).lists(395)
    assert starts.tolist() == np.searchsorted(rows, np.arange(396)).tolist()
    assert listed.tolist() == numbers.tolist()


@pytest.mark.parametrize("most", [1, 3_000, 2**31 - 1])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("pairs", [0, 5, SORTED_BY_DIGITS, 20_000])
def test_pairs_of_a_part_are_sorted_by_row_then_by_number(pairs: int, kind: type, most: int) -> None:
    rng = np.random.default_rng(pairs)
    row, number = (rng.integers(0, most, pairs).astype(kind) for _ in range(2))
    order = np.lexsort((number, row))
    found = PairPart(row, number).pairs()
    assert [column.tolist() for column in found] == [row[order].tolist(), number[order].tolist()]
    assert [column.dtype for column in found] == [row.dtype, number.dtype]


@pytest.mark.parametrize("pairs", [0, 3, 5_000])
def test_starts_of_runs_are_found(pairs: int) -> None:
    numbers = np.sort(np.random.default_rng(pairs).integers(0, 40, pairs) ** 2).astype(np.int32)
    starts = np.empty(1_700, np.int64)
    run_starts(numbers, starts)
    assert starts.tolist() == np.searchsorted(numbers, np.arange(1_700)).tolist()
