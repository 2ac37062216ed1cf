"""Queries that might be added to a set: what each of them needs that nobody has yet."""

from __future__ import annotations

from collections import Counter

from eddyline.execute.pricing.cost_items import Bill, Priced, Sheet
from eddyline.execute.pricing.unkeyed_items import UnkeyedItems
from eddyline.model.predicate import NEVER, Predicate
from eddyline.queryset.cost.set_costs import SetCosts


class Addition:
    """Prices queries over the costs of a set, and over those that were kept before.

    They are priced as if compiled into the largest segment of their stream, which merging brings about sooner or later.
    """

    def __init__(self, costs: SetCosts, direct: str) -> None:
        self._costs, self._direct = costs, direct
        self._kept = Sheet(costs.sheet)
        self._roots: Counter[tuple[int, Predicate]] = Counter()
        self._added = 0

    def price(self, stream: str, predicate: Predicate, *, keep: bool) -> Sheet:
        """The items that a query needs and nobody has; kept, they are there for the next one."""
        trial = Sheet(self._kept)
        if predicate == NEVER:
            return trial
        self._added += 1
        owner, segment = ("added", self._added), self._segment(stream)
        kept = self._roots[segment, predicate]
        for priced in self._priced(segment):
            if priced.marginal(owner, predicate, trial, kept):
                break
        if keep:
            self._roots[segment, predicate] += 1
            for item in zip(trial.labels, trial.attoseconds, trial.bytes, strict=True):
                self._kept.item(*item)
        return trial

    def _priced(self, segment: int) -> list[Priced]:
        """The executors of a segment, and one for the queries that those it has do not take."""
        known = self._costs.priced[segment] if segment < len(self._costs.priced) else []
        return [*known, UnkeyedItems(Bill(self._kept, segment, {}, _no_predicate, self._direct))]

    def _segment(self, stream: str) -> int:
        """The largest segment of a stream; one that is not there yet comes after all others."""
        segments = self._costs.segments
        own = [n for n, segment in enumerate(segments) if segment.stream == stream]
        return max(own, key=lambda n: segments[n].size, default=len(segments))


def _no_predicate(slot: int) -> Predicate:
    raise AssertionError("there are no queries yet")
