"""The costs of a compiled set: every item of work and memory, and the queries that use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from eddyline.execute.kinds.table import EXECUTORS
from eddyline.execute.placed import Placed
from eddyline.execute.pricing.cost_items import Bill, Label, Priced, Shares, Sheet, divide
from eddyline.index.segment import Segment
from eddyline.model.predicate import Predicate

PredicateOf = Callable[[int], Predicate]
LONGEST: Final = 80  # characters of an item's text


@dataclass
class SetCosts:
    """The queries of a set, the items that they share, and the executors of each segment, priced.

    Invariant: the shares of all queries sum to the totals of all items, to the attosecond and to the byte.
    """

    segments: Sequence[Segment]
    ids: list[str]
    sheet: Sheet
    priced: list[list[Priced]] = field(default_factory=list)

    @cached_property
    def shares(self) -> Shares:
        """Who bears how much of what."""
        return divide(self.sheet, self.ids)

    def text(self, label: Label) -> str:
        """What an item is."""
        known = label.segment < len(self.segments)  # not of a stream whose first query might be added
        index = self.segments[label.segment].indexes.get(label.executor) if known else None
        text = EXECUTORS[label.executor].item_text(label, index)
        return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def price_set(
    segments: Sequence[Placed], names: Mapping[int, str], predicate_of: PredicateOf, direct: str
) -> SetCosts:
    """Price all queries; `names` are the ids of live numbers. Predicates are asked for only where they are needed."""
    owner_of = {number: owner for owner, number in enumerate(names)}
    costs = SetCosts([placed.segment for placed in segments], list(names.values()), Sheet())
    for nth, placed in enumerate(segments):
        bill = _bill(costs.sheet, nth, placed, owner_of, predicate_of, direct)
        costs.priced.append([executor.price(bill) for executor in placed.executor.executors.values()])
    return costs


def _bill(
    sheet: Sheet,
    nth: int,
    placed: Placed,
    owner_of: Mapping[int, int],
    predicate_of: PredicateOf,
    direct: str,
) -> Bill:
    """For a segment, whose queries are known by slots from here on."""
    numbers = placed.numbering.all().tolist()
    owners = {slot: owner_of[number] for slot, number in enumerate(numbers) if number in owner_of}
    return Bill(sheet, nth, owners, lambda slot: predicate_of(numbers[slot]), direct)
