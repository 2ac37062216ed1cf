"""What CACQ's table 3 costs at best, exactly: filters that a tuple visits, over all tuples of whole numbers 0..99.

A tuple is done with when every query has rejected it or was given it, so that only the filters which passed matter:
2^5 kinds of tuples, each with its probability as a fraction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Final

from bench.experiments.cacq_source import FIELDS, VALUES, nested

BOUNDS: Final = (90, 70, 50, 30, 10)
CONDITIONS: Final = tuple([f"{name} > {bound}" for name, bound in zip(FIELDS, BOUNDS, strict=True)])
QUERIES: Final = tuple(nested(CONDITIONS))
Order = tuple[int, ...]
Passed = tuple[bool, ...]


def kinds() -> Iterator[tuple[Passed, Fraction]]:
    """Which filters a tuple passes, and how probable that is: a > 90 is passed by 9 values of 100."""
    rates = [Fraction(VALUES - 1 - bound, VALUES) for bound in BOUNDS]
    for passed in product((False, True), repeat=len(BOUNDS)):
        chance = Fraction(1)
        for rate, passes in zip(rates, passed, strict=True):
            chance *= rate if passes else 1 - rate
        yield passed, chance


def visited(order: Sequence[int], passed: Passed) -> int:
    """Filters that a tuple goes through in an order: query i waits for the filters 0 to i, unless one rejects it."""
    seen: set[int] = set()
    for count, filter in enumerate(order, 1):
        seen.add(filter)
        rejected = [place for place in seen if not passed[place]]
        first = min(rejected, default=len(passed))  # queries from here on are rejected
        if all(place in seen for place in range(first)):
            return count
    return len(order)


def expected(order: Sequence[int]) -> Fraction:
    """Filters a tuple on average, every tuple in this order."""
    return sum((chance * visited(order, passed) for passed, chance in kinds()), Fraction(0))


def optimum() -> tuple[Order, Fraction]:
    """The best fixed order and its cost."""
    costs = {order: expected(order) for order in permutations(range(len(BOUNDS)))}
    best = min(costs, key=costs.__getitem__)
    return best, costs[best]


def fewest() -> Fraction:
    """CACQ's own bound: every tuple by the order that is best for it alone."""
    orders = list(permutations(range(len(BOUNDS))))
    return sum(
        (chance * min(visited(order, passed) for order in orders) for passed, chance in kinds()), Fraction(0)
    )
