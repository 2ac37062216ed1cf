"""HTML put together from parts, so that text can never become markup: only `tag` makes any, and it escapes the rest."""

from __future__ import annotations

from html import escape
from typing import Final

_VOID: Final = frozenset({"meta", "path", "rect", "line", "circle", "input"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(element: str, /, *children: str | None, **attributes: str | int | float | bool | None) -> Markup:
    """An element; children that are no markup are escaped, attributes always; `class_` and `data_x` lose their form.

    >>> tag("td", "a < b", class_="number", data_value=3)
    '<td class="number" data-value="3">a &lt; b</td>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    inside = join(*children)
    return Markup(
        f"<{element}{written}/>" if element in _VOID else f"<{element}{written}>{inside}</{element}>"
    )


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    key = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {key}" if value is True else f' {key}="{escape(_readable(str(value)))}"'


def join(*children: str | None) -> Markup:
    """Pieces one after the other; None leaves nothing.

    >>> join("a & b", tag("b", "c"), None)
    'a &amp; b<b>c</b>'
    """
    parts = [child if isinstance(child, Markup) else escape(_readable(child)) for child in children if child]
    return Markup("".join(parts))


def _readable(text: str) -> str:
    """Text without characters that UTF-8 or HTML has no place for."""
    return (
        text
        if text.isprintable()
        else "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
    )
