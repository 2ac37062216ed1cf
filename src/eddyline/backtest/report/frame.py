"""What the parts of the page share: sections, tables, and which queries they go into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eddyline.backtest.report.markup import Markup, join, tag
from eddyline.backtest.values import Backtest, FiringVerdict, QueryResult

LINES: Final = 500  # queries that the page goes into


def listed(found: Backtest) -> list[QueryResult]:
    """The queries that the page goes into: all in their order, or of too many the odd ones and those that fire most."""
    if len(found.queries) <= LINES:
        return list(found.queries)
    return sorted(found.queries, key=lambda query: (query.verdict == FiringVerdict.FIRES, -query.matches))[
        :LINES
    ]


def anchors(found: Backtest) -> dict[str, str]:
    """The names of the queries' own parts in the page."""
    return {query.id: f"q{number}" for number, query in enumerate(listed(found))}


def link(id: str, names: dict[str, str]) -> Markup:
    return tag("a", id, href=f"#{names.get(id, 'queries')}")


def table(names: Iterable[str], lines: Iterable[Markup], kind: str | None = None) -> Markup:
    cells = [tag("th", name) for name in names]
    return tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *lines), class_=kind)


def sortable(names: Iterable[tuple[str, str]], lines: Iterable[Markup]) -> Markup:
    cells = [
        tag("th", tag("button", name), data_sort=kind, class_="number" if kind == "number" else None)
        if kind and name
        else tag("th", name)
        for name, kind in names
    ]
    return tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *lines))


def left_out(count: int, limit: int, what: str) -> Markup | None:
    return tag("p", f"{limit:,} of {count:,} {what} are shown.", class_="note") if count > limit else None


def section(title: str, *content: Markup | None, card: bool = True) -> Markup:
    inside = join(*content)
    name = title.partition(":")[0].lower().replace(" ", "-")
    body = tag("div", tag("div", inside, class_="scroll"), class_="card") if card else inside
    return tag("section", tag("h2", title), body, id=name)
