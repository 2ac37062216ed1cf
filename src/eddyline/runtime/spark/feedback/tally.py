"""What the tasks of a batch tell of one segment: times, visits, and the regions of some tuples; they add up."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.execute.steering.protocol import Way

Regions = npt.NDArray[np.int32]
_COUNTS: Final = ("tuples", "by_row", "visited", "dropped", "compared")
_SECONDS: Final = ("seconds", "watching")


def _no_regions() -> Regions:
    return np.empty((0, 0), np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class SegmentTally:
    """Tuples that passed a segment in `seconds`; `by_row` of them visited ASCs, and `dropped` of those matched nothing.

    `watching` are the seconds of looking at samples and of comparing. Where all ways were tried, `compared` tuples took
    the seconds of `ways`. `costs` are the seconds of a visit to each subject, where they are known. `regions` is (subjects, tuples), as in a `Sample`.
    """

    tuples: int = 0
    by_row: int = 0
    visited: int = 0
    dropped: int = 0
    compared: int = 0
    seconds: float = 0.0
    watching: float = 0.0
    ways: Mapping[Way, float] = field(default_factory=dict)
    costs: tuple[float, ...] = ()
    problem: str = ""
    regions: Regions = field(default_factory=_no_regions)

    def plus(self, other: SegmentTally) -> SegmentTally:
        """Both together."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in (*_COUNTS, *_SECONDS)}
        both = [tally.regions for tally in (self, other) if tally.regions.size]
        sums["problem"] = self.problem or other.problem
        sums["ways"] = {
            way: self.ways.get(way, 0.0) + other.ways.get(way, 0.0) for way in {**self.ways, **other.ways}
        }
        sums["costs"] = self._costs(other) if self.costs and other.costs else self.costs or other.costs
        return SegmentTally(**sums, regions=np.concatenate(both, axis=1) if both else _no_regions())

    def _costs(self, other: SegmentTally) -> tuple[float, ...]:
        """Those of both, the more tuples the more they weigh."""
        weight = self.tuples / max(1, self.tuples + other.tuples)
        pairs = zip(self.costs, other.costs, strict=True)
        return tuple([weight * mine + (1 - weight) * theirs for mine, theirs in pairs])

    def as_json(self) -> dict[str, Any]:
        """As a document; regions are packed, since most of them are small."""
        content = zlib.compress(self.regions.tobytes(), 1)
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            **{name: round(getattr(self, name), 9) for name in _SECONDS},
            "ways": dict(self.ways),
            "costs": [float(f"{cost:.3g}") for cost in self.costs],
            "problem": self.problem,
            "regions": [len(self.regions), base64.b64encode(content).decode("ascii")],
        }

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> SegmentTally:
        """What `as_json` wrote.

        >>> one = SegmentTally(tuples=9, regions=np.array([[0, 4], [1, 1]], np.int32))
        >>> both = SegmentTally.of(one.as_json()).plus(one)
        >>> both.tuples, both.regions.tolist()
        (18, [[0, 4, 0, 4], [1, 1, 1, 1]])
        """
        subjects, text = found["regions"]
        regions = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.int32)
        values = {name: found[name] for name in (*_COUNTS, *_SECONDS, "ways", "problem")}
        return cls(
            **values,
            costs=tuple(found["costs"]),
            regions=regions.reshape(subjects, -1) if subjects else _no_regions(),
        )


def together(one: Mapping[str, SegmentTally], other: Mapping[str, SegmentTally]) -> dict[str, SegmentTally]:
    """The tallies of several segments, by name, added up."""
    both = dict(one)
    for name, tally in other.items():
        both[name] = both[name].plus(tally) if name in both else tally
    return both
