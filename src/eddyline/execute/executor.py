"""What every executor does: one file of `kinds/` each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

from eddyline.config import OrderSettings
from eddyline.execute.pricing.cost_items import Bill, Label, Priced
from eddyline.execute.steering.protocol import Steering
from eddyline.functions.evaluate import Evaluation
from eddyline.model.arrays import Integers
from eddyline.model.expression import Expression
from eddyline.model.matches import SegmentPart

Counted: TypeAlias = tuple[Integers, Integers | None]
"""Slots and how many tuples match each; or, without that, slots as often as tuples match them."""
Trial: TypeAlias = tuple[tuple[Expression, ...], Callable[[], object]]
"""What is done with some subjects alone."""


class Executor(Protocol):
    """Evaluates the queries of one index. Made at once; what a batch needs is made when the first one comes.

    Which way a batch goes and in which order tuples visit subjects is asked of `steering`, by those who have a choice.
    Queries are known by slots.
    """

    def __init__(self, index: Any, order: OrderSettings) -> None: ...

    def match(
        self, evaluation: Evaluation, rows: int, steering: Steering | None, threads: int
    ) -> list[SegmentPart]:
        """The matches of a batch."""
        ...

    def count(
        self, evaluation: Evaluation, rows: int, steering: Steering | None, threads: int
    ) -> list[Counted]:
        """How many tuples match each query, without keeping the matches."""
        ...

    def prepare(self) -> None:
        """Make all that the first batch would."""
        ...

    def trials(self, evaluation: Evaluation, rows: int) -> Iterator[Trial]:
        """What is done with the subjects of a batch, one by one: to find those that make a batch fail."""
        ...

    def describe(self, slot: int | None) -> list[str]:
        """How all of its queries are evaluated, or how one is and why; nothing for a query that it does not serve."""
        ...

    def price(self, bill: Bill) -> Priced:
        """Enter every piece of work and memory, and the queries that use it."""
        ...

    @staticmethod
    def item_text(label: Label, index: Any) -> str:
        """What an item of `price` is; the index is None for what might be added to none."""
        ...
