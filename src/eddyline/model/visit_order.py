"""The order in which a tuple visits the subjects, and what was counted on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from eddyline.model.asc import ASC, covered, subject_text


@dataclass(frozen=True, slots=True)
class Arrow:
    """A micro-arrow (ASC-2): from one region of a subject to the subject that is visited next."""

    subject: int
    region: int
    to: int


@dataclass(frozen=True, slots=True)
class VisitOrder:
    """The macro-sequence, by numbers of subjects, and for hybrid sequences the micro-arrows of single regions.

    A tuple follows the micro-arrow of the region it is in if that leads to a subject not visited yet, else it goes to the
    first subject of the macro-sequence that is not visited yet. ASC-2's GEB is the set of visited subjects.

    Invariant: no subject twice, at most one arrow from a region, arrows lead from subjects to other subjects.

    >>> print(VisitOrder((1, 0, 2)))
    1 -> 0 -> 2
    """

    subjects: tuple[int, ...]
    arrows: tuple[Arrow, ...] = ()

    def __post_init__(self) -> None:
        known = set(self.subjects)
        assert len(known) == len(self.subjects), "a subject is visited once"
        if self.arrows:
            assert len(self.targets) == len(self.arrows), "a region has one arrow"
            ends = {end for arrow in self.arrows for end in (arrow.subject, arrow.to)}
            assert ends <= known and all(arrow.subject != arrow.to for arrow in self.arrows), "arrows lead on"

    def __len__(self) -> int:
        return len(self.subjects)

    def __str__(self) -> str:
        macro = " -> ".join(map(str, self.subjects))
        micro = [f"{arrow.subject}[{arrow.region}] -> {arrow.to}" for arrow in self.arrows]
        return "; ".join([macro, *micro])

    @property
    def targets(self) -> dict[tuple[int, int], int]:
        """The micro-arrows as a map: subject and region to the subject visited next."""
        return {(arrow.subject, arrow.region): arrow.to for arrow in self.arrows}

    def explain(self, ascs: Sequence[ASC], *, max_arrows: int = 40) -> str:
        """The order by names, up to where tuples can be dropped and beyond, and the arrows by their regions."""
        names = [subject_text(asc.subject) for asc in ascs]
        lines = ["order: " + (" -> ".join(names[subject] for subject in self.subjects) or "no subjects")]
        first = self.cover(ascs)
        if first is not None:
            lines.append(f"  tuples are dropped from {names[self.subjects[first - 1]]} on")
        elif self.subjects:
            lines.append("  no tuple is dropped: some query has no condition on these subjects")
        for arrow in self.arrows[:max_arrows]:
            region = ascs[arrow.subject].name(arrow.region)
            lines.append(f"  {names[arrow.subject]} in {region} -> {names[arrow.to]}")
        if len(self.arrows) > max_arrows:
            lines.append(f"  and {len(self.arrows) - max_arrows} more micro-arrows")
        return "\n".join(lines)

    def cover(self, ascs: Sequence[ASC]) -> int | None:
        """How many subjects of the macro-sequence are a cover set, so that tuples can be dropped; None if never."""
        chosen = [ascs[subject] for subject in self.subjects]
        if not covered(chosen):
            return None
        # In one pass: there may be thousands of subjects.
        used = list(accumulate((asc.qub for asc in chosen), np.bitwise_or))
        return 1 + next(place for place, queries in enumerate(used) if (queries == used[-1]).all())


@dataclass(frozen=True, slots=True)
class Counters:
    """What a sequence did to a batch: `survivors[p]` tuples went on, or matched, after its position p.

    >>> counters = Counters(tuples=3, visited=10, dropped=2, survivors=(3, 3, 1, 1))
    >>> counters.visited_each, counters.dropping_ratio
    (3.3333333333333335, 0.6666666666666666)
    """

    tuples: int
    visited: int
    dropped: int
    survivors: tuple[int, ...]

    @property
    def visited_each(self) -> float:
        """ASCs visited by a tuple on average: the papers' measure of cost."""
        return self.visited / self.tuples if self.tuples else 0.0

    @property
    def dropping_ratio(self) -> float:
        """Share of tuples that matched nothing: ASC-2's d."""
        return self.dropped / self.tuples if self.tuples else 0.0
