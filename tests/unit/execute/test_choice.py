"""The choice between ways of evaluation by their times, with times that are made up."""

from __future__ import annotations

from collections import Counter

import pytest

from eddyline.execute.steering.choice import SHARE, TIMED, WARM, Choice, Way

ROWS = 1_000


class Stream:
    """Batches whose times follow from the way they go."""

    def __init__(self, ways: tuple[Way, ...] = ("sliced", "row by row")) -> None:
        self.choice = Choice(ways)
        self.total = 0.0

    def run(
        self, batches: int, sliced: float, rowwise: float, filtered: float = 1.0, rows: int = ROWS
    ) -> list[Way]:
        """Seconds of a batch in each way; gives which way each one went."""
        seconds: dict[Way, float] = {"sliced": sliced, "row by row": rowwise, "filtered": filtered}
        ways = []
        for _ in range(batches):
            way, timed = self.choice.pick("match", rows)
            ways.append(way)
            self.total += seconds[way]
            if timed:
                self.choice.note("match", rows, way, seconds[way])
        return ways


def share(ways: list[Way], way: Way = "row by row") -> float:
    return Counter(ways)[way] / len(ways)


def test_nothing_is_tried_before_it_matters() -> None:
    assert share(Stream().run(int(WARM / 0.001) - 10, 0.001, 0.0001)) == 0


@pytest.mark.parametrize("rowwise", [0.0002, 0.0008, 0.00095])
def test_the_quicker_one_is_found(rowwise: float) -> None:
    assert share(Stream().run(2_000, 0.001, rowwise)[-1_000:]) > 0.98


@pytest.mark.parametrize("quickest", ["sliced", "filtered", "row by row"])
def test_the_quickest_of_three_is_found(quickest: Way) -> None:
    stream = Stream(("sliced", "row by row", "filtered"))
    times = {"sliced": 0.001, "rowwise": 0.0012, "filtered": 0.0011}
    times |= {"rowwise" if quickest == "row by row" else quickest: 0.0009}
    assert share(stream.run(6_000, **times)[-1_000:], quickest) > 0.98


@pytest.mark.parametrize("rowwise", [0.00105, 0.0015, 0.006])
def test_trying_the_slower_one_costs_little(rowwise: float) -> None:
    stream = Stream()
    ways = stream.run(4_000, 0.001, rowwise)
    assert 0 < share(ways) < 0.015
    assert stream.total < (1 + 2 * SHARE) * 4_000 * 0.001


def test_a_change_is_noticed() -> None:
    stream = Stream()
    assert share(stream.run(1_500, 0.001, 0.0003)[-100:]) > 0.95
    assert share(stream.run(300, 0.001, 0.004)[-100:]) < 0.1
    assert share(stream.run(3_000, 0.005, 0.0003)[-100:]) > 0.95


def test_a_great_change_is_answered_after_two_long_batches() -> None:
    stream = Stream()
    stream.run(1_500, 0.01, 0.003)
    assert stream.run(4, 0.01, 0.04)[-2:] == ["sliced", "sliced"]


def test_one_slow_batch_changes_nothing() -> None:
    stream = Stream()
    stream.run(1_500, 0.001, 0.0003)
    stream.run(1, 0.1, 0.1)
    assert share(stream.run(100, 0.001, 0.0003)) > 0.9


def test_a_word_from_outside_makes_it_ask_again() -> None:
    stream = Stream()
    stream.run(4_000, 0.001, 0.002)
    assert share(stream.run(100, 0.001, 0.0005)) == 0  # nothing has told of the change
    stream.choice.ask_again()
    assert share(stream.run(100, 0.001, 0.0005)[2 * TIMED :]) > 0.9


def test_a_new_set_begins_with_what_was_in_use() -> None:
    stream = Stream()
    stream.run(2_000, 0.001, 0.0005)
    after = Stream()
    after.choice = Choice(("sliced", "row by row", "filtered"), stream.choice)
    assert share(after.run(100, 0.001, 0.0005)) > 0.9
    after.choice = Choice(("sliced",), stream.choice)
    assert share(after.run(100, 0.001, 0.0005), "sliced") == 1


def test_sizes_are_told_apart() -> None:
    stream = Stream()
    for _ in range(1_500):
        stream.run(1, 0.001, 0.0002, rows=500)
        stream.run(1, 0.004, 0.008, rows=50_000)
    assert share(stream.run(20, 0.001, 0.0002, rows=500)) > 0.9
    assert share(stream.run(20, 0.004, 0.008, rows=50_000)) < 0.15
    small, large = stream.choice.chosen()
    assert (small.rows, small.way, large.rows, large.way) == (511, "row by row", 65_535, "sliced")
    assert str(small) == (
        "batches of up to 511 rows row by row (sliced 2000 ns a tuple, row by row 400 ns a tuple)"
    )
