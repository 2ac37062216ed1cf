"""Numbers as blocks of characters: a line over time, bars beside names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Final

_BAR: Final = 12


def chart(counts: Sequence[float], width: int) -> str:
    """Counts as a line of blocks, each the mean of its part of them.

    >>> chart([0, 1, 3, 100, 100], 3)
    ' ▁█'
    """
    ends = [len(counts) * place // width for place in range(width + 1)] if len(counts) > width else []
    parts = [counts[a:b] for a, b in pairwise(ends)] or [[count] for count in counts]
    means = [sum(part) / len(part) for part in parts]
    most = max(means, default=0) or 1
    return "".join(" ▁▂▃▄▅▆▇█"[ceil(8 * mean / most)] for mean in means)


def bar(value: float, most: float, width: int = _BAR) -> str:
    """A bar of blocks, to an eighth of a character.

    >>> bar(3, 4, 4), bar(1, 16, 4), bar(0, 4, 4)
    ('███', '▎', '')
    """
    eighths = round(8 * width * value / most) if most else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + ("" if rest == 0 else "▏▎▍▌▋▊▉"[rest - 1])


def bars(counts: Sequence[tuple[str, int]], width: int = _BAR) -> list[tuple[str, str, str]]:
    """Names, numbers and bars, for a table."""
    most = max((count for _, count in counts), default=0)
    return [(name, f"{count:,}", bar(count, most, width)) for name, count in counts]
