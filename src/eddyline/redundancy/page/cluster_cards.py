"""One cluster on the page: a picture, and a table with each query's text and proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eddyline.pages.markup import Markup, join, tag
from eddyline.pages.numbers import counted
from eddyline.pages.parts import sortable
from eddyline.redundancy.clusters import Cluster, Node
from eddyline.redundancy.layout import lay_out
from eddyline.redundancy.page.drawing import Picture
from eddyline.redundancy.page.texts import condition, excerpt, fitting, name, shortened
from eddyline.redundancy.proofs import Proofs
from eddyline.redundancy.values import ComparedQuery

MOST_ROWS: Final = 200  # queries of a cluster in its table
_MOST_BYTES: Final = 400_000  # of the table
_SEARCHED: Final = 12  # rows from which on a table can be searched
_MOST_OWNERS: Final = 4


class ClusterCard:
    """The part of the page about one cluster; `names` are the places of its queries in the page."""

    def __init__(
        self, cluster: Cluster, number: int, queries: Mapping[str, ComparedQuery], columns: tuple[str, ...]
    ) -> None:
        self._cluster, self._queries, self._columns = cluster, queries, columns
        self._anchor = f"cluster-{number}"
        self._layout = lay_out(cluster)
        drawn = sorted(self._layout.drawn)  # covers come before what they cover
        others = set(range(len(cluster.nodes))).difference(drawn)
        self._order = [*drawn, *sorted(others)][:MOST_ROWS]
        self._links: dict[str, str] = {}

    def markup(self, proofs: Proofs) -> Markup:
        """Made once: it asks for proofs."""
        lines = list(fitting(self._lines(proofs), MOST_ROWS, _MOST_BYTES))
        shown = set(list(self._links)[: len(lines)])
        links = {id: anchor for id, anchor in self._links.items() if id in shown}
        picture = Picture(self._cluster, self._layout, self._queries, links, f"{self._anchor}-all").markup()
        drawing = tag("div", picture, class_="scroll") if len(self._cluster.nodes) > 1 else None
        return tag(
            "article",
            self._head(),
            drawing,
            self._not_drawn(),
            self._table(lines),
            id=self._anchor,
            class_="card",
        )

    def _head(self) -> Markup:
        cluster = self._cluster
        title = cluster.nodes[self._layout.widest]
        others = cluster.size - 1
        told = f"{cluster.redundant:,} of {counted(cluster.size, 'query', 'queries')} could go"
        owners = sorted({owner for owner in self._owners() if owner})
        whose = f" · {_listed(owners)}" if owners else ""
        return tag(
            "h3",
            tag("span", name(title.first), class_="id"),
            tag("span", f" and {others:,} more", class_="soft"),
            tag("span", told + whose, class_="right"),
        )

    def _owners(self) -> Iterator[str | None]:
        return (self._queries[id].owner for node in self._cluster.nodes for id in node.queries)

    def _not_drawn(self) -> Markup | None:
        drawn = len(self._layout.drawn)
        if drawn == len(self._cluster.nodes):
            return None
        return tag(
            "p",
            f"{drawn:,} of {len(self._cluster.nodes):,} boxes are drawn: those that cover most.",
            class_="note",
        )

    def _table(self, lines: list[Markup]) -> Markup:
        size = self._cluster.size
        text = "SQL and proofs"
        if len(lines) < size:
            text += f": {len(lines):,} of {counted(size, 'query', 'queries')}, --json has all of them"
        names = [("query", "text"), ("", "text"), *((column, "text") for column in self._columns)]
        rows = sortable([*names, ("condition", "")], lines, "searched" if len(lines) >= _SEARCHED else None)
        inside = tag("div", rows, class_="inside scroll tall")
        is_open = len(self._cluster.nodes) == 1 and len(lines) < _SEARCHED
        return tag(
            "details", tag("summary", text), inside, id=f"{self._anchor}-all", open=is_open, class_="all"
        )

    def _lines(self, proofs: Proofs) -> Iterator[Markup]:
        for number in self._order:
            node = self._cluster.nodes[number]
            for id in node.queries:
                anchor = f"{self._anchor}-{len(self._links)}"
                self._links[id] = anchor
                yield self._line(node, id, anchor, proofs)

    def _line(self, node: Node, id: str, anchor: str, proofs: Proofs) -> Markup:
        query = self._queries[id]
        kind, told, proof = self._relation(node, query, proofs)
        asked = tag("summary", tag("code", shortened(condition(query.sql), 70)))
        proven = tag("pre", excerpt(proof), class_="proof") if proof else None
        opened = tag("details", asked, tag("pre", excerpt(query.sql)), proven)
        beside = [tag("td", getattr(query, column) or "–", class_="soft") for column in self._columns]
        cells = [
            tag("td", name(id), class_="id"),
            tag("td", tag("span", kind[0], class_=f"pill {kind[1]}"), told),
        ]
        return tag("tr", *cells, *beside, tag("td", opened), id=anchor)

    def _relation(
        self, node: Node, query: ComparedQuery, proofs: Proofs
    ) -> tuple[tuple[str, str], Markup | None, str | None]:
        """What a query is: a word and its colour, the other query, and why."""
        if query.id != node.first:
            first = self._queries[node.first]
            proof = proofs.same(query, first)
            return ("the same as", "warn"), join(" ", name(first.id)), proof
        if not node.covers:
            return ("stays", "good"), None, None
        cover = self._queries[self._cluster.nodes[node.covers[0]].first]
        others = len(node.covers) - 1 + node.more
        more = tag("span", f" and {others:,} more", class_="soft") if others else None
        return (
            ("covered by", "plain"),
            join(" ", name(cover.id), more),
            proofs.covered(query, cover),
        )


def _listed(owners: list[str]) -> str:
    shown = ", ".join(shortened(owner, 30) for owner in owners[:_MOST_OWNERS])
    left = len(owners) - _MOST_OWNERS
    return f"{shown} and {left:,} more" if left > 0 else shown
