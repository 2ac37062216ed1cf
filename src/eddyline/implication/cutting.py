"""The values of one subject, cut at every constant that a problem has for it, so that a set of values is a bit mask.

    cuts            3-    3+        7-
    pieces   (-inf,3) | {3} | (3,7)  |  [7,+inf)       NULL   NaN
    bits        0        1      2          3            4      5

Only pieces that hold a value count (between 3 and 4 there is no int), so a mask without bits is an empty set, and two
masks are equal exactly if their sets are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from eddyline.model.expression import Expression
from eddyline.model.regions import Cut, Regions
from eddyline.normalize.domain import domain_of

MOST_KEPT: Final = 1 << 14  # a rule with patterns has hundreds of subjects, which meet again in every pair


class Cutting:
    """The pieces of one subject's values.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.types import INT
    >>> some = Regions.above(3, closed=False)
    >>> cutting = Cutting(Column("a", INT), [some, Regions.points([4])])
    >>> print(bin(cutting.mask(some)), cutting.regions(cutting.mask(some)))
    0b1100 [4, +inf)
    """

    __slots__ = ("_below", "_cuts", "_nan", "_null", "full", "subject")

    def __init__(self, subject: Expression, sets: Iterable[Regions]) -> None:
        self.subject = subject
        self._cuts = sorted({cut for regions in sets for cut in regions.cuts})
        count = len(self._cuts)
        self._below = {cut: i + 1 for i, cut in enumerate(self._cuts)}  # how many pieces lie below a cut
        domain = domain_of(subject.type)
        self._null = 2 << count
        self._nan = 4 << count if domain.nan else 0
        edges: list[Cut | None] = [None, *self._cuts, None]
        full = self._null | self._nan
        for i in range(count + 1):
            if domain.has_value(edges[i], edges[i + 1]):
                full |= 1 << i
        self.full = full  # all pieces that hold a value

    def mask(self, regions: Regions) -> int:
        """The pieces that belong to one of the sets that the subject was cut for."""
        below = self._below
        mask = 0
        if regions.inside:
            mask = (2 << len(self._cuts)) - 1
        for (
            cut
        ) in regions.cuts:  # membership flips at a cut: what lies below it stays, what lies above changes
            mask ^= -1 << below[cut]
        mask &= self._null - 1
        if regions.null:
            mask |= self._null
        if regions.nan:
            mask |= self._nan
        return mask & self.full

    def value(self, mask: int) -> Any:
        """A value of the first piece in a mask, else NaN, else NULL."""
        plain = mask & (self._null - 1)
        if not plain:
            return math.nan if mask & self._nan else None
        first = (plain & -plain).bit_length() - 1
        lower = self._cuts[first - 1] if first else None
        upper = self._cuts[first] if first < len(self._cuts) else None
        return domain_of(self.subject.type).value_between(lower, upper)

    def regions(self, mask: int) -> Regions:
        """The set that a mask stands for."""
        cuts: list[Cut] = []
        inside = start = bool(mask & 1)
        for i, cut in enumerate(self._cuts):
            above = bool(mask >> (i + 1) & 1)
            if above != inside:
                cuts.append(cut)
                inside = above
        return domain_of(self.subject.type).canonical(
            Regions(start, tuple(cuts), bool(mask & self._null), bool(mask & self._nan))
        )


@lru_cache(maxsize=MOST_KEPT)
def cutting_of(subject: Expression, sets: tuple[Regions, ...]) -> Cutting:
    """The pieces of a subject's values for these sets, made once."""
    return Cutting(subject, sets)
