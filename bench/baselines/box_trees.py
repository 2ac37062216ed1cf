"""DISJ's index: the boxes of a predicate in an R-tree or an R*-tree, behind the protocol of `eddyline.implication.box_index`.

As in the paper there is one tree, and boxes that a part has met are not in it: they are deleted on the way down and inserted
again on the way back. Breadth-first only ever deletes, if all parts meet the boxes in the same order (`BREADTH_FIRST`);
depth-first and mixed go back and forth, which is the loss that the paper reports.
"""

from __future__ import annotations

from typing import Final

from bench.baselines import r_trees
from bench.baselines.rectangles import Rectangle
from eddyline.implication import exact_matching
from eddyline.implication.boxes import Intervals, Predicate, contains, outside, overlaps
from eddyline.implication.matching import Work

Active = int  # the boxes that a part has not met yet, as a bitmap
Part = tuple[Intervals, Active]


class BoxTree:
    """Boxes in a tree; the tree holds closed rectangles, so what it finds is compared once more."""

    def __init__(self, predicate: Predicate, tree: r_trees.RTree) -> None:
        self.boxes = predicate.boxes
        self._tree = tree
        self._rectangles = [_rectangle(box.intervals) for box in self.boxes]
        self._held = 0
        self._hold(self.all)

    @property
    def all(self) -> Active:
        """Every box."""
        return (1 << len(self.boxes)) - 1

    def contains(self, part: Intervals) -> bool:
        self._hold(self.all)
        found = self._tree.search(_rectangle(part))
        return any(contains(self.boxes[number], part) for number in found)

    def overlaps(self, part: Intervals) -> bool:
        return self.first(part, self.all) >= 0

    def start(self, part: Intervals) -> list[Part]:
        return [] if self.contains(part) else [(part, self.all)]

    def first(self, part: Intervals, active: Active) -> int:
        """The first of the active boxes that overlaps a part, -1 if none does."""
        self._hold(active)
        found = self._tree.search(_rectangle(part))
        return min((number for number in found if overlaps(self.boxes[number], part)), default=-1)

    def split(self, part: Part, work: Work) -> list[Part] | None:
        intervals, active = part
        number = self.first(intervals, active)
        if number < 0:
            return None
        work.compared()
        return [(left, active & ~(1 << number)) for left in outside(self.boxes[number], intervals)]

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


def _breadth_first(index: BoxTree, part: Intervals, work: Work) -> bool:
    """Algorithm 10: all parts meet box 1, then what is left meets box 2, ...; each waits for the first that overlaps it."""
    waiting: list[list[Intervals]] = [[] for _ in index.boxes]

    def wait(parts: list[Intervals], active: Active) -> bool:
        """False if one of the parts meets no box."""
        for each in parts:
            first = index.first(each, active)
            if first < 0:
                return False
            waiting[first].append(each)
        return True

    parts = [intervals for intervals, _ in index.start(part)]
    covered, alive = wait(parts, index.all), len(parts)
    for number, level in enumerate(waiting):
        later = index.all & -1 << number + 1  # boxes up to this one are inactive for all parts
        while covered and level:
            work.compared()
            left = outside(index.boxes[number], level.pop())
            alive += len(left) - 1
            work.waiting(alive)
            covered = wait(left, later)
    return covered


BREADTH_FIRST: Final = exact_matching.BREADTH_FIRST._replace(covers_by_index=_breadth_first)
STRATEGIES: Final = (BREADTH_FIRST, exact_matching.DEPTH_FIRST, exact_matching.MIXED)
