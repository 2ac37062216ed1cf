"""Probes: the new tuples of a stream against the stored ones of its partners, each pair once.

    new tuples of a  x  stored tuples of b             one pass for each segment of b
    new tuples of a  x  new tuples of a                where a stream is joined with itself, once

What is found comes in parts of at most so many pairs, in the order of the later tuple: where all of it would be too much,
rows are taken in halves, and of a single row the partners.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.join.keys import FACTOR, Codes
from eddyline.join.links import Link, Links
from eddyline.join.segment import RoleIndex, Segment
from eddyline.kernels.join import probe, probe_by_role

log = logging.getLogger("eddyline.join")

_FIRST_ROOM: Final = 1 << 12
_AFTER_ALL: Final = 2**62  # above every position


@dataclass(frozen=True, slots=True)
class Pass:
    """New tuples against some others; `is_same`: these are the same new ones, under another key maybe."""

    link: Link
    probing: Segment
    stored: Segment
    is_same: bool = False


@dataclass(frozen=True, eq=False)
class Found:
    """Pairs and roles, in any order: row of the later tuple, position of the earlier one, and the role that this one has."""

    rows: npt.NDArray[np.int32]
    positions: Codes
    roles: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Positions of later and of earlier tuples, ends exclusive."""

    first: int
    last: int
    partner_first: int = 0
    partner_last: int = _AFTER_ALL

    def halves(self, passes: Sequence[Pass]) -> list[_Stretch]:
        """Two parts, one after the other in the order of results; none if it is one pair alone."""
        if self.last - self.first > 1:
            middle = (self.first + self.last) // 2
            return [_Stretch(self.first, middle), _Stretch(middle, self.last)]
        least = max(self.partner_first, min(each.stored.positions[0] for each in passes))
        most = min(self.partner_last, max(each.stored.positions[1] for each in passes) + 1)
        middle = (least + most) // 2
        if most - least <= 1:
            return []
        return [_Stretch(self.first, self.last, *ends) for ends in ((least, middle), (middle, most))]


class Prober:
    """Room for what probes find, which is kept from one step to the next; at most `most` pairs come at once.

    level   at which it is logged that a step has more: where users choose what a step is, they should know
    """

    def __init__(self, most: int, level: int = logging.WARNING) -> None:
        self._most = most
        self._level = level
        self._out: tuple[npt.NDArray[Any], ...] = (
            np.empty(0, np.int32),  # rows
            np.empty(0, np.int64),  # positions
            np.empty(0, np.int32),  # roles
        )
        self._appended = np.empty(0, np.int32)
        self._grow(min(_FIRST_ROOM, most))

    def parts(self, passes: Sequence[Pass], links: Links, base: int, rows: int) -> Iterator[Found]:
        """All pairs of new tuples, whose positions start at `base`, each part before the next in the order of rows."""
        pending = [_Stretch(base, base + rows)]
        is_told = False
        while pending:
            stretch = pending.pop()
            found = self._found(passes, links, base, stretch)
            if found is None:
                if not is_told:
                    text = "%d rows find more than %d pairs of joins; they are taken in parts"
                    log.log(self._level, text, rows, self._most)
                    is_told = True
                pending.extend(reversed(stretch.halves(passes)))
            elif len(found):
                yield found

    def _found(self, passes: Sequence[Pass], links: Links, base: int, stretch: _Stretch) -> Found | None:
        """The pairs of a stretch; None if they are too many and could be fewer."""
        at = np.array([0, -1, 0, 0, 0], np.int64)
        for each in passes:
            at[0], at[1] = 0, -1
            while not self._run(each, links, base, stretch, at):
                wanted = int(at[2] + at[4])
                if wanted > self._most and stretch.halves(passes):
                    return None
                self._grow(max(wanted, min(2 * len(self._out[0]), self._most)))
        return Found(*(column[: int(at[2])] for column in self._out))

    def _run(self, each: Pass, links: Links, base: int, stretch: _Stretch, at: npt.NDArray[np.int64]) -> bool:
        link, index = each.link, each.stored.index
        if index is not None and not link.free_stored and not link.free_probing:
            return self._run_by_role(each, index, links, base, stretch, at)
        links.next_mark(len(each.probing))
        fixed = len(link.both_free)
        if len(self._appended) < fixed + each.probing.longest:
            self._appended = np.empty(2 * (fixed + each.probing.longest), np.int32)
        self._appended[:fixed] = link.both_free
        is_partner_narrowed = stretch.partner_first > 0 or stretch.partner_last < _AFTER_ALL
        at[3] = links.mark
        done: bool = probe(
            *each.probing.tuples.columns,
            *each.stored.arrays,
            *links.columns,
            link.number,
            link.low,
            link.high,
            *link.inner,
            link.latest,
            link.free_probing,
            link.free_stored,
            FACTOR,
            each.stored.shift,
            stretch.first,
            stretch.last,
            stretch.partner_first,
            stretch.partner_last,
            is_partner_narrowed or each.is_same,
            each.is_same,
            base,
            fixed,
            self._appended,
            *self._out,
            at,
        )
        links.mark = int(at[3])
        return done

    def _run_by_role(
        self,
        each: Pass,
        index: RoleIndex,
        links: Links,
        base: int,
        stretch: _Stretch,
        at: npt.NDArray[np.int64],
    ) -> bool:
        partner, low, high, side, _, link, arrived, _ = links.columns
        done: bool = probe_by_role(
            *each.probing.tuples.columns,
            *each.stored.tuples.columns[:3],
            *index.arrays,
            partner,
            low,
            high,
            side,
            link,
            arrived,
            each.link.number,
            FACTOR,
            index.shift,
            stretch.first,
            stretch.last,
            stretch.partner_first,
            stretch.partner_last,
            each.is_same,
            base,
            *self._out,
            at,
        )
        return done

    def _grow(self, room: int) -> None:
        grown = tuple(np.empty(room, column.dtype) for column in self._out)
        for new, old in zip(grown, self._out, strict=True):
            new[: len(old)] = old
        self._out = grown


def passes_of(
    links: Sequence[Link],
    new: dict[int, Segment],
    stored: Sequence[Sequence[Segment]],
) -> list[Pass]:
    """What new tuples, a segment for each SteM of their stream, are to be probed against; `stored` by SteM."""
    found = []
    for link in links:
        probing = new.get(link.probing)
        if probing is not None:
            low, high = probing.times[0] + link.low, probing.times[1] + link.high
            others = [(segment, False) for segment in stored[link.stored]]
            if link.stored in new:
                others.append((new[link.stored], True))
            for segment, is_same in others:
                if segment.times[0] <= high and segment.times[1] >= low:
                    found.append(Pass(link, probing, segment, is_same))
    return found
