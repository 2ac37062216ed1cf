"""Which queries the parts of the page go into, and links to them."""

from __future__ import annotations

from typing import Final

from eddyline.backtest.values import Backtest, FiringVerdict, QueryResult
from eddyline.pages.markup import Markup, tag

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
