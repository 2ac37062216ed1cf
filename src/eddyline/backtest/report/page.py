"""The whole page: its parts in their order."""

from __future__ import annotations

from eddyline.backtest.report import sections
from eddyline.backtest.report.details import details
from eddyline.backtest.report.strips import strips
from eddyline.backtest.values import Backtest
from eddyline.pages.document import document, resource
from eddyline.pages.markup import Markup


def to_html(found: Backtest) -> str:
    """A back-test as one HTML document.

    >>> to_html(Backtest(streams=(), queries=())).splitlines()[0]
    '<!doctype html>'
    """
    style = resource(__package__, "report.css")
    return document("Back-test", _parts(found), "eddyline backtest ... --json", style)


def _parts(found: Backtest) -> list[Markup | None]:
    """What matters most comes first: whether it is as expected, then when, then what."""
    return [
        sections.head(found),
        sections.tiles(found),
        sections.checks(found),
        sections.refused(found),
        *strips(found),
        sections.queries(found),
        sections.overlaps(found),
        details(found),
        sections.rejected(found),
    ]
