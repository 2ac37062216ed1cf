"""Characters that a pattern never tells apart, as numbered classes: engines work on these numbers.

[a-c]x*     classes   0 everything else   1 a-c   2 x
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from eddyline.functions.java_regex.sets import CharacterSet


@dataclass(frozen=True, slots=True)
class Classes:
    """`starts` cuts the code points into intervals, the first from 0; `numbers` has the class of each interval.

    Invariant: starts ascend, from 0 on. Invariant: no set of the pattern holds only a part of a class.

    >>> classes = classes_of([CharacterSet.of("a-c"), CharacterSet.of("x")])
    >>> classes.count, classes.of(CharacterSet.of("a-cx"))
    (3, frozenset({1, 2}))
    """

    starts: tuple[int, ...]
    numbers: tuple[int, ...]
    count: int

    def of(self, choices: CharacterSet) -> frozenset[int]:
        """The classes of a set of the pattern."""
        found: set[int] = set()
        for low, high in choices.ranges:
            first, last = bisect_right(self.starts, low) - 1, bisect_right(self.starts, high)
            found.update(self.numbers[first:last])
        return frozenset(found)

    def at(self, point: int) -> int:
        """The class of a code point."""
        return self.numbers[bisect_right(self.starts, point) - 1]

    def table(self) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32], npt.NDArray[np.uint16]]:
        """The classes of ASCII by code, then starts and classes of all intervals."""
        starts, numbers = np.array(self.starts, np.int32), np.array(self.numbers, np.uint16)
        return numbers[np.searchsorted(starts, np.arange(128), side="right") - 1], starts, numbers


@lru_cache(maxsize=1 << 10)
def _split(sets: frozenset[CharacterSet]) -> Classes:
    cuts = sorted({0, *(cut for each in sets for low, high in each.ranges for cut in (low, high + 1))})
    members: dict[int, list[int]] = {cut: [] for cut in cuts}
    for number, each in enumerate(sorted(sets, key=lambda each: each.ranges)):
        for low, high in each.ranges:
            for place in range(bisect_right(cuts, low) - 1, bisect_right(cuts, high)):
                members[cuts[place]].append(number)
    known: dict[tuple[int, ...], int] = {}
    numbers = tuple(known.setdefault(tuple(members[cut]), len(known)) for cut in cuts)
    return Classes(tuple(cuts), numbers, len(known))


def classes_of(sets: Iterable[CharacterSet]) -> Classes:
    """The coarsest classes that the sets are made of."""
    return _split(frozenset(sets))
