"""CACQ, figure 6: tuples output over the number of queries (a) and of sources (b).

Expected: (a) one eddy for all queries outputs more and more tuples a second up to about 20 queries, where it is fully utilised,
and keeps that rate to fifty and beyond; with an eddy for each query the rate stops growing at five queries, at about
half; (b) with twenty queries over more sources somewhat fewer tuples are output.

Random queries: each field with chance 0.5, one of < > <= >=, a constant of 0..99; in (b) one predicate on a, sources in turn.
The paper does not say how many tuples a second its source sends. Ours sends as many as one eddy can take with 20 queries,
which is what "fully utilised at 20" means; all else follows from the CPU time that a tuple takes, measured over several
sets of queries, the rivals in turn. In (b) every source sends as many as one eddy with 20 queries takes from one.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from bench.experiments import plots
from bench.experiments.cacq_source import compiled, flow, random_where, tuples
from bench.experiments.result import Claim, Result, Row, head_of
from bench.experiments.scale import Scale
from eddyline.execute.eddy import Eddy, TicketRouting
from eddyline.model.query import NormalQuery

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUERIES: Final = (1, 2, 5, 10, 20, 35, 50, 75, 100)
SOURCES: Final = (1, 2, 3, 4, 6, 8, 10)
UTILISED: Final = 20  # queries that fully utilise the paper's system, and those of (b)
SHARED, SEPARATE, BY_SOURCES = "one eddy", "an eddy a query", "one eddy, 20 queries"
ALL_FIELDS: Final = 5  # queries from which on there is, mostly, a filter for each field
Outcome = tuple[int, float]  # tuples output, seconds


class Line(NamedTuple):
    """What a tuple takes by the number of queries, in microseconds: without any, and for each."""

    fixed: float
    each: float

    def __str__(self) -> str:
        worth = f"the fixed part is worth {self.fixed / self.each:.0f} queries"
        return f"a tuple takes {self.fixed:.0f} us and {self.each:.1f} us for each query: {worth}"


def run(scale: Scale) -> Result:
    """Both halves."""
    batch, sets = scale.steps(2_000, 150), scale.steps(20, 5, 3)
    rows = [*_over_queries(batch, sets), *_over_sources(6 * batch, sets)]
    deliver(rows, "queries", UTILISED, (SHARED, SEPARATE))
    deliver(rows, "sources", 1, (BY_SOURCES,))
    parameters: Row = {"tuples": batch, "tuples, all sources": 6 * batch, "sets of queries": sets}
    return Result("cacq-figure-6", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def plot(result: Result) -> Figure:
    """(a) and (b)."""
    figure, (left, right) = plots.picture(2)
    plots.lines(left, result, [SHARED, SEPARATE], "queries", "output a second")
    plots.lines(right, result, [BY_SOURCES], "sources", "output a second")
    left.axvline(UTILISED, color="#777777", linestyle=":", label="fully utilised (one eddy)")
    left.legend(fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 0.13))
    for axes, title in (
        (left, "(a) queries over one source"),
        (right, "(b) 20 queries over several sources"),
    ):
        axes.set_title(title, fontsize=9)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("tuples output a second")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.tick_params(labelsize=8)
    return figure


def _over_queries(batch: int, sets: int) -> list[Row]:
    rows: list[Row] = []
    for count in QUERIES:
        for seed in range(sets):
            rng = np.random.default_rng(seed)
            queries = compiled([random_where(rng) for _ in range(count)])
            shared, separate = _shared(queries, batch, seed), _separate(queries, batch, seed)
            assert shared[0] == separate[0], "both find the same"
            rows.append({"series": SHARED, "queries": count, "set": seed, **_a_tuple(shared, batch)})
            rows.append({"series": SEPARATE, "queries": count, "set": seed, **_a_tuple(separate, batch)})
    return rows


def _shared(queries: Sequence[NormalQuery], batch: int, seed: int) -> Outcome:
    """One eddy and one filter a field for all queries."""
    return flow(_eddy(queries), tuples(batch, seed))


def _separate(queries: Sequence[NormalQuery], batch: int, seed: int) -> Outcome:
    """Every query with an eddy and filters of its own."""
    return _sum([flow(_eddy([query]), tuples(batch, seed)) for query in queries])


def _over_sources(batch: int, sets: int) -> list[Row]:
    rows: list[Row] = []
    for count in SOURCES:
        names = [f"S{place}" for place in range(count)]
        for seed in range(sets):
            rng = np.random.default_rng(seed)
            eddy = _eddy(compiled([random_where(rng, "a", 1.0) for _ in range(UTILISED)], names))
            share = batch // count
            found = _sum([flow(eddy, tuples(share, 100 * seed + i), name) for i, name in enumerate(names)])
            rows.append(
                {"series": BY_SOURCES, "sources": count, "set": seed, **_a_tuple(found, share * count)}
            )
    return rows


def _eddy(queries: Sequence[NormalQuery]) -> Eddy:
    eddy = Eddy(TicketRouting(seed=1))
    for query in queries:
        eddy.add(query)
    return eddy


def _sum(outcomes: Sequence[Outcome]) -> Outcome:
    return sum(found for found, _ in outcomes), sum(seconds for _, seconds in outcomes)


def _a_tuple(outcome: Outcome, batch: int) -> Row:
    found, seconds = outcome
    return {"microseconds a tuple": 1e6 * seconds / batch, "output a tuple": found / batch}


def deliver(rows: list[Row], by: str, utilised: int, names: Sequence[str]) -> None:
    """Add what is output a second, where each source sends as much as utilises the first of some series fully.

    Tuples that cannot be taken are not waited for: the eddy works all the time and no more.
    """
    own = [row for row in rows if row["series"] in names]
    sent = 1 / _medians(own, names[0], by, "microseconds a tuple")[utilised]
    for row in own:
        taken = min(sent * row.get("sources", 1), 1 / row["microseconds a tuple"])
        row["output a second"] = 1e6 * taken * row["output a tuple"]


def _medians(rows: Sequence[Row], series: str, by: str, of: str) -> dict[int, float]:
    found: dict[int, list[float]] = {}
    for row in rows:
        if row["series"] == series:
            found.setdefault(row[by], []).append(row[of])
    return {at: median(values) for at, values in found.items()}


def _line(times: Sequence[tuple[float, float]]) -> Line:
    """The line through times by the number of queries, errors counted as shares."""
    counts, values = np.array(times).T
    each, fixed = np.polyfit(counts, values, 1, w=1 / values)
    return Line(float(fixed), float(each))


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    shared, separate = (_medians(rows, name, "queries", "output a second") for name in (SHARED, SEPARATE))
    times, alone = (_medians(rows, name, "queries", "microseconds a tuple") for name in (SHARED, SEPARATE))
    sources = _medians(rows, BY_SOURCES, "sources", "output a second")
    by_sources = _medians(rows, BY_SOURCES, "sources", "microseconds a tuple")
    line = _line([(count, time) for count, time in times.items() if count >= ALL_FIELDS])
    few = _line([(UTILISED / count, time) for count, time in by_sources.items()])
    utilised = times[UTILISED] / (alone[UTILISED] / UTILISED)
    return (
        Claim(
            "(a) one eddy outputs sharply more with more queries, up to 20",
            shared[20] > 2 * shared[5] > 4 * shared[1],
            f"{shared[1]:,.0f} with 1, {shared[5]:,.0f} with 5, {shared[20]:,.0f} with 20",
        ),
        Claim(
            "(a) it keeps at least that rate to fifty and beyond",
            min(shared[50], shared[100]) >= 0.9 * shared[20],
            f"{shared[50]:,.0f} with 50, {shared[100]:,.0f} with 100",
        ),
        Claim(
            "(a) but does not grow on: at most a quarter more with 50",
            shared[50] <= 1.25 * shared[20],
            f"{shared[50] / shared[20]:.2f} times; {line}",
        ),
        Claim(
            "(a) an eddy for each query stops growing at about five queries (3 to 8)",
            3 <= utilised <= 8,
            f"at {utilised:.1f}, as one query alone takes {alone[UTILISED] / UTILISED:.0f} us",
        ),
        Claim(
            "(a) at half the rate or less",
            separate[50] <= 0.5 * shared[50],
            f"{separate[20] / shared[20]:.2f} of it with 20, {separate[50] / shared[50]:.2f} with 50",
        ),
        Claim(
            "(b) more sources, fewer tuples output",
            sources[10] < sources[1],
            f"{sources[1]:,.0f} with 1, {sources[10]:,.0f} with 10",
        ),
        Claim(
            "(b) but only somewhat: with ten sources at least half",
            sources[10] >= 0.5 * sources[1],
            f"{sources[10] / sources[1]:.2f}; {few}",
        ),
    )
