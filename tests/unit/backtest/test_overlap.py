"""Shared matches against brute force, by every way of counting, and within bounds."""

from __future__ import annotations

import numpy as np
import pytest

from eddyline.backtest.overlap import Overlaps


def matches(rows: int, shares: list[float], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([rng.random(rows) < share for share in shares])


def count(overlaps: Overlaps, flags: np.ndarray, block: int) -> None:
    for start in range(0, flags.shape[1], block):
        row, number = np.nonzero(flags[:, start : start + block].T)
        overlaps.add(min(block, flags.shape[1] - start), row, number)


@pytest.mark.parametrize("table", [10**6, 0], ids=["table", "pairs met"])
@pytest.mark.parametrize(
    "shares",
    [[0.01] * 20, [0.5] * 20, [1.0, 0.9, 0.0, 0.001] * 5, [0.0] * 4],
    ids=["light", "heavy", "both", "none"],
)
def test_brute_force(table: int, shares: list[float]) -> None:
    flags = matches(3000, shares, seed=4)
    tested, every = 7 if len(shares) > 7 else 2, len(shares)
    overlaps = Overlaps(tested, every, table=table)
    count(overlaps, flags, block=700)
    assert overlaps.exact and not overlaps.estimated.any()
    for query in range(tested):
        shared = {other: int((flags[query] & flags[other]).sum()) for other in range(every) if other != query}
        expected = sorted(((o, n) for o, n in shared.items() if n), key=lambda pair: (-pair[1], pair[0]))
        assert overlaps.largest(query, range(every), every) == expected
        assert overlaps.largest(query, range(tested, every), 3) == [p for p in expected if p[0] >= tested][:3]


def test_too_much_work_is_estimated_and_says_so() -> None:
    flags = matches(8192, [0.5] * 40, seed=5)
    overlaps = Overlaps(20, 40, work=20_000)
    count(overlaps, flags, block=4096)
    assert overlaps.estimated.all()
    found = dict(overlaps.largest(0, range(40), 40))
    for other, shared in found.items():
        assert shared == pytest.approx((flags[0] & flags[other]).sum(), rel=0.3)


def test_too_many_pairs_give_up_the_least_and_say_so() -> None:
    flags = np.concatenate([matches(2000, [0.9] * 4, seed=6), matches(2000, [0.02] * 200, seed=7)])
    overlaps = Overlaps(204, 204, table=0, met=2_000)
    count(overlaps, flags, block=500)
    assert not overlaps.exact
    assert [other for other, _ in overlaps.largest(0, range(204), 3)] in (
        [1, 2, 3],
        [1, 3, 2],
        [2, 1, 3],
        [2, 3, 1],
        [3, 1, 2],
        [3, 2, 1],
    )
