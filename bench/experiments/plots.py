"""Pictures: lines and bars with the paper's expected shape and our verdict below them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.experiments.result import Result, Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Final = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777", "#000000")
MARKS: Final = "osD^vPX*"
WIDTH: Final = 8.0
LETTERS: Final = 126  # of the small text below, in a line


def picture(panels: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty picture with panels beside each other."""
    return grid(1, panels)


def grid(rows: int, columns: int) -> tuple[Figure, list[Axes]]:
    """An empty picture with panels in rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 1.0 + 2.5 * rows), dpi=100)
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def lines(
    axes: Axes,
    result: Result,
    names: Sequence[str],
    by: str,
    of: str,
    *,
    marks: bool = True,
    dashed: Sequence[str] = (),
    dotted: Sequence[str] = (),
) -> None:
    """One line for each series, through the means of what was measured several times, with bars from the least to the most.

    Dashed lines are references: thin and in front, so that they hide nothing. Dotted ones are the other half of the series
    before them and have its colour.
    """
    place = -1
    for name in names:
        place += name not in dotted
        found = result.series(name, by, of)
        style: dict[str, Any] = {"color": COLOURS[place], "linewidth": 1.6, "zorder": 2}
        if marks:
            style |= {"marker": MARKS[place], "markersize": 5}
        if name in dotted:
            style |= {"linestyle": (0, (1, 1.2))}
        if name in dashed:
            style |= {"linestyle": (0, (4, 2)), "linewidth": 1.1, "zorder": 3, "color": "#000000"}
        axes.plot(list(found), [each.mean for each in found.values()], label=name, **style)
        ranges = {at: each for at, each in found.items() if each.least < each.most}
        if ranges:
            axes.errorbar(
                list(ranges),
                [each.mean for each in ranges.values()],
                _whiskers(list(ranges.values())),
                fmt="none",
                ecolor=style["color"],
                elinewidth=0.8,
                capsize=2.5,
                alpha=0.7,
            )
    axes.set_xlabel(by)
    axes.set_ylabel(of)
    axes.grid(alpha=0.3)


def bars(
    axes: Axes, groups: Sequence[str], series: Mapping[str, Sequence[float | Spread]], label: str
) -> None:
    """A group of bars for each group, the value above each bar; spreads get a line from the least to the most."""
    width = 0.84 / len(series)
    highest = 0.0
    for place, (name, values) in enumerate(series.items()):
        found = [value if isinstance(value, Spread) else Spread(value, value, value) for value in values]
        at = [i + (place - (len(series) - 1) / 2) * width for i in range(len(groups))]
        lines_of = {"elinewidth": 0.9, "capsize": 1.5, "ecolor": "#333333"}
        ranged = any(each.least < each.most for each in found)
        errors = {"yerr": _whiskers(found), "error_kw": lines_of} if ranged else {}
        axes.bar(at, [each.mean for each in found], width * 0.92, label=name, color=COLOURS[place], **errors)
        for x, each in zip(at, found, strict=True):
            above = {"xytext": (0, 2), "textcoords": "offset points"}
            axes.annotate(
                f"{each.mean:.2f}",
                (x, each.most),
                ha="center",
                va="bottom",
                fontsize=6.5,
                rotation=90,
                **above,
            )
        highest = max(highest, *[each.most for each in found])
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylabel(label)
    axes.set_ylim(0, 1.17 * highest)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)


def _whiskers(found: Sequence[Spread]) -> list[list[float]]:
    """How far down and up from the means."""
    return [[each.mean - each.least for each in found], [each.most - each.mean for each in found]]


def save(result: Result, figure: Figure, path: Path) -> None:
    """The title above, the expected shape and the verdict below."""
    verdict = f"{result.question}: {'yes' if result.as_in_the_paper else 'no'}."
    failed = [f"{claim.text} ({claim.measured})" for claim in result.claims if not claim.holds]
    if failed:
        verdict += " Does not hold: " + "; ".join(failed)
    text = [*textwrap.wrap(f"Expected: {result.expected}", LETTERS), *textwrap.wrap(verdict, LETTERS)]
    below = 0.12 + 0.14 * len(text)
    height = figure.get_figheight() + below
    figure.set_figheight(height)
    figure.suptitle(result.title, fontsize=10.5, y=1 - 0.06 / height, va="top").set_in_layout(False)
    figure.text(0.02, 0.08 / height, "\n".join(text), fontsize=8, va="bottom", ha="left", linespacing=1.25)
    for _ in range(2):  # the first time changes heights, and with them the numbers at the axes
        figure.tight_layout(pad=0.5, rect=(0, below / height, 1, 1 - 0.25 / height))
    path.parent.mkdir(parents=True, exist_ok=True)
    from PIL import Image

    drawn = BytesIO()
    figure.savefig(drawn, format="png")
    few = Image.open(drawn).convert("RGB").quantize(128, dither=Image.Dither.NONE)  # half of the bytes
    few.save(path, optimize=True)
