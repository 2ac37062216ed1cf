"""The queries that are alive, by slot: a slot is a place that one query has at a time and another one later.

    slot          0        1        2        3
    member        cheap/1  big/1    -        odd/3
    removed_at    never    17       never    never         a push at version 16 still sees big, one at 17 does not

A push looks at slots without any lock. That is safe because what it sees of a slot is only written while no segment that
it may hold names the slot: a slot is used again only after every segment with its last query is gone from the published
list, and every push that began before that has ended (`Quarantine`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.model.expression import Expression
from eddyline.project.select_list import SelectList

Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]
NEVER: Final = np.iinfo(np.int64).max
FIRST_SLOTS: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One revision of a query, alive from version `since` on; a shadow is counted and not delivered.

    `number` is its own for ever, while another query may have its slot later.
    """

    id: str
    number: int
    sql: str
    revision: int
    since: int
    slot: int
    stream: str
    select_list: SelectList
    fallible: tuple[Expression, ...]
    shadow: bool = False


class Table:
    """What a push asks of slots, as arrays by slot."""

    def __init__(self, size: int = FIRST_SLOTS) -> None:
        self.members = np.empty(size, object)
        self.names = np.empty(size, object)
        self.numbers = np.zeros(size, np.int64)
        self.removed_at = np.zeros(size, np.int64)
        self.order = np.zeros(size, np.int64)
        self.select_lists = np.zeros(size, np.int64)
        self.revisions = np.zeros(size, np.int32)
        self.shadows = np.zeros(size, np.bool_)

    def __len__(self) -> int:
        return len(self.removed_at)

    def grown(self, size: int) -> Table:
        """A copy with more slots; whoever holds this one goes on with it as it is."""
        new = Table(size)
        for name, array in vars(self).items():
            getattr(new, name)[: len(array)] = array
        return new

    def enter(self, member: Member, order: int) -> None:
        """Write a member into its slot."""
        slot = member.slot
        self.members[slot] = member
        self.names[slot] = member.id
        self.numbers[slot] = member.number
        self.removed_at[slot] = NEVER
        self.order[slot] = order
        self.select_lists[slot] = member.select_list.number
        self.revisions[slot] = member.revision
        self.shadows[slot] = member.shadow

    def dead(self, slots: Integers) -> int:
        """How many of these slots have a member that was removed."""
        return int(np.count_nonzero(self.removed_at[slots] != NEVER))


class Quarantine:
    """Slots that nobody has any more, and since when: after how many pushes begun."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, list[int]]] = deque()
        self._free: list[int] = []
        self.begun = 0
        self.ended = 0

    def retire(self, slots: Iterable[int]) -> None:
        """No published segment has these slots any more."""
        retired = list(slots)
        if retired:
            self._waiting.append((self.begun, retired))

    def take(self) -> int | None:
        """A slot that can be used again."""
        while not self._free and self._waiting and self._waiting[0][0] <= self.ended:
            self._free = self._waiting.popleft()[1]
        return self._free.pop() if self._free else None
