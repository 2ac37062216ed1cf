"""SteMs: the tuples of one stream that are kept by one key, in a few segments.

New tuples make a new segment; neighbours are merged, so that there are few. A segment is dropped as a whole when no tuple
to come can be joined with any of its own.
"""

from __future__ import annotations

from eddyline.join.segment import MOST_ENTRIES, Segment, segment_of, tuples_of
from eddyline.join.spill import Folder
from eddyline.join.tiers import FAN, MOST, cheapest_run, newest_run
from eddyline.model.arrays import Integers
from eddyline.model.roles import StemKey


class Stem:
    """The tuples of a key; `segments` come as their tuples came."""

    def __init__(self, key: StemKey) -> None:
        self.key = key
        self.segments: list[Segment] = []

    def __len__(self) -> int:
        return sum(map(len, self.segments))

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(segment.nbytes for segment in self.segments if not segment.is_spilled)

    @property
    def spilled(self) -> int:
        """Bytes in files."""
        return sum(segment.nbytes for segment in self.segments if segment.is_spilled)

    def append(
        self, segment: Segment | None, least: int | None, longest: int | None, keeps_all: bool
    ) -> None:
        """Take in a segment, drop those whose times are all below `least`, and merge what is to be merged.

        longest     how long a time tuples are kept; a segment of a quarter of it holds on to few for too long. None: any
        keeps_all   whether tuples without a role left are needed, too
        """
        if segment is not None:
            self.segments.append(segment)
        self.purge(least)
        run = newest_run([len(segment) for segment in self.segments])
        while run and self._is_short(self.segments[-run:], longest):
            self._merge(len(self.segments) - run, run, least, keeps_all)
            run = newest_run([len(segment) for segment in self.segments])
        while len(self.segments) > MOST:
            first = cheapest_run([len(segment) for segment in self.segments])
            if not _fit_together(self.segments[first : first + FAN]):
                break
            self._merge(first, FAN, least, keeps_all)

    def purge(self, least: int | None) -> None:
        """Drop the segments whose times are all below `least`; None: none is."""
        self.segments = self.staying(least)

    def staying(self, least: int | None) -> list[Segment]:
        """The segments that `purge` would leave."""
        return [segment for segment in self.segments if least is None or segment.times[1] >= least]

    def move(self, rows: Integers) -> None:
        """Know roles by other dense ids."""
        self.segments = [segment.moved(rows) for segment in self.segments]

    def spill(self, place: int, folder: Folder) -> None:
        """Put one of the segments into a file."""
        self.segments[place] = self.segments[place].spilled(folder)

    def _is_short(self, run: list[Segment], longest: int | None) -> bool:
        span = max(s.times[1] for s in run) - min(s.times[0] for s in run)
        return (longest is None or span * FAN <= longest) and _fit_together(run)

    def _merge(self, first: int, count: int, least: int | None, keeps_all: bool) -> None:
        tuples = tuples_of(self.segments[first : first + count])
        wanted = tuples.times >= (tuples.times.min() if least is None else least)
        if not keeps_all:
            wanted &= tuples.ends > tuples.begins
        tuples = tuples if wanted.all() else tuples.picked(wanted)
        self.segments[first : first + count] = [segment_of(tuples)] if len(tuples) else []


def _fit_together(run: list[Segment]) -> bool:
    return sum(len(segment.tuples.lists) for segment in run) <= MOST_ENTRIES // 2
