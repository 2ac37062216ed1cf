"""The whole page: parts in their order, style and script inside, and a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import version
from importlib.resources import files

from eddyline.backtest.report import sections
from eddyline.backtest.report.details import details
from eddyline.backtest.report.markup import Markup, join, tag
from eddyline.backtest.report.strips import strips
from eddyline.backtest.values import Backtest


def to_html(found: Backtest) -> str:
    """A back-test as one HTML document.

    >>> to_html(Backtest(streams=(), queries=())).splitlines()[0]
    '<!doctype html>'
    """
    style, script = _resource("report.css"), _resource("report.js")
    head = join(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", "Back-test"),
        tag("style", style),
    )
    body = tag("main", *_parts(found), _foot())
    page = tag("html", tag("head", head), tag("body", body, tag("script", script)), lang="en")
    return f"<!doctype html>\n{page}\n"


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


def _foot() -> Markup:
    return tag("footer", f"eddyline {version('eddyline')}. The same as data: eddyline backtest ... --json")


def _resource(name: str) -> Markup:
    return Markup(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _policy(style: str, script: str) -> str:
    """Only this style and this script: markup that slipped in could neither run nor load anything."""
    return f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
