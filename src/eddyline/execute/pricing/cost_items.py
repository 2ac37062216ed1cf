"""Items of work and memory, who uses each of them, and everybody's shares, which sum to the total exactly.

    item                              attoseconds  bytes   users
    price located                   5,000,000,000      0   cheap, busy
    price in (-inf, 10.0) as a mask     8,600,000     18   cheap, busy
    two masks read, a result            4,400,000     16   busy

An item is divided among its users in whole numbers; what is left over goes, one each, to the first of them by id, so that
shares depend on the queries alone and not on the order in which they came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from eddyline.model.predicate import Predicate

Numbers = npt.NDArray[np.int64]
_NONE: Final = np.empty(0, np.int64)


class Label(NamedTuple):
    """Which item it is: its kind, the segment and executor that it belongs to, and what tells it from others of its kind."""

    kind: str
    segment: int
    executor: str
    what: Any


class Sheet:
    """Collects items and their users; a sheet over another one holds only the items that the other does not have."""

    def __init__(self, under: Sheet | None = None) -> None:
        self._under = under
        self._first: int = 0 if under is None else under._first + len(under.labels)
        self.places: dict[Label, int] = {}
        self.labels: list[Label] = []
        self.attoseconds: list[int] = []
        self.bytes: list[int] = []
        self._items: list[Numbers] = []
        self._owners: list[Numbers] = []
        self._pending: tuple[list[int], list[int]] = ([], [])

    def item(self, label: Label, attoseconds: int, size: int) -> int:
        """The place of an item, which is entered if it is new."""
        place = self.find(label)
        if place is None:
            place = self._first + len(self.labels)
            self.places[label] = place
            self.labels.append(label)
            self.attoseconds.append(attoseconds)
            self.bytes.append(size)
        return place

    def find(self, label: Label) -> int | None:
        """The place of an item, None if there is none."""
        place = self.places.get(label)
        return place if place is not None or self._under is None else self._under.find(label)

    def use(self, owner: int, items: Iterable[int]) -> None:
        """A query uses items, each named once."""
        before = len(self._pending[0])
        self._pending[0].extend(items)
        self._pending[1].extend([owner] * (len(self._pending[0]) - before))

    def use_many(self, items: Numbers, owners: Numbers) -> None:
        """Pairs of items and queries, each once."""
        self._items.append(items)
        self._owners.append(owners)

    def uses(self) -> tuple[Numbers, Numbers]:
        """All pairs of items and queries."""
        items, owners = (np.array(pending, np.int64) for pending in self._pending)
        return np.concatenate([*self._items, items]), np.concatenate([*self._owners, owners])


@dataclass(frozen=True, slots=True)
class Bill:
    """One segment's part of a sheet: the queries that its slots belong to, without those that were removed."""

    sheet: Sheet
    segment: int
    owners: Mapping[int, int]
    predicate_of: Callable[[int], Predicate]
    direct: str  # as in `IndexSettings`

    def share(self, label: Label, size: int, owners: Sequence[int]) -> None:
        """Memory that all of some queries use."""
        if owners and size:
            item = self.sheet.item(label, 0, size)
            several = np.array(owners, np.int64)
            self.sheet.use_many(np.full(len(several), item, np.int64), several)


class Priced(Protocol):
    """What one executor of a segment costs, to which more queries may come."""

    def marginal(self, owner: object, predicate: Predicate, trial: Sheet, kept: int) -> bool:
        """Enter what one more query needs into a sheet over the segment's own; False if the executor does not take it.

        `kept`: how many queries of the same predicate have come since.
        """
        ...


class Shares(NamedTuple):
    """Pairs of query and item with the query's share, by query; `starts[i]` is where the shares of query i begin."""

    starts: Numbers
    items: Numbers
    attoseconds: Numbers
    bytes: Numbers
    users: Numbers  # of each item

    def of(self, query: int) -> slice:
        """Where the shares of a query are."""
        return slice(int(self.starts[query]), int(self.starts[query + 1]))

    def sums(self, values: Numbers) -> Numbers:
        """A value of each share, summed for each query."""
        running = np.concatenate([[0], np.cumsum(values)])
        sums: Numbers = running[self.starts[1:]] - running[self.starts[:-1]]
        return sums


def divide(sheet: Sheet, ids: Sequence[str]) -> Shares:
    """The shares of all queries, which a sheet knows by their place in `ids`."""
    items, owners = sheet.uses()
    rank = np.empty(len(ids), np.int64)
    rank[np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)] = np.arange(len(ids))
    order = np.lexsort((rank[owners], items)) if len(items) else _NONE
    items, owners = items[order], owners[order]
    users = np.bincount(items, minlength=len(sheet.labels))
    nth = np.arange(len(items)) - (np.cumsum(users) - users)[items]
    parts = [
        _parts(np.array(totals, np.int64), items, users, nth) for totals in (sheet.attoseconds, sheet.bytes)
    ]
    by_query = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[by_query], np.arange(len(ids) + 1))
    return Shares(starts, items[by_query], parts[0][by_query], parts[1][by_query], users)


def _parts(totals: Numbers, items: Numbers, users: Numbers, nth: Numbers) -> Numbers:
    whole, over = np.divmod(totals, np.maximum(users, 1))
    parts: Numbers = whole[items] + (nth < over[items])
    return parts
