"""What every strategy does: it is shown samples, period by period, and proposes a sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from eddyline.config import StrategyName
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder


class Strategy(Protocol):
    """Finds a sequence for one set of ASCs; made by `order.strategies.factory.make_strategy`.

    A strategy starts with the sequence in force and may be asked for a proposal at any time: until it is `ready`, what
    it has found so far comes first and the rest keeps its old order. For a rearrangement make a new one.
    """

    @property
    def name(self) -> StrategyName: ...

    @property
    def ready(self) -> bool:
        """Whether the proposal is measured to its end; what is shown later is still looked at by some (`ticket`)."""
        ...

    def observe(self, sample: Sample) -> None:
        """Look at one period (tau): one step."""
        ...

    def propose(self) -> VisitOrder:
        """The best sequence of all subjects known so far."""
        ...


def find_sequence(strategy: Strategy, sample: Sample, *, period: int | None = None) -> VisitOrder:
    """What a strategy proposes after a sample: each step on its own `period` tuples, as in the papers, or on all.

    Steps for which no tuples are left see all of them.
    """
    for part in _parts(sample, period):
        if strategy.ready:
            break
        strategy.observe(part)
    for _ in range(2 * sample.subjects + 1):
        if strategy.ready:
            break
        strategy.observe(sample)
    return strategy.propose()


def _parts(sample: Sample, period: int | None) -> Iterator[Sample]:
    if period is None:
        return
    for first in range(0, sample.tuples - period + 1, period):
        yield sample.part(first, first + period)
