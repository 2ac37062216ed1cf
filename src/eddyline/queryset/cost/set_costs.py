"""The costs of a compiled set: every item of work and memory, and the queries that use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.execute.kinds.table import EXECUTORS
from eddyline.execute.placed import Placed
from eddyline.execute.pricing.cost_items import Bill, Label, Numbers, Priced, Shares, Sheet, divide
from eddyline.execute.pricing.join_items import JOIN, JoinItems, join_text
from eddyline.index.segment import Segment
from eddyline.model.predicate import Predicate
from eddyline.model.roles import Roles
from eddyline.standing.version import Version

PredicateOf = Callable[[int], Predicate]
LONGEST: Final = 80  # characters of an item's text


@dataclass
class SetCosts:
    """The queries of a set, the items that they share, and the executors of each segment, priced.

    Whoever uses items is an *owner*: a query of one stream, or a join and each of its roles, which stand behind it.
    Invariant: the shares of all owners sum to the totals of all items, to the attosecond and to the byte.

    ids         of queries
    owners      names of owners: ids, and names of roles (`role_name`)
    query_of    by owner, the place of its query in `ids`; ascending
    """

    segments: Sequence[Segment]
    ids: list[str]
    owners: list[str]
    query_of: Numbers
    sheet: Sheet
    priced: list[list[Priced]] = field(default_factory=list)

    @cached_property
    def shares(self) -> Shares:
        """Who bears how much of what."""
        return divide(self.sheet, self.owners)

    @cached_property
    def users(self) -> Numbers:
        """How many queries use each item."""
        if len(self.owners) == len(self.ids):
            return self.shares.users
        owners = np.repeat(np.arange(len(self.owners)), np.diff(self.shares.starts))
        pairs = np.unique(self.shares.items * len(self.ids) + self.query_of[owners])
        return np.bincount(pairs // len(self.ids), minlength=len(self.sheet.labels))

    def owners_of(self, query: int) -> range:
        """The owners that a query, given by its place, consists of."""
        return range(*np.searchsorted(self.query_of, [query, query + 1]).tolist())

    def by_query(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of owners, summed for each query."""
        sums = np.zeros(len(self.ids), values.dtype)
        np.add.at(sums, self.query_of, values)
        return sums

    def text(self, label: Label) -> str:
        """What an item is."""
        if label.executor == JOIN:
            text = join_text(label)
        else:
            known = label.segment < len(self.segments)  # not of a stream whose first query might be added
            index = self.segments[label.segment].indexes.get(label.executor) if known else None
            text = EXECUTORS[label.executor].item_text(label, index)
        return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def price_set(version: Version, direct: str) -> SetCosts:
    """Price all queries of a version. Predicates are asked for only where they are needed."""
    table, compiler, sheet = version.table, version.compiler, Sheet()
    queries = [(query.id, table.rows_of([dense])) for dense, query in table.queries()]
    ids = [id for id, _ in queries]
    rows = [row for _, own in queries for row in own]
    costs = SetCosts(
        [placed.segment for placed in version.segments],
        ids,
        [table.query(row).id for row in rows] if len(rows) > len(ids) else ids,
        np.repeat(np.arange(len(ids)), [len(own) for _, own in queries]),
        sheet,
    )
    owner_of = {row: owner for owner, row in enumerate(rows)}
    for nth, placed in enumerate(version.segments):
        bill = _bill(
            sheet, nth, placed, owner_of, lambda row: compiler.member(table.query(row)).predicate, direct
        )
        costs.priced.append([executor.price(bill) for executor in placed.executor.executors.values()])
    for _, own in queries:
        if len(own) > 1:
            _price_join(sheet, own, owner_of, version.roles)
    return costs


def _price_join(sheet: Sheet, rows: Sequence[int], owner_of: Mapping[int, int], roles: Roles | None) -> None:
    """What a join, given with its roles, uses beside the conditions of its sides."""
    assert roles is not None, "there is a join"
    items, (join, *own) = JoinItems(sheet), rows
    owner = owner_of[join]
    sheet.use(owner, [items.rows(owner, len(own) // 2)])
    for role in own:
        key, partner = (roles.stems[roles.stem[each]] for each in (role, roles.partner[role]))
        found = items.role(owner_of[role], key, partner, is_free=bool(roles.free[role]))
        sheet.use(owner_of[role], found)
    for branch, role in enumerate(own[::2]):
        if roles.residual[role] >= 0:
            residual = roles.residuals[roles.residual[role]].expression
            sheet.use(owner, [items.residual(owner, branch, residual)])


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
