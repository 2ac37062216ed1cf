"""The part of the page about one query: its text, its counts, and rows, or pairs of rows, that it matched."""

from __future__ import annotations

from typing import Any, Final

from eddyline.backtest.report import charts
from eddyline.backtest.report.frame import listed
from eddyline.backtest.report.strips import ends
from eddyline.backtest.values import Backtest, Pair, QueryResult, Row, Track
from eddyline.pages.markup import Markup, join, tag
from eddyline.pages.numbers import counted, percent

_OPEN: Final = 3  # parts that are open at first


def details(found: Backtest) -> Markup | None:
    """All queries one by one."""
    if not found.queries:
        return None
    tracks = {track.stream: track for track in found.tracks}
    parts = [
        _details(query, tracks[query.stream], f"q{number}", is_open=number < _OPEN)
        for number, query in enumerate(listed(found))
    ]
    return tag("section", tag("h2", "One by one"), *parts, id="one-by-one")


def _details(query: QueryResult, track: Track, name: str, *, is_open: bool) -> Markup:
    share = f"{counted(query.matches, 'match', 'matches')}, {percent(query.matches, query.rows)} of the rows"
    if query.is_join:
        share = f"{counted(query.matches, 'pair')} of {counted(query.rows, 'row')}"
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
    shown = [("first", query.first), *(("sample", row) for row in query.samples), ("last", query.last)]
    names = list(_values(query.first))
    heads = [tag("th", name) for name in ("", *names, "at")]
    lines = [_line(kind, row) for kind, row in shown]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *lines), class_="rows-table")
    title = "Pairs that match" if query.is_join else "Rows that match"
    return join(tag("h3", title), tag("div", table, class_="scroll"))


def _line(kind: str, row: Row | Pair) -> Markup:
    cells = [tag("td", _shown(value)) for value in _values(row).values()]
    rows = list(row.rows.values()) if isinstance(row, Pair) else [row]
    places = ", ".join(f"{each.file}:{each.number}" for each in rows)
    return tag("tr", tag("td", kind, class_="soft"), *cells, tag("td", places, class_="soft"))


def _values(row: Row | Pair) -> dict[str, Any]:
    """The values of a row by column, those of a pair by alias and column."""
    if isinstance(row, Row):
        return row.values
    return {
        f"{alias}.{name}": value for alias, each in row.rows.items() for name, value in each.values.items()
    }


def _shown(value: Any) -> str:
    return "NULL" if value is None else str(value)
