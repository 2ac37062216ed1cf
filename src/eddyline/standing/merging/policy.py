"""Which segments become one, so that there are few of them and each query moves seldom.

    level    0        1          2            3
    size     < 16     < 256      < 4,096      < 65,536 ...       one segment per level, except while a merge is under way

A new query goes into the youngest segment while that is small (`open`). The others are merged with those that are not of
a higher level, again and again as the sum grows; so a query is compiled at most about 16 times on each level, and there
are log k levels. A segment that is more dead than alive is compiled anew.

Who adds to a plain set merges what is due there and then; beside an engine a thread does it (`merger.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eddyline.execute.placed import Placed

# A change takes in the youngest segment while it stays below this size: 16 queries are built in 1.5 ms.
OPEN: Final = 16
FAN: Final = 16
# The share of queries outside the largest segment, or dead, from which on tidying up pays.
UNTIDY: Final = 0.05


def open_segment(segments: Sequence[Placed], coming: int, largest: int | None = None) -> Placed | None:
    """The segment that so many new queries are compiled together with, of those of their stream, given by age."""
    if not segments:
        return None
    youngest = segments[-1]
    too_large = largest is not None and youngest.size > largest
    return None if too_large or youngest.alive + coming > OPEN else youngest


def due(segments: Sequence[Placed], largest: int | None = None) -> tuple[Placed, ...]:
    """The segments of a stream to merge next; none if there is nothing to gain.

    Segments of more than `largest` queries are left as they are.
    """
    closed = list(segments[:-1])
    closed += [placed for placed in segments[-1:] if placed.size >= OPEN]
    if largest is not None:
        closed = [placed for placed in closed if placed.size <= largest]
    closed.sort(key=lambda placed: placed.size)
    for start, placed in enumerate(closed):
        chosen, total = [placed], placed.alive
        for other in closed[start + 1 :]:
            if level(other.size) > level(total):
                break
            chosen.append(other)
            total += other.alive
        if len(chosen) > 1 or 2 * placed.dead > placed.size:
            return tuple(chosen)
    return ()


def untidy(segments: Sequence[Placed]) -> tuple[Placed, ...]:
    """All segments of a stream, if merging them makes batches quicker by more than a little.

    That may compile everything again, so it is for moments of rest, and a few changes of many queries do not pay it.
    """
    total = sum(placed.size for placed in segments)
    settled = max((placed.alive for placed in segments), default=0)
    return tuple(segments) if total - settled > UNTIDY * total else ()


def level(size: int) -> int:
    """On which level a segment of a size stands.

    >>> [level(size) for size in (1, 15, 16, 255, 256, 5_000)]
    [0, 0, 1, 1, 2, 3]
    """
    found = 0
    while size >= OPEN * FAN**found:
        found += 1
    return found
