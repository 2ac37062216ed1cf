"""A segment among the others of a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from eddyline.execute.segment import SegmentExecutor
from eddyline.index.segment import Segment
from eddyline.model.numbering import Numbering
from eddyline.model.query import NormalQuery


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Placed:
    """Who evaluates a segment, what its queries are called in the set, and how many of them are gone from it.

    `queries` are its queries in normal form, where they are kept because the segment will soon be merged.
    """

    executor: SegmentExecutor
    numbering: Numbering
    dead: int = 0
    queries: Sequence[NormalQuery] | None = field(default=None, repr=False)

    @property
    def segment(self) -> Segment:
        """What is compiled."""
        return self.executor.segment

    @property
    def size(self) -> int:
        """How many queries were compiled."""
        return self.numbering.size

    @property
    def alive(self) -> int:
        """How many of them are still there."""
        return self.numbering.size - self.dead
