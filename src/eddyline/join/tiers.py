"""Which pieces of a growing row of pieces are merged: small ones often, large ones rarely, so that there are few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

FAN: Final = 4  # pieces of one size that become one
MOST: Final = 16  # pieces; a probe that finds nothing costs as much as there are
_SMALLEST: Final = 1024  # rows that a piece may have before its size counts


def level(rows: int) -> int:
    """The tier of a piece.

    >>> [level(rows) for rows in (1, 1024, 1025, 4096, 5000)]
    [0, 0, 1, 1, 2]
    """
    found, most = 0, _SMALLEST
    while rows > most:
        found, most = found + 1, most * FAN
    return found


def newest_run(rows: Sequence[int]) -> int:
    """How many of the newest pieces are to be merged, 0 if none are: FAN or more that are not larger than the newest.

    >>> newest_run([5000, 1, 1, 1]), newest_run([5000, 1, 1, 1, 1]), newest_run([1, 1, 1, 5000])
    (0, 4, 4)
    """
    run = 0
    while run < len(rows) and level(rows[-1 - run]) <= level(rows[-1]):
        run += 1
    return run if run >= FAN else 0


def cheapest_run(rows: Sequence[int]) -> int:
    """Where the FAN neighbours start that have the fewest rows.

    >>> cheapest_run([9, 9, 1, 1, 1, 1, 9])
    2
    """
    return min(range(len(rows) - FAN + 1), key=lambda first: sum(rows[first : first + FAN]))
