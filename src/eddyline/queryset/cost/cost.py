"""What each query costs: its share of the work and of the bytes, in nanoseconds a tuple, and what makes it up.

A *share* divides whatever several queries use among them; all shares sum to the total. The *marginal* cost is what a set
would cost more with a query: all that it needs and nobody has yet. Both are worked out of the compiled set and of unit costs
(`unit_costs.py`); `QuerySet.cost(batches)` tells what the set took on given rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from eddyline.execute.pricing.cost_items import Label, Numbers, Sheet
from eddyline.execute.pricing.unit_costs import ATTO
from eddyline.queryset.cost.set_costs import SetCosts

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CostPart:
    """One thing that a query uses, the query's share of it, and how many queries use it."""

    text: str
    kind: str
    attoseconds: int
    bytes: int
    users: int = 1

    @property
    def nanoseconds(self) -> float:
        """The time for one tuple."""
        return self.attoseconds / ATTO

    def __str__(self) -> str:
        others = self.users - 1
        shared = f", shared with {others:,} other{'s' * (others > 1)}" if others else ""
        return f"{self.text}: {figure(self.nanoseconds)} ns, {self.bytes:,} bytes{shared}"


@dataclass(frozen=True, slots=True)
class Cost:
    """Time a tuple and memory; whole numbers, so that costs can be summed exactly. `measured`: nanoseconds, if known."""

    attoseconds: int
    bytes: int
    parts: tuple[CostPart, ...] = field(default=(), repr=False)
    measured: float | None = None

    @property
    def nanoseconds(self) -> float:
        """The time for one tuple."""
        return self.attoseconds / ATTO

    def dearest(self, by: Literal["time", "bytes"] = "time") -> CostPart | None:
        """The part that costs most; None if the query costs nothing."""
        return max(self.parts, key=lambda p: p.attoseconds if by == "time" else p.bytes, default=None)

    def __str__(self) -> str:
        took = "" if self.measured is None else f", {figure(self.measured)} ns measured"
        return f"{figure(self.nanoseconds)} ns a tuple, {self.bytes:,} bytes{took}"


class Costs(Mapping[str, Cost]):
    """The costs of all queries of a set, by id; parts are put into words only for those that are asked for.

    `side_of` says which side of a join a role is, given its name.
    """

    def __init__(
        self,
        costs: SetCosts,
        side_of: Callable[[str], str | None],
        measured: Mapping[tuple[int, str], float] | None = None,
    ) -> None:
        self._costs, self._side_of = costs, side_of
        self._places = {id: place for place, id in enumerate(costs.ids)}
        shares = costs.shares
        self._attoseconds = costs.by_query(shares.sums(shares.attoseconds))
        self._bytes = costs.by_query(shares.sums(shares.bytes))
        self._measured = None if measured is None else costs.by_query(_spread(costs, measured))

    def __getitem__(self, id: str) -> Cost:
        place = self._places[id]
        parts = [part for owner in self._costs.owners_of(place) for part in self._parts(owner)]
        measured = None if self._measured is None else float(self._measured[place])
        return Cost(int(self._attoseconds[place]), int(self._bytes[place]), _sorted(parts), measured)

    def _parts(self, owner: int) -> Iterator[CostPart]:
        costs = self._costs
        shares, own, side = costs.shares, costs.shares.of(owner), self._side_of(costs.owners[owner])
        columns = (shares.items[own], shares.attoseconds[own], shares.bytes[own])
        for item, time, size in zip(*(column.tolist() for column in columns), strict=True):
            yield _part(costs, costs.sheet.labels[item], side, time, size, int(costs.users[item]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def total(self) -> Cost:
        """What the whole set costs; no parts."""
        used = self._costs.shares.users > 0
        totals = [
            np.array(values, np.int64)[used]
            for values in (self._costs.sheet.attoseconds, self._costs.sheet.bytes)
        ]
        measured = None if self._measured is None else float(self._measured.sum())
        return Cost(int(totals[0].sum()), int(totals[1].sum()), (), measured)

    def dearest(self, top: int | None = None, *, by: Literal["time", "bytes"] = "time") -> list[str]:
        """Ids of the dearest queries, by measured time where it is known."""
        time = self._attoseconds if self._measured is None else self._measured
        order = np.argsort(-(time if by == "time" else self._bytes), kind="stable")
        ids = self._costs.ids
        return [ids[place] for place in order[:top].tolist()]


def _spread(costs: SetCosts, measured: Mapping[tuple[int, str], float]) -> Floats:
    """The time of every executor divided as its modelled time is; evenly where that is nothing."""
    shares, labels = costs.shares, costs.sheet.labels
    modelled: dict[tuple[int, str], int] = {}
    for label, time, users in zip(labels, costs.sheet.attoseconds, shares.users.tolist(), strict=True):
        if users:
            served = (label.segment, label.executor)
            modelled[served] = modelled.get(served, 0) + time
    factors = np.array(
        [
            measured.get((label.segment, label.executor), 0.0)
            / (modelled.get((label.segment, label.executor)) or 1)
            for label in labels
        ]
    )
    return _float_sums(shares.starts, shares.attoseconds * factors[shares.items])


def _float_sums(starts: Numbers, values: Floats) -> Floats:
    running = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(running[starts[1:]] - running[starts[:-1]], np.float64)


def cost_of_items(costs: SetCosts, items: Sheet, sides: Sequence[str | None]) -> Cost:
    """The cost of items that one query alone bears; `sides` says which side of a join needs each of them."""
    listed = zip(items.labels, sides, items.attoseconds, items.bytes, strict=True)
    parts = [_part(costs, *each, 1) for each in listed]
    return Cost(sum(items.attoseconds), sum(items.bytes), _sorted(parts))


def _part(costs: SetCosts, label: Label, side: str | None, time: int, size: int, users: int) -> CostPart:
    text = costs.text(label)
    return CostPart(text if side is None else f"{side}: {text}", label.kind, time, size, users)


def _sorted(parts: list[CostPart]) -> tuple[CostPart, ...]:
    return tuple(sorted(parts, key=lambda part: (-part.attoseconds, -part.bytes, part.text)))


def figure(nanoseconds: float) -> str:
    """A time with as many digits as matter.

    >>> figure(0.0000123), figure(0.0186), figure(5.25), figure(0.0), figure(1234.5)
    ('0.0000123', '0.0186', '5.25', '0', '1,234')
    """
    if nanoseconds == 0:
        return "0"
    if nanoseconds >= 100:
        return f"{nanoseconds:,.0f}"
    digits = 2 - int(np.floor(np.log10(nanoseconds)))
    text = f"{nanoseconds:.{max(0, digits)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
