"""The order in which a tuple visits the subjects, and what was counted on the way."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arrow:
    """A micro-arrow (ASC-2): from one region of a subject to the subject that is visited next."""

    subject: int
    region: int
    to: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """The macro-sequence, by numbers of subjects, and for hybrid sequences the micro-arrows of single regions.

    Invariant: no subject twice.

    >>> print(Sequence((1, 0, 2)))
    1 -> 0 -> 2
    """

    subjects: tuple[int, ...]
    arrows: tuple[Arrow, ...] = ()

    def __post_init__(self) -> None:
        assert len(set(self.subjects)) == len(self.subjects), "a subject is visited once"

    def __len__(self) -> int:
        return len(self.subjects)

    def __str__(self) -> str:
        macro = " -> ".join(map(str, self.subjects))
        micro = [f"{arrow.subject}[{arrow.region}] -> {arrow.to}" for arrow in self.arrows]
        return "; ".join([macro, *micro])


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
