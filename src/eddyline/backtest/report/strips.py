"""The part of the page that shows when queries fire: a strip of heat for each."""

from __future__ import annotations

from typing import Final

from eddyline.backtest.report import charts
from eddyline.backtest.report.frame import anchors, link
from eddyline.backtest.values import Backtest, Track
from eddyline.pages.markup import Markup, tag
from eddyline.pages.numbers import counted
from eddyline.pages.parts import left_out, section

STRIPS: Final = 400  # queries that are shown
_ROOMY, _TIGHT = 40, 120  # strips up to which they stand at ease, and up to which they have names


def strips(found: Backtest) -> list[Markup]:
    """For every stream that a query reads, and for streams that are joined, its queries over time: the darker, the more."""
    read = {query.stream for query in found.queries}
    return [_strips(found, track) for track in found.tracks if track.rows and track.stream in read]


def _strips(found: Backtest, track: Track) -> Markup:
    queries = sorted((q for q in found.queries if q.stream == track.stream), key=lambda q: -q.matches)
    shown, names = queries[:STRIPS], anchors(found)
    most = charts.most_in_strips([query.counts for query in shown])
    lines: list[Markup] = [
        tag("div", "rows", class_="id soft"),
        tag("div", charts.bars(track.rows_over, f"{counted(track.rows, 'row')}", "bars rows")),
        tag("div", f"{track.rows:,}", class_="number soft"),
    ]
    for query in shown:
        label = f"{query.id}: {counted(query.matches, 'match', 'matches')}"
        lines += [
            tag("div", link(query.id, names), class_="id", title=query.id),
            tag("div", charts.heat(query.counts, most, label), class_="strip"),
            tag("div", f"{query.matches:,}", class_="number"),
        ]
    lines += [tag("div"), ends(track), tag("div")]
    over = "over the rows" if track.scale.kind == "row" else f'over the column "{track.scale.column}"'
    note = f"Matches {over}, {_step(track)} a bucket; shades grow with the logarithm."
    if track.scale.kind == "row":
        note += " --time COLUMN shows them over time."
    if track.off_axis:
        note += f" {counted(track.off_axis, 'row')} without a time {'is' if track.off_axis == 1 else 'are'} left out here."
    crowd = "" if len(shown) <= _ROOMY else " many" if len(shown) <= _TIGHT else " dense"
    grid = tag("div", *lines, class_=f"strips{crowd}")
    title = "When they fire" + (f": {track.stream}" if len(found.tracks) > 1 else "")
    fewer = left_out(len(queries), STRIPS, "queries, those with most matches")
    return section(
        title,
        tag("p", note, class_="note"),
        tag("div", grid, _legend(most), class_="card"),
        fewer,
        card=False,
    )


def ends(track: Track) -> Markup:
    """What stands below a chart: the places of its start, middle and end."""
    labels = track.scale.labels
    middle = labels[len(labels) // 2] if len(labels) > 4 else ""
    return tag("div", *(tag("span", label) for label in (labels[0], middle, labels[-1])), class_="ends")


def _step(track: Track) -> str:
    return f"{track.scale.step} rows" if track.scale.kind == "row" else track.scale.step


def _legend(most: int) -> Markup:
    shades = [tag("path", d=f"M{place} 0h1v1h-1z", class_=f"h{place + 1}") for place in range(charts.LEVELS)]
    box = {"viewBox": f"0 0 {charts.LEVELS} 1", "preserveAspectRatio": "none", "aria_hidden": "true"}
    return tag("div", "1", tag("svg", *shades, **box), f"{most:,} a column", class_="legend")
