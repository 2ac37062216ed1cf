"""A whole page: style and script inside, and a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from importlib.metadata import version
from importlib.resources import files

from eddyline.pages.markup import Markup, join, tag


def document(
    title: str, parts: Iterable[Markup | None], same_as_data: str, style: str = "", script: str = ""
) -> str:
    """One HTML document; `same_as_data` is the command that gives machines what the page shows to people.

    >>> document("A page", [], "eddyline ... --json").splitlines()[0]
    '<!doctype html>'
    """
    all_style = Markup(resource(__package__, "page.css") + style)
    all_script = Markup(resource(__package__, "page.js") + script)
    head = join(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(all_style, all_script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", all_style),
    )
    foot = tag("footer", f"eddyline {version('eddyline')}. The same as data: {same_as_data}")
    body = tag("body", tag("main", *parts, foot), tag("script", all_script))
    return f"<!doctype html>\n{tag('html', tag('head', head), body, lang='en')}\n"


def resource(package: str, name: str) -> str:
    """The text of a file that lies beside the modules of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Only this style and this script: markup that slipped in could neither run nor load anything."""
    return f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
