"""Times of DISJ's algorithms: every query with every stream, the same pairs for all, and the same answer where it is exact.

Indexes are built before, as streams have theirs when a query comes. A pair that needs more comparisons than `LIMIT` is given up
and counted as a time-out; its time so far is in the mean.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from bench.baselines.box_trees import RStarTree, RTree
from bench.experiments.disj_predicates import Shape, queries, streams
from bench.experiments.result import Row
from bench.experiments.scale import Scale
from eddyline.implication.box_index import BoxIndex, PrefixBitmaps
from eddyline.implication.boxes import Predicate
from eddyline.implication.complex_relaxation import complex_relaxation
from eddyline.implication.exact_matching import BREADTH_FIRST, DEPTH_FIRST, MIXED, Strategy, exact_matching
from eddyline.implication.matching import Matching, Stream, TooMuchWork, Work
from eddyline.implication.simple_relaxation import simple_relaxation

LIMIT: Final = 200_000
TIME: Final = "ms a pair"
Match = Callable[[Stream, Predicate, Work], Matching]
Build = Callable[[Predicate], BoxIndex]


@dataclass(frozen=True)
class Algorithm:
    """A way of matching, always with the quick check, and the index it is given."""

    match: Match
    build: Build | None = None
    exact: bool = False


def _exact(strategy: Strategy, build: Build | None = None) -> Algorithm:
    def match(stream: Stream, query: Predicate, work: Work) -> Matching:
        return exact_matching(stream, query, strategy, work)

    return Algorithm(match, build, exact=True)


ALGORITHMS: Final[dict[str, Algorithm]] = {
    "HSR": Algorithm(simple_relaxation),
    "HCR": Algorithm(complex_relaxation),
    "HCR, bitmaps": Algorithm(complex_relaxation, PrefixBitmaps),
} | {
    f"{strategy.name}{suffix}": _exact(strategy, build)
    for strategy in (BREADTH_FIRST, DEPTH_FIRST, MIXED)
    for suffix, build in {
        "": None,
        ", R-tree": RTree,
        ", R*-tree": RStarTree,
        ", bitmaps": PrefixBitmaps,
    }.items()
}


def pairs(scale: Scale) -> tuple[int, int]:
    """How many queries and streams; the paper has 60 and 20."""
    return scale.steps(60, 8, least=2), scale.steps(20, 4, least=2)


def measured(names: Iterable[str], shape: Shape, scale: Scale) -> list[Row]:
    """A row for each algorithm over the same pairs, in turns: what disturbs one of them disturbs all."""
    count, many = pairs(scale)
    asked, predicates = queries(shape, count), streams(shape, many)
    runs = {name: _Run(ALGORITHMS[name]) for name in names}
    for predicate in predicates:
        for run in runs.values():
            run.take(predicate)
        for query in asked:
            answers = {run.match(query) for run in runs.values()} - {None}
            assert len(answers) <= 1, "all exact algorithms agree"
    return [{"series": name, **run.row()} for name, run in runs.items()]


class _Run:
    def __init__(self, algorithm: Algorithm) -> None:
        self._algorithm = algorithm
        self._stream: Stream
        self._times: list[float] = []
        self._live = self._comparisons = self._given_up = 0

    def take(self, predicate: Predicate) -> None:
        """The next stream, with its index."""
        build = self._algorithm.build
        self._stream = Stream(predicate, build(predicate) if build else None)

    def match(self, query: Predicate) -> bool | None:
        """Whether the query is matched, if this is decided exactly."""
        work, found = Work(LIMIT), None
        start = time.process_time()
        try:
            found = self._algorithm.match(self._stream, query, work).matched
        except TooMuchWork:
            self._given_up += 1
        self._times.append(1e3 * (time.process_time() - start))
        self._live = max(self._live, work.live)
        self._comparisons += work.comparisons
        return found if self._algorithm.exact else None

    def row(self) -> Row:
        ordered = sorted(self._times)
        return {
            TIME: statistics.mean(ordered),
            "median": statistics.median(ordered),
            "95th percentile": ordered[int(0.95 * (len(ordered) - 1))],
            "comparisons a pair": self._comparisons / len(ordered),
            "most parts alive": self._live,
            "time-outs": self._given_up,
        }


def swept(
    names: Iterable[str], shapes: Mapping[int, Shape], scale: Scale, by: str, **more: object
) -> list[Row]:
    """The rows of several shapes, by what is varied."""
    measure = partial(measured, list(names), scale=scale)
    return [{by: at, **more, **row} for at, shape in shapes.items() for row in measure(shape)]
