"""The account of a compiled set: every item of work and memory, and the queries that use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from eddyline.execute.placed import Placed
from eddyline.index.asc import AscIndex
from eddyline.index.segment import Segment
from eddyline.index.sliced import SlicedIndex
from eddyline.model.predicate import Condition, Predicate, conditions_of, conjunction
from eddyline.queryset import unit_costs as unit
from eddyline.queryset.keyed_items import KeyedItems
from eddyline.queryset.sheet import Label, Shares, Sheet, divide
from eddyline.queryset.sliced_items import SlicedItems

PredicateOf = Callable[[int], Predicate]


@dataclass
class Account:
    """Queries by place; their numbers in the segments, their ids, and the sheet that they share.

    Invariant: the shares of all queries sum to the totals of all items, to the attosecond and to the byte.
    """

    segments: Sequence[Segment]
    ids: list[str]
    sheet: Sheet
    sliced: dict[int, SlicedItems] = field(default_factory=dict)
    keyed: dict[int, KeyedItems] = field(default_factory=dict)
    uses: dict[int, Counter[Condition]] = field(default_factory=dict)

    @cached_property
    def shares(self) -> Shares:
        """Who bears how much of what."""
        return divide(self.sheet, self.ids)


def open_account(segments: Sequence[Placed], names: Mapping[int, str], predicate_of: PredicateOf) -> Account:
    """Price all queries; `names` are the ids of live numbers. Predicates are asked for only where they are needed."""
    place_of = {number: place for place, number in enumerate(names)}
    account = Account([placed.segment for placed in segments], list(names.values()), Sheet())
    for number, placed in enumerate(segments):
        _enter_segment(account, number, placed, place_of, predicate_of)
    return account


def _enter_segment(
    account: Account, nth: int, placed: Placed, place_of: Mapping[int, int], of_number: PredicateOf
) -> None:
    """The queries of a segment, which are known by their slots from here on."""
    numbers, segment = placed.numbering.all().tolist(), placed.segment
    places = {slot: place_of[number] for slot, number in enumerate(numbers) if number in place_of}

    def predicate_of(slot: int) -> Predicate:
        return of_number(numbers[slot])

    index, rowwise = segment.sliced, segment.rowwise
    if rowwise is not None and rowwise.most_rows is None:
        _enter_ascs(account, nth, rowwise.ascs, places, predicate_of)
        index = rowwise.rest
    owners = _enter_sliced(account, nth, index, places, predicate_of)
    if rowwise is not None and rowwise.most_rows is not None:
        _share_evenly(account, Label("small", nth, "sliced", None), rowwise.bytes, owners)
    keyed = account.keyed[nth] = KeyedItems(account.sheet, nth, segment.keyed)
    served = np.concatenate([np.empty(0, np.int32), *(table.results for table in segment.keyed.tables)])
    keyed.enter({slot: places[slot] for slot in np.unique(served).tolist() if slot in places})


def _enter_sliced(
    account: Account, segment: int, index: SlicedIndex, places: Mapping[int, int], predicate_of: PredicateOf
) -> list[int]:
    """The sliced queries of a segment; gives their places."""
    items = account.sliced[segment] = SlicedItems(account.sheet, segment, index)
    uses = account.uses[segment] = Counter()
    direct_from = index.program.always[1]
    roots: dict[Predicate, list[int]] = {}
    owners = []
    for result, slot in enumerate(index.numbers.tolist()):
        place = places.get(slot)
        if place is None:  # removed, and still compiled
            continue
        predicate = predicate_of(slot)
        uses.update(conditions_of(predicate))
        owners.append(place)
        conditions = conjunction(predicate)
        if result >= direct_from and conditions:
            account.sheet.use(place, items.compared(place, conditions))
            continue
        account.sheet.use(place, items.joined(place, predicate))
        if conditions is None:
            roots.setdefault(predicate, []).append(place)
    for root, users in roots.items():
        items.roots[root] = len(users)
        if len(users) > 1:
            again = items.repeat(root, len(users) - 1)
            for place in users:
                account.sheet.use(place, [again])
    rest = max(0, index.bytes - items.counted)
    _share_evenly(account, Label("rest", segment, "sliced", None), rest, owners)
    return owners


def _enter_ascs(
    account: Account, segment: int, index: AscIndex, places: Mapping[int, int], predicate_of: PredicateOf
) -> None:
    """Queries that are always evaluated row by row."""
    owners: list[int] = []
    users: dict[object, list[int]] = {}
    for slot in index.numbers.tolist():
        if slot in places:
            owners.append(places[slot])
            for condition in conditions_of(predicate_of(slot)):
                users.setdefault(condition.subject, []).append(places[slot])
    for cutting in index.cuttings:
        cost = unit.locating(cutting) + unit.computing(cutting.subject) + unit.VISIT * len(index.table)
        label = Label("visit", segment, "rowwise", cutting.subject)
        found = users.get(cutting.subject, [])
        if found:
            item = account.sheet.item(label, unit.attoseconds(cost), cutting.bytes)
            for place in found:
                account.sheet.use(place, [item])
    _share_evenly(account, Label("bitmaps", segment, "rowwise", None), index.bytes, owners)


def _share_evenly(account: Account, label: Label, size: int, owners: Sequence[int]) -> None:
    if owners and size:
        item = account.sheet.item(label, 0, size)
        several = np.array(owners, np.int64)
        account.sheet.use_many(np.full(len(several), item, np.int64), several)
