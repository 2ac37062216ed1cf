"""Charts as inline SVG: bars of one query's counts, and strips of heat, all in columns that stretch with the page."""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p
from typing import Final

from eddyline.pages.markup import Markup, join, tag

LEVELS: Final = 7  # shades of heat, beside none
_COLUMNS: Final = 128  # of a strip
_SPARK: Final = 64  # of a small chart in a table


def merged(counts: Sequence[int], columns: int) -> list[int]:
    """Neighbours added up, so that at most so many columns are left.

    >>> merged([1, 2, 3, 4, 5], 3)
    [3, 7, 5]
    """
    size = -(-len(counts) // columns) if counts else 1
    return [sum(counts[start : start + size]) for start in range(0, len(counts), size)]


def level(count: int, most: int) -> int:
    """The shade of a count, by its logarithm: 0 for none, then 1 to LEVELS.

    >>> level(0, 1000), level(1, 1000), level(1000, 1000)
    (0, 1, 7)
    """
    if not count:
        return 0
    return max(
        1,
        min(LEVELS, round(1 + (LEVELS - 1) * (log1p(count) - log1p(1)) / max(1e-9, log1p(most) - log1p(1)))),
    )


def heat(counts: Sequence[int], most: int, label: str) -> Markup:
    """One query's strip; `most` is the count that has the deepest shade in all strips."""
    columns = merged(counts, _COLUMNS)
    shades = [level(count, most) for count in columns]
    paths: dict[int, list[str]] = {}
    start = 0
    for end in range(1, len(shades) + 1):
        if end == len(shades) or shades[end] != shades[start]:
            if shades[start]:
                paths.setdefault(shades[start], []).append(f"M{start} 0h{end - start}v1h-{end - start}z")
            start = end
    drawn = [tag("path", d="".join(runs), class_=f"h{shade}") for shade, runs in sorted(paths.items())]
    return _picture(max(1, len(columns)), 1, label, *drawn, class_="heat")


def most_in_strips(all_counts: Sequence[Sequence[int]]) -> int:
    """The largest count of any column of any strip."""
    return max((max(merged(counts, _COLUMNS), default=0) for counts in all_counts), default=0)


def spark(counts: Sequence[int], label: str) -> Markup:
    """A small chart for a line of a table."""
    return _bars(merged(counts, _SPARK), label, "spark")


def bars(counts: Sequence[int], label: str, kind: str = "bars") -> Markup:
    """A chart of its own, one bar a bucket."""
    return _bars(list(counts), label, kind)


def _bars(counts: Sequence[int], label: str, kind: str) -> Markup:
    most = max(counts, default=0)
    drawn = []
    for place, count in enumerate(counts):
        if count:
            height = max(4.0, round(100 * count / most, 1))  # what is there is seen
            drawn.append(f"M{place} 100v-{height:g}h.86v{height:g}z")
    return _picture(max(1, len(counts)), 100, label, tag("path", d="".join(drawn)), class_=kind)


def _picture(width: int, height: int, label: str, *drawn: Markup, class_: str) -> Markup:
    box = f"0 0 {width} {height}"
    inside = join(tag("title", label), *drawn)
    attributes = {"viewBox": box, "preserveAspectRatio": "none", "role": "img", "class_": class_}
    return tag("svg", inside, **attributes, aria_label=label)


def share_bar(part: int, whole: int) -> Markup:
    """A bar that is filled as far as a part of a whole goes."""
    share = round(100 * part / whole, 2) if whole else 0
    filled = tag("rect", width=share, height=1, class_="part")
    return _picture(
        100, 1, f"{share:g}%", tag("rect", width=100, height=1, class_="whole"), filled, class_="share"
    )
