"""Operators between which an eddy routes: here filters, later SteMs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from eddyline.execute.eddy.asc_filter import AscFilter
from eddyline.execute.eddy.clauses import Split, simple, whole
from eddyline.execute.eddy.flowing import Bits, Flowing, bits_of
from eddyline.execute.eddy.grouped_filter import GroupedFilter, Mask
from eddyline.model.expression import Expression
from eddyline.model.regions import Regions

FilterName = Literal["grouped", "asc"]


class Filter(Protocol):
    """All predicates on one subject, each at a place."""

    subject: Expression

    def insert(self, place: int, regions: Regions) -> None: ...

    def remove(self, place: int, regions: Regions) -> None: ...

    def probe(self, value: Any) -> Mask: ...


FILTERS: Final[dict[FilterName, tuple[Callable[[Expression], Filter], Split]]] = {
    "grouped": (GroupedFilter, simple),
    "asc": (AscFilter, whole),
}


class EddyOperator(Protocol):
    """What an eddy may route a tuple to."""

    @property
    def name(self) -> str: ...

    @property
    def predicates(self) -> int:
        """How many predicates it applies to a tuple: what its work is worth in tickets."""
        ...

    @property
    def queue(self) -> deque[Flowing]:
        """Tuples that wait for it."""
        ...

    def process(self, flowing: Flowing) -> Sequence[Flowing]:
        """Apply it; what comes back goes on through the eddy: the tuple itself, and for joins what it made."""
        ...


@dataclass(frozen=True, slots=True)
class FilterPredicate:
    """A predicate in a filter and whom it concerns: alone in its clause it rejects the query where it fails, in a clause
    of several it sets the bit of its disjunct where it holds.
    """

    regions: Regions
    rejects: Bits
    sets: Bits


@dataclass(slots=True, eq=False)
class Selection:
    """The filter of one subject with the members at its places; places of removed ones are used again."""

    name: str
    filter: Filter
    queue: deque[Flowing] = field(default_factory=deque)
    members: dict[int, FilterPredicate] = field(default_factory=dict)
    _alone: Mask = 0

    @property
    def predicates(self) -> int:
        return len(self.members)

    def add(self, member: FilterPredicate) -> int:
        """Take in a predicate; its place."""
        place = next(place for place in range(len(self.members) + 1) if place not in self.members)
        self.members[place] = member
        self.filter.insert(place, member.regions)
        self._alone |= bool(member.rejects) << place
        return place

    def discard(self, place: int) -> None:
        """Forget a predicate."""
        self.filter.remove(place, self.members.pop(place).regions)
        self._alone &= ~(1 << place)

    def process(self, flowing: Flowing) -> Sequence[Flowing]:
        """Mark what the tuple's value means to all queries. Nothing is cut short: members are shared."""
        held = self.filter.probe(flowing.value(self.filter.subject))
        for place in bits_of(self._alone & ~held):
            flowing.completed |= self.members[place].rejects
        for place in bits_of(held & ~self._alone):
            flowing.disjuncts |= self.members[place].sets
        return (flowing,)
