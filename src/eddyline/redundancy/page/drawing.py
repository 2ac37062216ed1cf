"""A cluster as a picture: boxes with names and conditions, arrows from what is covered to what covers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import commonprefix
from typing import Final

from eddyline.pages.markup import Markup, join, tag
from eddyline.redundancy.clusters import Cluster, Node
from eddyline.redundancy.layout import Box, Layout
from eddyline.redundancy.page.texts import condition, shortened
from eddyline.redundancy.values import ComparedQuery

_NARROW, _WIDE = 216, 350  # what a box may be, as the page has room
_HEIGHT: Final = 44
_ACROSS, _DOWN = 42, 12  # from one to the next
_MARGIN: Final = 8
_ROOM: Final = 1_100  # of a page on a laptop: what is wider is drawn smaller
_SMALLEST: Final = 0.75
# Widths of letters in names, which are cut off where they are wider, and in conditions.
_LETTER, _SMALL_LETTER = 8.4, 6.65
_TELLING: Final = 12  # characters that all conditions begin with, and that are worth leaving out


class Picture:
    """Draws a cluster; `links` are the places in the page where queries are described, `table` that of all of them."""

    def __init__(
        self,
        cluster: Cluster,
        layout: Layout,
        queries: Mapping[str, ComparedQuery],
        links: Mapping[str, str],
        table: str,
    ) -> None:
        self._cluster, self._layout, self._links, self._table = cluster, layout, links, table
        self._asked = {number: condition(queries[cluster.nodes[number].first].sql) for number in layout.drawn}
        self._shared = len(shared_start(list(self._asked.values())))
        room = (_ROOM - 2 * _MARGIN + _ACROSS) // layout.columns - _ACROSS
        self._width = max(_NARROW, min(_WIDE, room))

    def markup(self) -> Markup:
        """As inline SVG."""
        layout = self._layout
        width = layout.columns * (self._width + _ACROSS) - _ACROSS + 2 * _MARGIN
        height = layout.rows * (_HEIGHT + _DOWN) - _DOWN + 2 * _MARGIN
        arrows = [self._arrow(layout.boxes[one], layout.boxes[cover]) for one, cover in layout.arrows]
        boxes = [
            self._more(box) if box.node is None else self._node(box, box.node, self._cluster.nodes[box.node])
            for box in layout.boxes
        ]
        label = f"{len(layout.drawn)} of {len(self._cluster.nodes)} boxes: what covers stands to the left of what it covers"
        frame = {"viewBox": f"0 0 {width} {height}", "role": "group", "class_": "graph"}
        scale = max(_SMALLEST, min(1.0, _ROOM / width))
        size = {"width": round(width * scale), "height": round(height * scale)}
        return tag("svg", tag("title", label), *arrows, *boxes, **frame, **size)

    def _node(self, box: Box, number: int, node: Node) -> Markup:
        x, y = self._corner(box)
        asked = self._asked[number]
        told = f"{shortened(', '.join(node.queries), 300)}: {shortened(asked, 500)}"
        behind = [self._paper(x + shift, y + shift) for shift in (5, 2.5)[: len(node.queries) - 1]]
        inside = join(*behind, self._paper(x, y), tag("path", d=_edge(x, y), class_="edge"))
        link = self._links.get(node.first, self._table)
        kind = "goes" if node.covers else "stays"
        return tag(
            "a",
            tag("title", told),
            inside,
            self._texts(x, y, node, asked),
            href=f"#{link}",
            class_=f"node {kind}",
        )

    def _texts(self, x: float, y: float, node: Node, asked: str) -> Markup:
        """In a picture of its own, which cuts off what is too wide."""
        inner = self._width - 20
        count = f"×{len(node.queries):,}" if len(node.queries) > 1 else ""
        letters = int(inner / _LETTER) - (len(count) + 1 if count else 0)
        differs = f"… {asked[self._shared :]}" if self._shared else asked
        texts = [
            tag("text", shortened(node.first, letters), y=19, class_="name"),
            tag("text", shortened(differs, int(inner / _SMALL_LETTER)), y=35, class_="asked"),
            tag("text", count, x=inner, y=19, class_="count") if count else None,
        ]
        return tag("svg", *texts, x=x + 13, y=y, width=inner, height=_HEIGHT)

    def _paper(self, x: float, y: float) -> Markup:
        return tag("rect", x=x, y=y, width=self._width, height=_HEIGHT, rx=8, class_="paper")

    def _more(self, box: Box) -> Markup:
        x, y = self._corner(box)
        shape = join(
            tag("rect", x=x, y=y + 8, width=120, height=_HEIGHT - 16, rx=14, class_="paper"),
            tag("text", f"+ {box.hidden:,} more", x=x + 16, y=y + 26, class_="asked"),
        )
        more = "1 more query is" if box.hidden == 1 else f"{box.hidden:,} more queries are"
        told = f"{more} covered here and not drawn"
        return tag("a", tag("title", told), shape, href=f"#{self._table}", class_="node more")

    def _arrow(self, one: Box, cover: Box) -> Markup:
        """From the left side of what is covered to the right side of its cover, with a head."""
        (x1, y1), (x2, y2) = self._corner(one), self._corner(cover)
        y1, y2 = y1 + _HEIGHT / 2, y2 + _HEIGHT / 2
        end = x2 + self._width + 3
        bend = max(20.0, (x1 - end) / 2)
        line = f"M{x1:g} {y1:g}C{x1 - bend:g} {y1:g} {end + bend:g} {y2:g} {end + 5:g} {y2:g}"
        head = f"M{end:g} {y2:g}l8 -4v8z"
        return join(tag("path", d=line, class_="arrow"), tag("path", d=head, class_="head"))

    def _corner(self, box: Box) -> tuple[float, float]:
        return _MARGIN + box.column * (self._width + _ACROSS), _MARGIN + box.row * (_HEIGHT + _DOWN)


def shared_start(conditions: Sequence[str]) -> str:
    """What all conditions begin with, up to an AND, if it is long: boxes show where they differ.

    >>> shared_start(["symbol = 'A' AND price < 10", "symbol = 'A' AND price < 12"])
    "symbol = 'A' AND "
    >>> shared_start(["price < 10", "price < 12"]), shared_start(["symbol = 'A' AND price < 10"])
    ('', '')
    """
    if len(conditions) < 2:
        return ""
    start = commonprefix(conditions)  # noqa: RUF071 (of texts, not of paths)
    start = start[: start.upper().rfind(" AND ") + 5] if " AND " in start.upper() else ""
    return start if len(start) >= _TELLING else ""


def _edge(x: float, y: float) -> str:
    """The coloured left side of a box, round at its corners."""
    return f"M{x + 5:g} {y:g}h1v{_HEIGHT}h-1a5 8 0 0 1-5-8v-{_HEIGHT - 16}a5 8 0 0 1 5-8z"
