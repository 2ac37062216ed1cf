"""Sets of values of one subject: intervals, points, NULL and NaN, cut out of an ordered domain.

    value < 3 OR value = 7                        inside outside  {7}  outside
    starts inside, cuts 3-  7-  7+        -inf ───────┤ 3 ├────────┤7├──────── +inf

A *cut* is a place between values: `(value, 0)` lies just below the value, `(value, 1)` just above it. Cuts ascend
strictly and membership flips at each, so union, intersection and complement are one sweep over cuts.

A set knows nothing of its type. Which of several spellings of one set is *the* spelling (`a > 3` and `a >= 4` on an
int, NaN on a type that has none) is said by `normalize/domain.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Cut = tuple[Any, int]


@dataclass(frozen=True, slots=True)
class Regions:
    """An immutable set of values.

    Invariant: cuts ascend strictly. `inside` says whether the values below the first cut belong to the set; `null` and
    `nan` whether NULL and NaN do. NaN has no place among the cuts; -0.0 and 0.0 are one value.

    >>> low = Regions.below(3, closed=False)
    >>> print(low | Regions.points([7]))
    (-inf, 3) or {7}
    >>> print(~low, "|", 3 in ~low, None in ~low)
    [3, +inf) or NULL or NaN | True True
    """

    inside: bool = False
    cuts: tuple[Cut, ...] = ()
    null: bool = False
    nan: bool = False
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.inside, self.cuts, self.null, self.nan)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle without the hash: hashes of strings differ between processes."""
        return Regions, (self.inside, self.cuts, self.null, self.nan)

    @staticmethod
    def points(values: Iterable[Any], *, null: bool = False, nan: bool = False) -> Regions:
        """Exactly these values (without NULL and NaN, which have flags)."""
        cuts = tuple([cut for value in sorted(set(values)) for cut in ((value, 0), (value, 1))])
        return Regions(False, cuts, null, nan)

    @staticmethod
    def below(value: Any, *, closed: bool, nan: bool = False) -> Regions:
        """Everything less than `value`, and `value` itself if closed."""
        return Regions(True, ((value, int(closed)),), nan=nan)

    @staticmethod
    def above(value: Any, *, closed: bool, nan: bool = False) -> Regions:
        """Everything greater than `value`, and `value` itself if closed."""
        return Regions(False, ((value, 1 - int(closed)),), nan=nan)

    @staticmethod
    def union(sets: Sequence[Regions]) -> Regions:
        """What belongs to any of the sets; one sort however many there are.

        >>> print(Regions.union([Regions.points([n]) for n in (3, 1, 2)]))
        {1} or {2} or {3}
        """
        return _at_least(1, sets)

    @staticmethod
    def intersection(sets: Sequence[Regions]) -> Regions:
        """What belongs to all of the sets.

        >>> print(Regions.intersection([Regions.above(3, closed=True), Regions.below(9, closed=False)]))
        [3, 9)
        """
        return _at_least(len(sets), sets)

    def __invert__(self) -> Regions:
        return Regions(not self.inside, self.cuts, not self.null, not self.nan)

    def __and__(self, other: Regions) -> Regions:
        return _at_least(2, (self, other))

    def __or__(self, other: Regions) -> Regions:
        return _at_least(1, (self, other))

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.null
        if value != value:
            return self.nan
        return self.inside ^ (bisect_right(self.cuts, (value, 0)) & 1 == 1)

    @property
    def is_empty(self) -> bool:
        """Whether no value at all belongs to the set."""
        return not (self.inside or self.cuts or self.null or self.nan)

    @property
    def constants(self) -> tuple[Any, ...]:
        """The distinct values at which the set is cut, ascending."""
        return tuple(dict.fromkeys([value for value, _ in self.cuts]))

    def intervals(self) -> list[tuple[Cut | None, Cut | None]]:
        """The pieces in order, as (lower cut, upper cut); None is infinite."""
        ends: list[Cut | None] = list(self.cuts)
        if self.inside:
            ends.insert(0, None)
        if len(ends) % 2:
            ends.append(None)
        return list(zip(ends[0::2], ends[1::2], strict=True))

    def __str__(self) -> str:
        parts = [_describe(lower, upper) for lower, upper in self.intervals()]
        parts += ["NULL"] * self.null + ["NaN"] * self.nan
        return " or ".join(parts) if parts else "nothing"


EVERYTHING = Regions(True, (), null=True, nan=True)
NOTHING = Regions()


def _describe(lower: Cut | None, upper: Cut | None) -> str:
    if lower is not None and upper is not None and lower[0] == upper[0]:
        return f"{{{lower[0]!r}}}"
    left = "(-inf" if lower is None else f"{'(' if lower[1] else '['}{lower[0]!r}"
    right = "+inf)" if upper is None else f"{upper[0]!r}{']' if upper[1] else ')'}"
    return f"{left}, {right}"


def _at_least(needed: int, sets: Sequence[Regions]) -> Regions:
    """What belongs to `needed` of the sets: walk over all cuts in order, counting the sets that a place lies in."""
    changes: list[tuple[Cut, int]] = []
    count = nulls = nans = 0
    for regions in sets:
        count += regions.inside
        nulls += regions.null
        nans += regions.nan
        change = -1 if regions.inside else 1
        for cut in regions.cuts:
            changes.append((cut, change))
            change = -change
    changes.sort()
    start = current = count >= needed
    cuts: list[Cut] = []
    for cut, change in changes:
        count += change
        if (count >= needed) != current:
            current = not current
            if cuts and cuts[-1] == cut:  # two sets change at one place: only the sum of their changes counts
                cuts.pop()
            else:
                cuts.append(cut)
    return Regions(start, tuple(cuts), nulls >= needed, nans >= needed)
