"""Pictures: lines and bars with the paper's expected shape and our verdict below them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.experiments.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Final = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777", "#000000")
MARKS: Final = "osD^vPX*"
WIDTH: Final = 8.0


def picture(panels: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty picture with panels beside each other."""
    return grid(1, panels)


def grid(rows: int, columns: int) -> tuple[Figure, list[Axes]]:
    """An empty picture with panels in rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 1.0 + 2.5 * rows), dpi=90)
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
) -> None:
    """One line for each series."""
    for place, name in enumerate(names):
        x, y = result.series(name, by, of)
        style: dict[str, Any] = {"marker": MARKS[place], "markersize": 5} if marks else {}
        if name in dashed:
            style["linestyle"] = "--"
        axes.plot(x, y, label=name, color=COLOURS[place], linewidth=1.6, **style)
    axes.set_xlabel(by)
    axes.set_ylabel(of)
    axes.grid(alpha=0.3)


def bars(axes: Axes, groups: Sequence[str], series: dict[str, Sequence[float]], label: str) -> None:
    """A group of bars for each group, the value above each bar."""
    width = 0.84 / len(series)
    for place, (name, values) in enumerate(series.items()):
        at = [i + (place - (len(series) - 1) / 2) * width for i in range(len(groups))]
        axes.bar(at, values, width * 0.92, label=name, color=COLOURS[place])
        for x, value in zip(at, values, strict=True):
            axes.text(x, value, f"{value:.2f}", ha="center", va="bottom", fontsize=6.5, rotation=90)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylabel(label)
    axes.set_ylim(0, 1.15 * max(max(values) for values in series.values()))
    axes.grid(axis="y", alpha=0.3)


def save(result: Result, figure: Figure, path: Path) -> None:
    """The title above, the expected shape and the verdict below."""
    verdict = f"{result.question}: {'yes' if result.as_in_the_paper else 'no'}."
    failed = [f"{claim.text} ({claim.measured})" for claim in result.claims if not claim.holds]
    if failed:
        verdict += " Does not hold: " + "; ".join(failed)
    text = [*textwrap.wrap(f"Expected: {result.expected}", 128), *textwrap.wrap(verdict, 128)]
    below = 0.12 + 0.14 * len(text)
    height = figure.get_figheight() + below
    figure.set_figheight(height)
    figure.suptitle(result.title, fontsize=11, y=1 - 0.06 / height, va="top").set_in_layout(False)
    figure.text(0.02, 0.08 / height, "\n".join(text), fontsize=8, va="bottom", ha="left", linespacing=1.25)
    figure.tight_layout(pad=0.5, rect=(0, below / height, 1, 1 - 0.25 / height))
    path.parent.mkdir(parents=True, exist_ok=True)
    from PIL import Image

    drawn = BytesIO()
    figure.savefig(drawn, format="png")
    few = Image.open(drawn).convert("RGB").quantize(48)  # a third of the bytes; nobody sees the difference
    few.save(path, optimize=True)
