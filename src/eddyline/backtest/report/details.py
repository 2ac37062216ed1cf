"""The part of the page about one query: its text, its counts, and rows that it matched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from eddyline.backtest.report import charts
from eddyline.backtest.report.frame import listed
from eddyline.backtest.report.markup import Markup, join, tag
from eddyline.backtest.report.numbers import counted, percent
from eddyline.backtest.report.strips import ends
from eddyline.backtest.values import Backtest, QueryResult, Row, Track

_OPEN: Final = 3  # parts that are open at first


def details(found: Backtest) -> Markup | None:
    """All queries one by one."""
    if not found.queries:
        return None
    tracks = {track.stream: track for track in found.streams}
    parts = [
        _details(query, tracks[query.stream], f"q{number}", is_open=number < _OPEN)
        for number, query in enumerate(listed(found))
    ]
    return tag("section", tag("h2", "One by one"), *parts, id="one-by-one")


def _details(query: QueryResult, track: Track, name: str, *, is_open: bool) -> Markup:
    share = f"{counted(query.matches, 'match', 'matches')}, {percent(query.matches, query.rows)} of the rows"
    summary = tag("summary", tag("span", query.id, class_="id"), tag("span", share, class_="right"))
    inside = join(tag("pre", query.sql), _chart(query, track), _rows(query))
    return tag("details", summary, tag("div", inside, class_="inside"), id=name, open=is_open)


def _chart(query: QueryResult, track: Track) -> Markup | None:
    if not query.matches or not query.counts:
        return None
    step = f"{track.scale.step} rows" if track.scale.kind == "row" else track.scale.step
    title = f"Matches in {step}, at most {max(query.counts):,}"
    return join(tag("h3", title), charts.bars(query.counts, title), ends(track))


def _rows(query: QueryResult) -> Markup | None:
    if query.first is None or query.last is None:
        return None
    rows = [("first", query.first), *(("sample", row) for row in query.samples), ("last", query.last)]
    names = list(query.first.values)
    heads = [tag("th", name) for name in ("", *names, "at")]
    lines = [_line(kind, row, names) for kind, row in rows]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *lines), class_="rows-table")
    return join(tag("h3", "Rows that match"), tag("div", table, class_="scroll"))


def _line(kind: str, row: Row, names: Sequence[str]) -> Markup:
    cells = [tag("td", _shown(row.values[name])) for name in names]
    return tag(
        "tr", tag("td", kind, class_="soft"), *cells, tag("td", f"{row.file}:{row.number}", class_="soft")
    )


def _shown(value: Any) -> str:
    return "NULL" if value is None else str(value)
