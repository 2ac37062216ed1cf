"""Queries that might be added to a set: what each of them needs that nobody has yet."""

from __future__ import annotations

from collections import Counter

from eddyline.model.predicate import NEVER, Condition, Predicate, conjunction
from eddyline.queryset.account import Account
from eddyline.queryset.sheet import Sheet
from eddyline.queryset.sliced_items import SlicedItems


class Addition:
    """Prices queries over an account, and over those that were kept before.

    They are priced as if compiled into the largest segment of their stream, which merging brings about sooner or later.
    """

    def __init__(self, account: Account, direct: str) -> None:
        self._account, self._direct = account, direct
        self._kept = Sheet(account.sheet)
        self._roots: Counter[tuple[int, Predicate]] = Counter()
        self._added = 0

    def price(self, stream: str, predicate: Predicate, *, keep: bool) -> Sheet:
        """The items that a query needs and nobody has; kept, they are there for the next one."""
        trial = Sheet(self._kept)
        if predicate == NEVER:
            return trial
        self._added += 1
        owner, segment = ("added", self._added), self._segment(stream)
        keyed = self._account.keyed.get(segment)
        if keyed is None or keyed.marginal(owner, predicate, trial) is None:
            self._join(trial, segment, owner, predicate)
        if keep:
            self._roots[segment, predicate] += 1
            for item in zip(trial.labels, trial.attoseconds, trial.bytes, strict=True):
                self._kept.item(*item)
        return trial

    def _join(self, trial: Sheet, segment: int, owner: object, predicate: Predicate) -> None:
        """A query that no table takes in."""
        known = self._account.sliced.get(segment)
        items = SlicedItems(trial, segment, None) if known is None else known.over(trial)
        uses: Counter[Condition] = self._account.uses.get(segment, Counter())
        conditions = conjunction(predicate)
        if conditions and self._direct != "never" and items.goes_direct(predicate, uses, self._direct):
            items.compared(owner, conditions)
            return
        items.joined(owner, predicate)
        if conditions is None and items.roots[predicate] + self._roots[segment, predicate]:
            items.repeat(owner, 1)

    def _segment(self, stream: str) -> int:
        """The largest segment of a stream; one that is not there yet comes after all others."""
        segments = self._account.segments
        own = [n for n, segment in enumerate(segments) if segment.stream == stream]
        return max(own, key=lambda n: segments[n].size, default=len(segments))
