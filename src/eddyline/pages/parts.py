"""What pages are put together from: sections, tiles with figures, tables that can be sorted."""

from __future__ import annotations

from collections.abc import Iterable

from eddyline.pages.markup import Markup, join, tag


def section(title: str, *content: Markup | None, card: bool = True) -> Markup:
    """A part of the page under a title, by whose words links find it."""
    inside = join(*content)
    name = title.partition(":")[0].lower().replace(" ", "-")
    body = tag("div", tag("div", inside, class_="scroll"), class_="card") if card else inside
    return tag("section", tag("h2", title), body, id=name)


def tile(figure: str, says: str, kind: str = "") -> Markup:
    """A figure that one looks for first."""
    return tag("div", tag("b", figure, class_=kind or None), tag("span", says), class_="tile")


def table(names: Iterable[str], lines: Iterable[Markup], kind: str | None = None) -> Markup:
    """Lines under a head."""
    cells = [tag("th", name) for name in names]
    return tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *lines), class_=kind)


def sortable(names: Iterable[tuple[str, str]], lines: Iterable[Markup], kind: str | None = None) -> Markup:
    """Lines under a head of names, each with how it is sorted: as "text", as "number", or "" for not at all."""
    cells = [
        tag("th", tag("button", name), data_sort=sort, class_="number" if sort == "number" else None)
        if sort and name
        else tag("th", name)
        for name, sort in names
    ]
    return tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *lines), class_=kind)


def left_out(count: int, limit: int, what: str) -> Markup | None:
    """A line that says that there are more."""
    return tag("p", f"{limit:,} of {count:,} {what} are shown.", class_="note") if count > limit else None
