"""The R-tree (Guttman, quadratic split) and the R*-tree (Beckmann and others) in memory, nodes of 5 to 10 entries as in DISJ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from bench.baselines.rectangles import Rectangle, around

FEWEST: Final = 5
MOST: Final = 10
REINSERTED: Final = 3  # of the R*-tree: 30% of a node


class Entry:
    """A node of the tree, or, one level below the leaves, what is stored: a number."""

    __slots__ = ("children", "level", "number", "rectangle")

    def __init__(self, rectangle: Rectangle, level: int = -1, number: int = -1) -> None:
        self.rectangle = rectangle
        self.level = level
        self.number = number
        self.children: list[Entry] = []

    def hold(self, children: list[Entry]) -> Entry:
        """Take other children; the node itself, with the rectangle around them."""
        self.children = children
        self.rectangle = around([child.rectangle for child in children])
        return self


def node_of(children: list[Entry]) -> Entry:
    return Entry(children[0].rectangle, children[0].level + 1).hold(children)


class RTree:
    """Rectangles with numbers; finds those that meet a rectangle."""

    def __init__(self) -> None:
        self._root: Entry | None = None

    def search(self, rectangle: Rectangle) -> Iterator[int]:
        """The numbers of the rectangles that meet the given one."""
        open_ = [self._root] if self._root else []
        while open_:
            entry = open_.pop()
            if entry.rectangle.meets(rectangle):
                if entry.level < 0:
                    yield entry.number
                open_ += entry.children

    def insert(self, rectangle: Rectangle, number: int) -> None:
        self._put(Entry(rectangle, number=number))

    def delete(self, rectangle: Rectangle, number: int) -> None:
        """Take out a rectangle; nodes that have too few entries then are dissolved and their entries inserted again."""
        assert self._root is not None, "what is deleted has been inserted"
        orphans: list[Entry] = []
        assert self._remove(self._root, rectangle, number, orphans), "what is deleted has been inserted"
        while self._root and self._root.level > 0 and len(self._root.children) == 1:
            self._root = self._root.children[0]
        if not self._root.children:
            self._root = None
        for orphan in orphans:
            self._put(orphan)

    def _put(self, entry: Entry) -> None:
        """Into a node one level above the entry."""
        if self._root is None:
            self._root = node_of([entry])
            return
        sibling = self._insert(self._root, entry)
        if sibling:
            self._root = node_of([self._root, sibling])

    def _insert(self, at: Entry, entry: Entry) -> Entry | None:
        """Somewhere below a node; its new sibling if it had to be split."""
        if at.level == entry.level + 1:
            at.children.append(entry)
        else:
            sibling = self._insert(self.choose(at, entry.rectangle), entry)
            if sibling:
                at.children.append(sibling)
        at.hold(at.children)
        return self.overflow(at) if len(at.children) > MOST else None

    def _remove(self, at: Entry, rectangle: Rectangle, number: int, orphans: list[Entry]) -> bool:
        for child in at.children:
            if child.level < 0:
                found = child.number == number
            else:
                found = child.rectangle.encloses(rectangle) and self._remove(
                    child, rectangle, number, orphans
                )
            if found:
                if child.level < 0 or len(child.children) < FEWEST:
                    at.children.remove(child)
                    orphans += child.children
                if at.children:
                    at.hold(at.children)
                return True
        return False

    def choose(self, at: Entry, rectangle: Rectangle) -> Entry:
        """The child that an entry goes to: the one that grows least, then the smallest."""
        return min(at.children, key=lambda child: growth(child.rectangle, rectangle))

    def overflow(self, node: Entry) -> Entry | None:
        """Split a node that has too many entries; gives the new one."""
        one, other = quadratic_split(node.children)
        node.hold(one)
        return node_of(other)


class RStarTree(RTree):
    """The same with other choices: overlap counts, and entries far from the centre are inserted again before a node is split."""

    def __init__(self) -> None:
        super().__init__()
        self._relieved: set[int] = set()  # levels at which this insertion has taken entries out
        self._again: list[Entry] = []

    def _put(self, entry: Entry) -> None:
        self._relieved.clear()
        super()._put(entry)
        while self._again:
            super()._put(self._again.pop())

    def choose(self, at: Entry, rectangle: Rectangle) -> Entry:
        """Above the leaves the child whose overlap with its siblings grows least."""
        if at.level > 1:
            return super().choose(at, rectangle)

        def overlap_growth(child: Entry) -> tuple[float, float, float]:
            grown = around([child.rectangle, rectangle])
            others = [each.rectangle for each in at.children if each is not child]
            more = sum(grown.common_area(each) - child.rectangle.common_area(each) for each in others)
            return more, *growth(child.rectangle, rectangle)

        return min(at.children, key=overlap_growth)

    def overflow(self, node: Entry) -> Entry | None:
        if node is not self._root and node.level not in self._relieved:
            self._relieved.add(node.level)
            node.children.sort(key=lambda child: child.rectangle.distance(node.rectangle))
            self._again += node.children[-REINSERTED:]
            node.hold(node.children[:-REINSERTED])
            return None
        one, other = margin_split(node.children)
        node.hold(one)
        return node_of(other)


def growth(of: Rectangle, by: Rectangle) -> tuple[float, float]:
    """How much a rectangle's area grows to enclose another, and the area."""
    area = of.area()
    return around([of, by]).area() - area, area


def quadratic_split(entries: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """Guttman's: the two that would waste most area together, then each to where it adds less."""

    def waste(pair: tuple[Entry, Entry]) -> float:
        one, other = pair[0].rectangle, pair[1].rectangle
        return around([one, other]).area() - one.area() - other.area()

    def preference(entry: Entry) -> float:
        return growth(boxes[0], entry.rectangle)[0] - growth(boxes[1], entry.rectangle)[0]

    seeds = max(combinations(entries, 2), key=waste)
    groups = [seeds[0]], [seeds[1]]
    boxes = [seeds[0].rectangle, seeds[1].rectangle]
    left = [entry for entry in entries if entry not in seeds]
    while left:
        full = len(groups[0]) == len(entries) - FEWEST, len(groups[1]) == len(entries) - FEWEST
        entry = max(left, key=lambda each: abs(preference(each)))
        left.remove(entry)
        to = 1 if full[0] else 0 if full[1] else int(preference(entry) > 0)
        groups[to].append(entry)
        boxes[to] = around([boxes[to], entry.rectangle])
    return groups


def margin_split(entries: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The R*-tree's: along the axis with the least margins, where the halves overlap least."""

    def halves(axis: int) -> list[tuple[list[Entry], list[Entry]]]:
        lows = sorted(entries, key=lambda entry: (entry.rectangle.lows[axis], entry.rectangle.highs[axis]))
        highs = sorted(entries, key=lambda entry: (entry.rectangle.highs[axis], entry.rectangle.lows[axis]))
        cuts = range(FEWEST, len(entries) - FEWEST + 1)
        return [(each[:cut], each[cut:]) for each in (lows, highs) for cut in cuts]

    def rectangles(split: tuple[list[Entry], list[Entry]]) -> tuple[Rectangle, Rectangle]:
        one, other = split
        return around([each.rectangle for each in one]), around([each.rectangle for each in other])

    def margins(axis: int) -> float:
        return sum(half.margin() for split in halves(axis) for half in rectangles(split))

    def overlap(split: tuple[list[Entry], list[Entry]]) -> tuple[float, float]:
        one, other = rectangles(split)
        return one.common_area(other), one.area() + other.area()

    axis = min(range(len(entries[0].rectangle.lows)), key=margins)
    return min(halves(axis), key=overlap)
