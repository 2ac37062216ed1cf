"""The choice between two executors by their times, with times that are made up."""

from __future__ import annotations

import pytest

from eddyline.execute.choice import SHARE, WARM, Choice

ROWS = 1_000


class Stream:
    """Batches whose times follow from the executor."""

    def __init__(self) -> None:
        self.choice = Choice()
        self.total = 0.0

    def run(self, batches: int, sliced: float, rowwise: float, rows: int = ROWS) -> list[bool]:
        """Seconds of a batch in either way; gives which way each one went."""
        ways = []
        for _ in range(batches):
            by_row, timed = self.choice.pick("match", rows)
            ways.append(by_row)
            seconds = rowwise if by_row else sliced
            self.total += seconds
            if timed:
                self.choice.note("match", rows, by_row, seconds)
        return ways


def test_nothing_is_tried_before_it_matters() -> None:
    assert not any(Stream().run(int(WARM / 0.001) - 10, 0.001, 0.0001))


@pytest.mark.parametrize("rowwise", [0.0002, 0.0008])
def test_the_quicker_one_is_found(rowwise: float) -> None:
    ways = Stream().run(2_000, 0.001, rowwise)
    assert all(ways[-1_000:][i] for i in range(0, 1_000, 7)) or sum(ways[-1_000:]) > 980


@pytest.mark.parametrize("rowwise", [0.00105, 0.0015, 0.006])
def test_trying_the_slower_one_costs_little(rowwise: float) -> None:
    stream = Stream()
    ways = stream.run(4_000, 0.001, rowwise)
    assert 0 < sum(ways) < 60
    assert stream.total < (1 + 2 * SHARE) * 4_000 * 0.001


def test_a_change_is_noticed() -> None:
    stream = Stream()
    assert sum(stream.run(1_500, 0.001, 0.0003)[-100:]) > 95
    assert sum(stream.run(300, 0.001, 0.004)[-100:]) < 10
    assert sum(stream.run(3_000, 0.005, 0.0003)[-100:]) > 95


def test_one_slow_batch_changes_nothing() -> None:
    stream = Stream()
    stream.run(1_500, 0.001, 0.0003)
    stream.run(1, 0.1, 0.1)
    assert sum(stream.run(100, 0.001, 0.0003)) > 90


def test_sizes_are_told_apart() -> None:
    stream = Stream()
    for _ in range(1_500):
        stream.run(1, 0.001, 0.0002, rows=500)
        stream.run(1, 0.004, 0.008, rows=50_000)
    assert sum(stream.run(20, 0.001, 0.0002, rows=500)) > 18
    assert sum(stream.run(20, 0.004, 0.008, rows=50_000)) < 3
    small, large = stream.choice.chosen()
    assert (small.rows, small.by_row, large.rows, large.by_row) == (511, True, 65_535, False)
    assert str(small).startswith("batches of up to 511 rows row by row (row by row 400 ns a tuple")
