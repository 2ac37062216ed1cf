"""Which SteM is probed from which: roles grouped by the two SteMs that they link, and what a probe wants to know of each.

    role   stem   partner's stem        link (stored in the role's own, probed from its partner's)
     2      0       1                   0:  1 -> 0
     3      1       0                   1:  0 -> 1
     4      0       1                   0

Versions of a set that grow out of one another differ in few roles: only these are looked at, once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.kernels.join import ALWAYS
from eddyline.model.arrays import Integers
from eddyline.model.roles import Roles

Array = npt.NDArray[Any]

GONE: Final = -1  # the link of a role that is in no lineage any more
_UNKNOWN: Final = -1  # when a role came that has not been seen yet
# steps after which what roles that are gone have left behind is looked for, even if these are few
_STEPS_TO_NARROW: Final = 64
_FIRST_ROOM: Final = 64


@dataclass(slots=True)
class Link:
    """All roles of one SteM whose partners are in one other, or in the same.

    low, high       widest bounds of a stored tuple's time less the probing one's
    inner           bounds that lie within those of all roles
    latest          when the last of the roles arrived, as `Links.arrived` has it
    free_stored     some role is free: every tuple is stored, and goes with every probe that has its partner
    free_probing    some role's partner is free: every tuple probes
    both_free       roles that are free, and their partners too: each pair satisfies them
    """

    number: int
    probing: int
    stored: int
    low: int = 0
    high: int = -1
    inner: tuple[int, int] = (0, -1)
    latest: int = 0
    roles: int = 0
    free_stored: bool = False
    free_probing: bool = False
    both_free: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))

    def widen(self, roles: Roles, which: Integers, arrived: Integers) -> None:
        """Take in roles."""
        low, high = roles.low[which], roles.high[which]
        if not self.roles:
            self.low, self.high, self.latest = int(low[0]), int(high[0]), 0
            self.inner = self.low, self.high
        self.low, self.high = min(self.low, int(low.min())), max(self.high, int(high.max()))
        self.inner = max(self.inner[0], int(low.max())), min(self.inner[1], int(high.min()))
        self.latest = max(self.latest, int(arrived[which].max()))
        self.roles += len(which)
        is_free, partner_is_free = roles.free[which], roles.free[roles.partner[which]]
        self.free_stored |= bool(is_free.any())
        self.free_probing |= bool(partner_is_free.any())
        both = which[is_free & partner_is_free].astype(np.int32)
        if len(both):
            self.both_free = np.concatenate([self.both_free, both])


class Links:
    """The links of the newest version that was seen; SteMs are known by their numbers in it.

    Columns by dense id: `link`, GONE for a role that is not alive; `arrived`, the position that the next tuple of its stream
    had when it was first seen: a tuple before it is none of its own; `stamps` of probes.
    """

    def __init__(self) -> None:
        self.epoch: int | None = None
        self.all: list[Link] = []
        self.link = np.full(_FIRST_ROOM, GONE, np.int32)
        self.arrived = np.full(_FIRST_ROOM, _UNKNOWN, np.int64)
        self.stamps = np.zeros(_FIRST_ROOM, np.int32)
        self.mark = 0
        self.columns: tuple[Array, ...] = ()
        self._roles: Roles | None = None
        self._alive = np.zeros(_FIRST_ROOM, np.bool_)
        self._numbers: dict[tuple[int, int], int] = {}
        self._storing: dict[int, list[Link]] = {}
        self._probing: dict[int, list[Link]] = {}
        self._removed = 0
        self._steps = 0

    def update(self, roles: Roles, ends: Mapping[str, int]) -> bool:
        """Follow a set to another version; `ends` has the next position of each stream. Gives whether anything changed."""
        self._steps += 1
        if roles is self._roles:
            return self._narrow(roles)
        assert self.epoch is None or roles.epoch == self.epoch, (
            "`moved` tells of another epoch before its first step"
        )
        self.epoch, self._roles = roles.epoch, roles
        self._make_room(roles.size)
        alive = roles.alive[: roles.size]
        different = np.flatnonzero(self._alive[: roles.size] != alive)
        different = different[roles.stem[different] >= 0]  # the others are no roles
        self._alive[: roles.size] = alive
        self._remove(different[~alive[different]])
        self._add(roles, different[alive[different]], ends)
        self.columns = (
            *(owned(column, kind) for column, kind in _columns(roles)),
            self.link,
            self.arrived,
            self.stamps,
        )
        self._index()
        return bool(len(different)) | self._narrow(roles)

    def moved(self, epoch: int, rows: Integers) -> Links:
        """The same with roles known by other dense ids, rows[old] each; those of which that is -1 are gone."""
        known = np.flatnonzero(self.arrived[: len(rows)] != _UNKNOWN)
        known = known[rows[known] >= 0]
        links = Links()
        links.epoch = epoch
        links._make_room(int(rows.max(initial=0)) + 1)
        links.arrived[rows[known]] = self.arrived[known]
        return links

    @property
    def stems(self) -> list[int]:
        """The SteMs that some role wants, ascending."""
        return sorted(self._storing)

    def storing(self, stem: int) -> list[Link]:
        """The links that a SteM is probed along."""
        return self._storing.get(stem, [])

    def probing(self, stems: Iterable[int]) -> list[Link]:
        """The links along which tuples of some SteMs probe."""
        return [link for stem in stems for link in self._probing.get(stem, [])]

    def keeps_all(self, stem: int) -> bool:
        """Whether a SteM keeps tuples without any role: some role of it is free."""
        return any(link.free_stored for link in self.storing(stem))

    def roles(self, stem: int) -> Integers:
        """The roles of a SteM."""
        return np.flatnonzero(np.isin(self.link, [link.number for link in self.storing(stem)]))

    def next_mark(self, probes: int) -> None:
        """Make room for so many marks."""
        if self.mark + probes >= ALWAYS:
            self.stamps[self.stamps != ALWAYS] = 0
            self.mark = 0

    def _make_room(self, size: int) -> None:
        if size > len(self.link):
            room = max(size, 2 * len(self.link))
            self.link = _longer(self.link, room, GONE)
            self.arrived = _longer(self.arrived, room, _UNKNOWN)
            self.stamps = _longer(self.stamps, room, 0)
            self._alive = _longer(self._alive, room, False)

    def _remove(self, which: Integers) -> None:
        if len(which):
            self.link[which], self.stamps[which], self.arrived[which] = GONE, 0, _UNKNOWN
            self._removed += len(which)

    def _add(self, roles: Roles, which: Integers, ends: Mapping[str, int]) -> None:
        if not len(which):
            return
        end_of_stem = np.array([ends.get(stem.stream, 0) for stem in roles.stems], np.int64)
        new = which[self.arrived[which] == _UNKNOWN]
        self.arrived[new] = end_of_stem[roles.stem[new]]
        probed = which[roles.free[roles.partner[which]] & ~roles.free[which]]
        self.stamps[probed] = ALWAYS
        for pair, members in _by_link(roles, which):
            number = self._numbers.setdefault(pair, len(self.all))
            if number == len(self.all):
                self.all.append(Link(number, *pair))
            self.link[members] = number
            self.all[number].widen(roles, members, self.arrived)

    def _narrow(self, roles: Roles) -> bool:
        """Forget what roles that are gone have asked for, once they are many or some time ago."""
        if not self._removed or (self._removed * 8 < roles.size and self._steps < _STEPS_TO_NARROW):
            return False
        self._removed = self._steps = 0
        for link in self.all:
            link.roles, link.free_stored, link.free_probing, link.both_free = (
                0,
                False,
                False,
                link.both_free[:0],
            )
        for pair, members in _by_link(roles, np.flatnonzero(self.link[: roles.size] != GONE)):
            self.all[self._numbers[pair]].widen(roles, members, self.arrived)
        self._index()
        return True

    def _index(self) -> None:
        storing, probing = defaultdict(list), defaultdict(list)
        for link in self.all:
            if link.roles:
                storing[link.stored].append(link)
                probing[link.probing].append(link)
        self._storing, self._probing = dict(storing), dict(probing)


def _by_link(roles: Roles, which: Integers) -> list[tuple[tuple[int, int], Integers]]:
    """Roles by (the SteM that is probed from, their own)."""
    if not len(which):
        return []
    probing, stored = roles.stem[roles.partner[which]].astype(np.int64), roles.stem[which]
    stems = len(roles.stems)
    # the narrowest type that holds them: 16 bits are sorted by counting
    packed = (probing * stems + stored).astype(np.min_scalar_type(stems * stems))
    order = np.argsort(packed, kind="stable")
    cuts = np.flatnonzero(np.diff(packed[order])) + 1
    return [
        ((int(probing[group[0]]), int(stored[group[0]])), which[group]) for group in np.split(order, cuts)
    ]


def _columns(roles: Roles) -> list[tuple[Array, Any]]:
    """What a probe reads of roles, in the order of the kernel."""
    return [
        (roles.partner, np.int32),
        (roles.low, np.int64),
        (roles.high, np.int64),
        (roles.side, np.int8),
        (roles.free, np.bool_),
    ]


def owned(column: Array, kind: Any) -> Array:
    """A column as kernels are compiled for: one that cannot be written to would have them compiled once more."""
    return np.require(column, kind, ["C", "W"])


def _longer(column: Array, room: int, filling: object) -> Array:
    longer = np.full(room, filling, column.dtype)
    longer[: len(column)] = column
    return longer
