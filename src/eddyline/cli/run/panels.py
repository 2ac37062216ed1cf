"""The panels of a run: flow, times of a batch, busiest queries, sinks, versions, problems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from eddyline.cli.output.charts import bar, chart
from eddyline.cli.output.terminal import counted, shown
from eddyline.cli.run.course import Course
from eddyline.runtime.spark.watching.values import STAGES

NARROW: Final = 76  # columns below which panels stand one under the other
LEAST: Final = 3  # lines of a list, however small the screen is
MOST: Final = 10
_USED: Final = 15  # lines of a screen that head, figures, frames and footer take


def panels(
    name: str,
    course: Course,
    *,
    sinks: Mapping[str, str],
    footer: str,
    width: int,
    height: int,
    at: datetime,
) -> RenderableType:
    """Everything, for a screen of that size at that moment."""
    if not course.recent:
        waiting = Text("waiting for the first batch", style="dim")
        return Group(_head(name, course, at), waiting, *_told(course, at), _footer(footer))
    half = (width - 4) // 2 - 2 if width >= NARROW else width - 4
    several = len(course.totals.sources) > 1
    room = height - _USED - (len(course.totals.sources) + 3 if several else 0)
    problems = min(len(course.problems), LEAST)
    lines = max(LEAST, min(MOST, room - (problems + 2 if problems else 0))) if width >= NARROW else LEAST
    parts: list[RenderableType] = [
        _head(name, course, at),
        _beside(width, _panel("flow", flow(course, half)), _panel("time of a batch", times(course, half))),
    ]
    if several:
        parts.append(_panel("sources", sources(course)))
    right = [_panel("sinks", delivered(course, sinks))]
    left_over = lines - max(len(sinks), 1) - 2
    right.append(_panel("queries change", changes(course, at, max(LEAST - 1, left_over))))
    parts.append(_beside(width, _panel("busiest queries", busiest(course, half, lines)), Group(*right)))
    if problems:
        parts.append(_panel("problems", _problems(course, problems), style="red"))
    return Group(*parts, _footer(footer))


def _head(name: str, course: Course, at: datetime) -> Text:
    last = course.recent[-1] if course.recent else None
    head = Text.assemble((f" {shown(name)} ", "bold reverse"), no_wrap=True, overflow="ellipsis")
    if last is not None and course.version_since is not None:
        head.append(f"  {last.queries:,} queries")
        head.append(f"  version {course.version}", "bold green")
        head.append(
            f" since batch {course.version_since.batch_id}, {_ago(at, course.version_since.at)}"
            f"   last batch {_ago(at, last.at)}",
            "dim",
        )
    return head


def flow(course: Course, width: int) -> RenderableType:
    """Rows and matches since the start, and a second."""
    totals = course.totals
    rows, matched = totals.count("rows"), totals.count("matched_rows")
    dropped, files = totals.count("dropped_rows"), totals.count("dropped_files")
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_row("rows in", f"{rows:,}", f"{course.rows_per_second:,.0f}/s")
    table.add_row("matched", f"{matched:,}", f"{matched / max(rows, 1):.1%}")
    set_aside = Text(counted(files, "file", "files") if files else "", style="red")
    table.add_row("dropped", Text(f"{dropped:,}", style="red" if dropped else ""), set_aside)
    table.add_row("matches", f"{totals.count('matches'):,}", f"{course.matches_per_second:,.0f}/s")
    table.add_row("while busy", f"{course.rows_per_busy_second:,.0f}", "rows/s")
    over_time = chart([report.matches for report in course.recent], max(8, width - 10))
    return Group(table, Text.assemble(("matches  ", "dim"), (over_time, "cyan"), no_wrap=True))


def times(course: Course, width: int) -> RenderableType:
    """Where the time of a batch goes, and how long the last ones took."""
    usual = course.stage_seconds
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True)
    room = max(4, width - 22)
    for stage in STAGES:
        table.add_row(stage, duration(usual[stage]), bar(usual[stage], usual["total"], room))
    table.add_row("in all", duration(usual["total"]), Text(f"most {duration(max(course.latencies))}", "dim"))
    over_time = chart(course.latencies, max(8, width - 10))
    return Group(table, Text.assemble(("batches  ", "dim"), (over_time, "cyan"), no_wrap=True))


def sources(course: Course) -> Table:
    """One line a source."""
    table = Table.grid(padding=(0, 2))
    for name, right in (("source", False), ("batch", True), ("rows", True), ("matches", True), ("", True)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    for name, one in course.totals.sources.items():
        table.add_row(
            Text(shown(name)),
            Text(f"batch {one.last.batch_id}", "dim"),
            f"{one.rows:,} rows",
            f"{one.matches:,} matches",
            Text(duration(one.last.total), "dim"),
        )
    return table


def busiest(course: Course, width: int, lines: int) -> RenderableType:
    """The queries with the most matches of this run."""
    counts = course.totals.queries
    order = course.totals.busiest(lines)
    if not order:
        return Text("no match yet", style="dim")
    digits = len(f"{counts[order[0]]:,}")
    longest = min(max(len(shown(id)) for id in order), max(12, width - digits - 10))
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, overflow="ellipsis", width=longest)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True)
    room = max(4, width - longest - digits - 4)
    for id in order:
        table.add_row(Text(shown(id)), f"{counts[id]:,}", bar(counts[id], counts[order[0]], room))
    return table


def delivered(course: Course, sinks: Mapping[str, str]) -> RenderableType:
    """Every sink, how many rows it took, what it promises."""
    counts = course.totals.delivered
    names = {**sinks, **{name: sinks.get(name, "") for name in counts}}
    if not names:
        return Text("none", style="dim")
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(style="dim", no_wrap=True, overflow="ellipsis")
    for name, guarantee in names.items():
        table.add_row(Text(shown(name)), f"{counts.get(name, 0):,}", guarantee)
    return table


def changes(course: Course, at: datetime, lines: int) -> RenderableType:
    """What happened to the queries, the newest last."""
    shown_changes = list(course.changes)[-lines:]
    versions = ["" if change.version is None else f"v{change.version}" for change in shown_changes]
    ages = [_ago(at, change.at, short=True) for change in shown_changes]
    return _lines(
        Text.assemble(
            (version.ljust(max(map(len, versions)) + 1), "green"),
            (age.rjust(max(map(len, ages))) + " ", "dim"),
            shown(change.text).replace("\n", " "),
        )
        for version, age, change in zip(versions, ages, shown_changes, strict=True)
    )


def _told(course: Course, at: datetime) -> list[Text]:
    """The last that was told, in full: while no batch comes to its end that is why."""
    return [
        Text.assemble((f"{_ago(at, change.at, short=True)} ", "dim"), shown(change.text))
        for change in list(course.changes)[-LEAST:]
    ]


def _problems(course: Course, lines: int) -> RenderableType:
    return _lines(
        Text.assemble((f"{at:%H:%M:%S} ", "dim"), shown(problem).replace("\n", " "))
        for at, problem in list(course.problems)[-lines:]
    )


def _lines(texts: Iterable[Text]) -> RenderableType:
    """Lines that end where the panel ends."""
    table = Table.grid()
    table.add_column(no_wrap=True, overflow="ellipsis")
    for text in texts:
        table.add_row(text)
    return table


def duration(seconds: float) -> str:
    """A time in two or three digits.

    >>> [duration(seconds) for seconds in (0.0004, 0.0123, 0.64, 1.23, 75)]
    ['0 ms', '12 ms', '640 ms', '1.2 s', '75 s']
    """
    if seconds < 1:
        return f"{1_000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _ago(now: datetime, then: datetime, *, short: bool = False) -> str:
    seconds = max(0, round((now - then).total_seconds()))
    text = (
        f"{seconds} s"
        if seconds < 120
        else f"{seconds // 60} min"
        if seconds < 7_200
        else f"{seconds // 3600} h"
    )
    return text if short else f"{text} ago"


def _footer(text: str) -> Text:
    return Text(shown(text), style="dim", no_wrap=True, overflow="ellipsis")


def _beside(width: int, left: RenderableType, right: RenderableType) -> RenderableType:
    if width < NARROW:
        return Group(left, right)
    grid = Table.grid(expand=True)
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    grid.add_row(left, right)
    return grid


def _panel(title: str, content: RenderableType, *, style: str = "dim") -> Panel:
    return Panel(content, title=title, title_align="left", box=box.ROUNDED, border_style=style)
