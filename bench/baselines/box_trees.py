"""DISJ's index: the boxes of a predicate in an R-tree or an R*-tree, behind the protocol of `eddyline.implication.box_index`.

As in the paper there is one tree, and boxes that a part has met are not in it: they are deleted on the way down and inserted
again on the way back. Breadth-first only ever deletes; depth-first and mixed go back and forth, which is the loss that the
paper reports.
"""

from __future__ import annotations

from bench.baselines import r_trees
from bench.baselines.rectangles import Rectangle
from eddyline.implication.box_index import Active, Part
from eddyline.implication.boxes import Intervals, Predicate, contains, outside, overlaps


class BoxTree:
    """Boxes in a tree; the tree holds closed rectangles, so what it finds is compared once more."""

    def __init__(self, predicate: Predicate, tree: r_trees.RTree) -> None:
        self.boxes = predicate.boxes
        self._tree = tree
        self._rectangles = [_rectangle(box.intervals) for box in self.boxes]
        self._held = 0
        self._hold(self._all)

    @property
    def _all(self) -> Active:
        return (1 << len(self.boxes)) - 1

    def covers(self, part: Intervals) -> bool | None:
        self._hold(self._all)
        found = self._tree.search(_rectangle(part))
        return True if any(contains(self.boxes[number], part) for number in found) else None

    def start(self, part: Intervals) -> Active:
        return self._all

    def first(self, part: Intervals, active: Active) -> int:
        self._hold(active)
        found = self._tree.search(_rectangle(part))
        return min((number for number in found if overlaps(self.boxes[number], part)), default=-1)

    def split(self, part: Intervals, active: Active, number: int) -> list[Part]:
        return [(left, active & ~(1 << number)) for left in outside(self.boxes[number], part)]

    def _hold(self, active: Active) -> None:
        """Delete and insert boxes until the tree has exactly the active ones."""
        changed = self._held ^ active
        while changed:
            number = (changed & -changed).bit_length() - 1
            changed &= changed - 1
            change = self._tree.insert if active >> number & 1 else self._tree.delete
            change(self._rectangles[number], number)
        self._held = active


class RTree(BoxTree):
    """With Guttman's tree, for figures 9 to 11."""

    def __init__(self, predicate: Predicate) -> None:
        super().__init__(predicate, r_trees.RTree())


class RStarTree(BoxTree):
    """With the R*-tree, for figures 12 to 14."""

    def __init__(self, predicate: Predicate) -> None:
        super().__init__(predicate, r_trees.RStarTree())


def _rectangle(part: Intervals) -> Rectangle:
    return Rectangle(tuple([low[0] for low, _ in part]), tuple([high[0] for _, high in part]))
