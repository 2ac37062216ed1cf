"""Where the nodes of a cluster stand when it is drawn: what covers to the left of what it covers, in rows that do not touch.

column 0          column 1          column 2
                  [cheap eur]
[cheap]    <--    [cheap fx]   <--  [very cheap fx]
                  [+ 12 more]
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.redundancy.clusters import Cluster

ALL_DRAWN: Final = 48  # nodes up to which a cluster is drawn as a whole
MOST_DRAWN: Final = 24  # nodes of a larger one: a screen full
# arrows from the widest node of a larger cluster: a long chain would leave no room for others
_FARTHEST: Final = 4
_STEPS: Final = 2_000  # on the way up from one node, when arrows are looked for that say nothing new


@dataclass(frozen=True, slots=True)
class Box:
    """A node, or (`node` is None) how many queries below another node are not drawn."""

    column: int
    row: float
    node: int | None
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes by their places, and arrows between them by their numbers, from what is covered to its cover.

    `widest` is the node with most queries below it.
    """

    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...]
    columns: int
    rows: int
    widest: int

    @property
    def drawn(self) -> list[int]:
        """The nodes that are drawn."""
        return [box.node for box in self.boxes if box.node is not None]


def lay_out(cluster: Cluster) -> Layout:
    """A place for each node of a cluster; of a large one for those that have most below them."""
    tree = _Tree(cluster)
    everybody = range(len(cluster.nodes))
    chosen = everybody if len(everybody) <= ALL_DRAWN else sorted(tree.chosen(MOST_DRAWN))
    return _Drawing(cluster, tree, chosen).layout()


class _Tree:
    """Every node below one of its covers, the deepest one; and how many queries are below each."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        nodes = cluster.nodes
        self.parents = [
            max(node.covers, key=lambda cover: nodes[cover].depth, default=None) for node in nodes
        ]
        self.children: dict[int, list[int]] = defaultdict(list)
        self.weights = [len(node.queries) for node in nodes]
        for number in reversed(range(len(nodes))):  # covers come before what they cover
            parent = self.parents[number]
            if parent is not None:
                self.children[parent].append(number)
                self.weights[parent] += self.weights[number]
        self.widest = max(range(len(nodes)), key=self.weights.__getitem__)

    def chosen(self, most: int) -> set[int]:
        """The heaviest nodes that are connected with the heaviest of all."""
        near: dict[int, list[int]] = defaultdict(list)
        for number, node in enumerate(self.cluster.nodes):
            for cover in node.covers:
                near[cover].append(number)
                near[number].append(cover)
        chosen: set[int] = set()
        waiting = [(0, self.widest, 0)]
        while waiting and len(chosen) < most:
            _, number, steps = heapq.heappop(waiting)
            if number not in chosen:
                chosen.add(number)
                if steps < _FARTHEST:
                    for other in near[number]:
                        heapq.heappush(waiting, (-self.weights[other], other, steps + 1))
        return chosen

    def hidden(self, number: int, chosen: set[int]) -> int:
        """How many queries below a node are below none of its children that are chosen."""
        seen = sum(self.weights[child] for child in self.children[number] if child in chosen)
        return self.weights[number] - len(self.cluster.nodes[number].queries) - seen


class _Drawing:
    def __init__(self, cluster: Cluster, tree: _Tree, chosen: Sequence[int]) -> None:
        self._tree, self._chosen = tree, set(chosen)
        self._covers = {
            number: [cover for cover in tightest_covers(cluster, number) if cover in self._chosen]
            for number in chosen
        }
        self._columns: dict[int, int] = {}
        self._below: dict[int | None, list[int]] = defaultdict(list)
        for number in chosen:
            self._columns[number] = max((self._columns[c] + 1 for c in self._covers[number]), default=0)
            parent = max(self._covers[number], key=self._columns.__getitem__, default=None)
            self._below[parent].append(number)
        self._boxes: list[Box] = []
        self._arrows: list[tuple[int, int]] = []
        self._next_row = 0

    def layout(self) -> Layout:
        for root in self._roots_by_neighbours():
            self._place(root)
        at = {box.node: number for number, box in enumerate(self._boxes) if box.node is not None}
        arrows = [(at[one], at[cover]) for one, covers in self._covers.items() for cover in covers]
        columns = max(box.column for box in self._boxes) + 1
        return Layout(
            tuple(self._boxes), tuple(self._arrows + arrows), columns, self._next_row, self._tree.widest
        )

    def _roots_by_neighbours(self) -> list[int]:
        """Trees that share queries stand next to each other, so that arrows between them are short."""
        root_of: dict[int, int] = {}
        for root in self._below[None]:
            pending = [root]
            while pending:
                number = pending.pop()
                root_of[number] = root
                pending += self._below[number]
        near: dict[int, set[int]] = defaultdict(set)
        for number, covers in self._covers.items():
            for cover in covers:
                near[root_of[number]].add(root_of[cover])
                near[root_of[cover]].add(root_of[number])
        ordered: dict[int, None] = {}
        for root in sorted(self._below[None], key=lambda root: -self._tree.weights[root]):
            pending = [root]
            while pending:
                current = pending.pop()
                if current not in ordered:
                    ordered[current] = None
                    pending += sorted(near[current], reverse=True)
        return list(ordered)

    def _place(self, root: int) -> None:
        """Leaves get the next row, others stand in the middle of what is below them."""
        rows: dict[int, list[float]] = defaultdict(list)
        more: dict[int, Box] = {}
        pending = [(root, False)]
        while pending:
            number, is_done = pending.pop()
            if not is_done:
                pending.append((number, True))
                below = sorted(self._below[number], key=lambda child: (-self._tree.weights[child], child))
                pending += [(child, False) for child in reversed(below)]
                continue
            hidden = self._tree.hidden(number, self._chosen)
            if hidden:
                more[number] = Box(self._columns[number] + 1, self._take_row(), None, hidden)
                rows[number].append(more[number].row)
            own = rows[number]
            row = (own[0] + own[-1]) / 2 if own else self._take_row()
            self._boxes.append(Box(self._columns[number], row, number))
            if hidden:
                self._boxes.append(more[number])
                self._arrows.append((len(self._boxes) - 1, len(self._boxes) - 2))
            if number != root:
                rows[self._parent(number)].append(row)

    def _parent(self, number: int) -> int:
        return max(self._covers[number], key=self._columns.__getitem__)

    def _take_row(self) -> int:
        self._next_row += 1
        return self._next_row - 1


def tightest_covers(cluster: Cluster, number: int) -> list[int]:
    """The covers of a node without those that cover another of its covers: that arrow would say nothing new."""
    covers = cluster.nodes[number].covers
    return [
        cover
        for cover in covers
        if not any(_covers(cluster, cover, other) for other in covers if other != cover)
    ]


def _covers(cluster: Cluster, cover: int, number: int) -> bool:
    """Whether a node covers another one, directly or by way of others, as far as a bounded search sees it."""
    seen, pending = {number}, [number]
    while pending and len(seen) < _STEPS:
        for next_cover in cluster.nodes[pending.pop()].covers:
            if next_cover == cover:
                return True
            if next_cover not in seen and next_cover > cover:  # covers come before what they cover
                seen.add(next_cover)
                pending.append(next_cover)
    return False
