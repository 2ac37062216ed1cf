"""A segment among the others of a set."""

from __future__ import annotations

from dataclasses import dataclass

from eddyline.execute.segment import SegmentExecutor
from eddyline.index.segment import Segment
from eddyline.model.numbering import Numbering


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Placed:
    """Who evaluates a segment, and what its queries are called in the set."""

    executor: SegmentExecutor
    numbering: Numbering

    @property
    def segment(self) -> Segment:
        """What is compiled."""
        return self.executor.segment
