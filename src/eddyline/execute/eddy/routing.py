"""Who decides which operator a tuple goes to next; no decision changes a match, only what it costs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, Protocol, get_args

from eddyline.errors import SettingsError
from eddyline.execute.eddy.operator import EddyOperator
from eddyline.order.strategies.ticket import Tickets

PolicyName = Literal["fixed", "random", "ticket"]
POLICIES: Final[tuple[PolicyName, ...]] = get_args(PolicyName)


class Policy(Protocol):
    """Chooses, and is told what came of it."""

    def choose(self, candidates: Sequence[EddyOperator]) -> EddyOperator:
        """One of the operators that a tuple may go to, all with room in their queues."""
        ...

    def took(self, operator: EddyOperator) -> None:
        """An operator was given a tuple."""
        ...

    def returned(self, operator: EddyOperator) -> None:
        """An operator gave a tuple back to the eddy, so that it goes on or is output."""
        ...

    def dropped(self, operator: EddyOperator) -> None:
        """An operator kept a tuple, which all queries that were left reject."""
        ...

    def forget(self, operator: EddyOperator) -> None:
        """An operator is gone, and the tuples that wait for it are taken away."""
        ...


class _Silent:
    """A policy that learns nothing."""

    def took(self, operator: EddyOperator) -> None:
        pass

    def returned(self, operator: EddyOperator) -> None:
        pass

    def dropped(self, operator: EddyOperator) -> None:
        pass

    def forget(self, operator: EddyOperator) -> None:
        pass


class FixedRouting(_Silent):
    """Operators in the order of their names; those without a place in it come last, as they were made.

    `publish` takes another order, as strategies of `order/` propose them between batches.
    """

    def __init__(self, order: Iterable[str] = ()) -> None:
        self.publish(order)

    def publish(self, order: Iterable[str]) -> None:
        """Route by this order from now on."""
        self._ranks = {name: rank for rank, name in enumerate(order)}

    def choose(self, candidates: Sequence[EddyOperator]) -> EddyOperator:
        last = len(self._ranks)
        return min(candidates, key=lambda operator: self._ranks.get(operator.name, last))


class RandomRouting(_Silent):
    """Any operator that the tuple has not visited, with equal chances."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def choose(self, candidates: Sequence[EddyOperator]) -> EddyOperator:
        return self._random.choice(candidates)


class TicketRouting:
    """CACQ's lottery, see `order.ticket.Tickets`: operators that drop tuples for many predicates get the most tuples."""

    def __init__(self, seed: int = 0) -> None:
        self.tickets = Tickets([], seed=seed)
        self._numbers: dict[EddyOperator, int] = {}

    def choose(self, candidates: Sequence[EddyOperator]) -> EddyOperator:
        by_number = {self._number(operator): operator for operator in candidates}
        drawn = self.tickets.draw(list(by_number))
        assert drawn is not None, "only operators with room are asked for"
        return by_number[drawn]

    def took(self, operator: EddyOperator) -> None:
        self.tickets.routed(self._number(operator))

    def returned(self, operator: EddyOperator) -> None:
        self.tickets.returned(self._number(operator))

    def dropped(self, operator: EddyOperator) -> None:
        self.tickets.dropped(self._number(operator))

    def forget(self, operator: EddyOperator) -> None:
        number = self._numbers.pop(operator, None)
        if number is not None:
            self.tickets.held[number], self.tickets.waiting[number] = 1, 0

    def held(self) -> dict[str, int]:
        """Tickets of all operators that have ever been candidates, by name."""
        return {operator.name: self.tickets.held[number] for operator, number in self._numbers.items()}

    def _number(self, operator: EddyOperator) -> int:
        """The operator's number in the lottery, which learns how many predicates it applies by now."""
        number = self._numbers.get(operator)
        if number is None:
            used = set(self._numbers.values())
            number = self._numbers[operator] = next(n for n in range(len(used) + 1) if n not in used)
        self.tickets.apply(number, operator.predicates)
        return number


_MAKERS: Final[dict[PolicyName, Callable[[int], Policy]]] = {
    "fixed": lambda _: FixedRouting(),
    "random": RandomRouting,
    "ticket": TicketRouting,
}


def make_policy(name: str, *, seed: int = 0) -> Policy:
    """A policy by its name.

    >>> make_policy("shortest")
    Traceback (most recent call last):
    eddyline.errors.SettingsError: routing policy "shortest" is not known
    hint: one of fixed, random, ticket
    """
    for known, make in _MAKERS.items():
        if known == name:
            return make(seed)
    raise SettingsError(f'routing policy "{name}" is not known', hint=f"one of {', '.join(POLICIES)}")
