"""Times of DISJ's algorithms: every query with every stream, the same pairs for all, and the same answer where it is exact.

Indexes are built before, as streams have theirs when a query comes. An algorithm matches all queries with a stream before the
next one does: if others ran between two queries, times of a few microseconds would be those of filling caches again. A pair
that needs more comparisons than `LIMIT` is given up and counted as a time-out; its time so far is in the mean.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from bench.baselines.box_trees import STRATEGIES as TREE_STRATEGIES
from bench.baselines.box_trees import RStarTree, RTree
from bench.experiments import plots
from bench.experiments.disj_predicates import Shape, queries, streams
from bench.experiments.result import Result, Row, mean
from bench.experiments.scale import Scale
from eddyline.implication.box_index import BoxIndex, PrefixBitmaps
from eddyline.implication.boxes import Predicate
from eddyline.implication.complex_relaxation import complex_relaxation
from eddyline.implication.exact_matching import STRATEGIES, Strategy, exact_matching
from eddyline.implication.matching import Matching, Stream, TooMuchWork, Work
from eddyline.implication.simple_relaxation import simple_relaxation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIMIT: Final = 200_000
TIME: Final = "ms a pair"
Match = Callable[[Stream, Predicate, Work], Matching]
Build = Callable[[Predicate], BoxIndex[Any]]


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
    for suffix, build, strategies in (
        ("", None, STRATEGIES),
        (", bitmaps", PrefixBitmaps, STRATEGIES),
        (", R-tree", RTree, TREE_STRATEGIES),
        (", R*-tree", RStarTree, TREE_STRATEGIES),
    )
    for strategy in strategies
}


def pairs(scale: Scale) -> tuple[int, int]:
    """How many queries and streams; the paper has 60 and 20."""
    return scale.steps(60, 8, least=2), scale.steps(20, 4, least=2)


def measured(names: Iterable[str], shape: Shape, scale: Scale) -> list[Row]:
    """A row for each algorithm over the same pairs, in turns for each stream: what disturbs one of them disturbs all."""
    count, many = pairs(scale)
    asked, predicates = queries(shape, count), streams(shape, many)
    runs = {name: _Run(ALGORITHMS[name]) for name in names}
    for predicate in predicates:
        answers = [run.match(predicate, asked) for run in runs.values()]
        for found in zip(*answers, strict=True):
            assert len({*found} - {None}) <= 1, "all exact algorithms agree"
    return [{"series": name, **run.row()} for name, run in runs.items()]


class _Run:
    def __init__(self, algorithm: Algorithm) -> None:
        self._algorithm = algorithm
        self._times: list[float] = []
        self._live = self._comparisons = self._given_up = 0

    def match(self, predicate: Predicate, asked: Sequence[Predicate]) -> list[bool | None]:
        """Which queries a stream matches, where this is decided exactly."""
        build = self._algorithm.build
        stream = Stream(predicate, build(predicate) if build else None)
        return [self._match(stream, query) for query in asked]

    def _match(self, stream: Stream, query: Predicate) -> bool | None:
        work, found = Work(LIMIT), None
        start = time.process_time()
        try:
            found = self._algorithm.match(stream, query, work).matched
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


SWEEPS: Final[dict[str, tuple[str, tuple[int, ...], int]]] = {
    "dimensions": ("dimensions", (2, 4, 6, 8), 6),
    "boxes of the query": ("query_boxes", (1, 2, 4, 6), 2),
    "boxes of the stream": ("stream_boxes", (5, 10, 20, 30), 20),
}  # by panel: what is varied, its values, and the paper's default


def sweeps(names: Iterable[str], shape: Shape, scale: Scale, **more: object) -> list[Row]:
    """The rows of the paper's three sweeps, each away from its defaults."""
    chosen = list(names)
    return [
        {"panel": panel, "at": value, **more, **row}
        for panel, (varied, values, _) in SWEEPS.items()
        for value in values
        for row in measured(chosen, replace(shape, **{varied: value}), scale)
    ]


@dataclass(frozen=True)
class Gains:
    """How many times quicker one algorithm is than another, by panel and value."""

    times: dict[str, dict[int, float]]

    @property
    def by_default(self) -> float:
        """With the paper's defaults, which each panel measures once: the median."""
        return statistics.median([self.times[panel][default] for panel, (_, _, default) in SWEEPS.items()])

    @property
    def least_at_the_ends(self) -> float:
        """The least of those at the largest value of each panel."""
        return min(list(times.values())[-1] for times in self.times.values())

    @property
    def least_with_20_boxes(self) -> float:
        """The least of those with a stream of 20 boxes, whatever else is varied."""
        return min(
            gain
            for panel, times in self.times.items()
            for value, gain in times.items()
            if panel != "boxes of the stream" or value == 20
        )

    def __str__(self) -> str:
        ends = [
            f"{list(times)[-1]} {panel} {list(times.values())[-1]:.3g}" for panel, times in self.times.items()
        ]
        return f"by default {self.by_default:.3g} times, {', '.join(ends)}"


def gains(rows: Sequence[Row], slow: str, quick: str) -> Gains:
    """What the second algorithm gains over the first."""
    found: dict[str, dict[int, float]] = {}
    for panel, (_, values, _) in SWEEPS.items():
        at = {value: {"panel": panel, "at": value} for value in values}
        found[panel] = {
            value: mean(rows, TIME, series=slow, **where) / mean(rows, TIME, series=quick, **where)
            for value, where in at.items()
        }
    return Gains(found)


def draw(result: Result, names: Mapping[str, Sequence[str]], by: str) -> Figure:
    """The three sweeps beside each other, a row for each value of a column, with the series it has."""
    figure, panels = plots.grid(len(names), len(SWEEPS))
    places = [(value, panel) for value in names for panel in SWEEPS]
    for axes, (value, panel) in zip(panels, places, strict=True):
        plots.lines(axes, result.only(panel=panel, **{by: value}), names[value], "at", TIME)
        axes.set_yscale("log")
        axes.set_title(value, fontsize=8)
        axes.set_xlabel(panel)
    for axes in panels[:: len(SWEEPS)]:
        axes.legend(fontsize=6)
    return figure
