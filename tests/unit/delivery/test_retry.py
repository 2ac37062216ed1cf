"""Trying again, with a clock that does not tick."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from eddyline.delivery.retry import Patience, TryAgainError, persist


def failing(times: int, after: float | None = None) -> Callable[[], str]:
    attempts: Iterator[int] = iter(range(100))

    def action() -> str:
        attempt = next(attempts)
        if attempt < times:
            raise TryAgainError(f"busy {attempt}", after)
        return f"attempt {attempt}"

    return action


def test_pauses_grow_up_to_the_longest() -> None:
    pauses: list[float] = []
    patience = Patience(attempts=7, first=1, factor=3, longest=20)
    assert persist(failing(6), patience, sleep=pauses.append, chance=lambda: 0.0) == "attempt 6"
    assert pauses == [1, 3, 9, 20, 20, 20]


def test_chance_shortens_pauses() -> None:
    pauses: list[float] = []
    persist(failing(2), Patience(first=1, jitter=0.5), sleep=pauses.append, chance=lambda: 0.5)
    assert pauses == [0.75, 1.5]


def test_the_other_side_may_ask_for_longer_but_not_forever() -> None:
    pauses: list[float] = []
    persist(failing(1, after=60), Patience(), sleep=pauses.append, chance=lambda: 0.0)
    persist(failing(1, after=1e9), Patience(), sleep=pauses.append, chance=lambda: 0.0)
    assert pauses == [60, 120]


def test_patience_ends() -> None:
    pauses: list[float] = []
    with pytest.raises(TryAgainError, match="busy 2"):
        persist(failing(9), Patience(attempts=3), sleep=pauses.append)
    assert len(pauses) == 2


def test_other_errors_are_not_tried_again() -> None:
    def action() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        persist(action, Patience(), sleep=lambda _: pytest.fail("it slept"))
