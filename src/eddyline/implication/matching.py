"""What all ways of matching share: the stream's predicate p, what matching a query's predicate with it gives, and its cost.

Matching gives (true, p) if the query's predicate implies p, and else (false, p relaxed), which both imply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from eddyline.implication.box_index import BoxIndex
from eddyline.implication.boxes import Box, Predicate


class Matching(NamedTuple):
    """Whether the query's predicate implies the stream's, and the stream's, relaxed if not."""

    matched: bool
    predicate: Predicate


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream's predicate, with an index over its boxes if there is one.

    While it is relaxed the index stays as it was. `added` are the boxes that it lacks: at most one for each box of the query,
    so they are compared one by one. A box that was widened stays in the index as it was, inside of the one that took its place.
    """

    predicate: Predicate
    index: BoxIndex[Any] | None = None
    added: tuple[Box, ...] = ()

    def with_box(self, box: Box) -> Stream:
        """Relaxed by one more box."""
        return Stream(self.predicate.with_boxes([box]), self.index, (*self.added, box))

    def widened(self, number: int, box: Box) -> Stream:
        """Relaxed by putting a larger box in place of one."""
        predicate = self.predicate.without(number).with_boxes([box])
        return Stream(predicate, self.index, (*self.added, box))


class TooMuchWork(Exception):
    """More boxes were compared than a limit allows."""


@dataclass(slots=True)
class Work:
    """Counts what matching costs; exact matching is exponential in the worst case, so it can be given a limit."""

    limit: float = float("inf")
    comparisons: int = 0  # of a box, or a part of one, with a box of the stream
    live: int = 0  # the most parts that waited in one search

    def compared(self, boxes: int = 1) -> None:
        """Count comparisons; raises `TooMuchWork` above the limit."""
        self.comparisons += boxes
        if self.comparisons > self.limit:
            raise TooMuchWork

    def waiting(self, parts: int) -> None:
        """Take note of how many parts wait."""
        if parts > self.live:
            self.live = parts
