"""CACQ, figure 6: tuples output over the number of queries (a) and of sources (b).

Expected: (a) one eddy for all queries outputs more and more tuples a second up to about 20 queries and keeps that rate to fifty
and beyond; with an eddy for each query the rate stops growing at five queries, at about half; (b) with twenty queries
over more sources somewhat fewer tuples are output.

Random queries: each field with chance 0.5, one of < > <= >=, a constant of 0..99; in (b) one predicate on a, sources in turn.
The paper's system is fully utilised only from 20 queries on; here eddies are given tuples as fast as they take them, so
that only what they do is seen. Medians of CPU time over several sets of queries, the rivals in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Final

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
OVER_SOURCES: Final = 20  # queries of (b)
SHARED, SEPARATE, BY_SOURCES = "one eddy", "an eddy a query", "one eddy, 20 queries"
Outcome = tuple[int, float]  # tuples output, seconds


def run(scale: Scale) -> Result:
    """Both halves."""
    batch, sets = scale.steps(2_000, 150), scale.steps(20, 3, 3)
    rows = [*_over_queries(batch, sets), *_over_sources(6 * batch, sets)]
    parameters: Row = {"tuples": batch, "tuples, all sources": 6 * batch, "sets of queries": sets}
    return Result("cacq-figure-6", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def plot(result: Result) -> Figure:
    """(a) and (b)."""
    figure, (left, right) = plots.picture(2)
    plots.lines(left, result, [SHARED, SEPARATE], "queries", "output a second")
    plots.lines(right, result, [BY_SOURCES], "sources", "output a second")
    left.legend(fontsize=8)
    for axes, title in (
        (left, "(a) queries over one source"),
        (right, "(b) 20 queries over several sources"),
    ):
        axes.set_title(title, fontsize=9)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("tuples output a second of CPU")
    return figure


def _over_queries(batch: int, sets: int) -> list[Row]:
    rows: list[Row] = []
    for count in QUERIES:
        found: dict[str, list[Outcome]] = {SHARED: [], SEPARATE: []}
        for seed in range(sets):
            rng = np.random.default_rng(seed)
            queries = compiled([random_where(rng) for _ in range(count)])
            for name, measured in ((SHARED, _shared), (SEPARATE, _separate)):
                found[name].append(measured(queries, batch, seed))
        assert [n for n, _ in found[SHARED]] == [n for n, _ in found[SEPARATE]], "both find the same"
        rows += [{"series": name, "queries": count, "output a second": _rate(f)} for name, f in found.items()]
    return rows


def _shared(queries: Sequence[NormalQuery], batch: int, seed: int) -> Outcome:
    """One eddy and one filter a field for all queries."""
    return flow(_eddy(queries), tuples(batch, seed))


def _separate(queries: Sequence[NormalQuery], batch: int, seed: int) -> Outcome:
    """Every query with an eddy and filters of its own."""
    outcomes = [flow(_eddy([query]), tuples(batch, seed)) for query in queries]
    return sum(found for found, _ in outcomes), sum(seconds for _, seconds in outcomes)


def _over_sources(batch: int, sets: int) -> list[Row]:
    rows: list[Row] = []
    for count in SOURCES:
        names = [f"S{place}" for place in range(count)]
        outcomes = []
        for seed in range(sets):
            rng = np.random.default_rng(seed)
            eddy = _eddy(compiled([random_where(rng, "a", 1.0) for _ in range(OVER_SOURCES)], names))
            each = [flow(eddy, tuples(batch // count, 100 * seed + i), name) for i, name in enumerate(names)]
            outcomes.append((sum(found for found, _ in each), sum(seconds for _, seconds in each)))
        rows.append({"series": BY_SOURCES, "sources": count, "output a second": _rate(outcomes)})
    return rows


def _eddy(queries: Sequence[NormalQuery]) -> Eddy:
    eddy = Eddy(TicketRouting(seed=1))
    for query in queries:
        eddy.add(query)
    return eddy


def _rate(outcomes: Sequence[Outcome]) -> float:
    return median(found / seconds for found, seconds in outcomes)


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    shared, separate = (_rates(rows, series, "queries") for series in (SHARED, SEPARATE))
    sources = _rates(rows, BY_SOURCES, "sources")
    return (
        Claim(
            "(a) one eddy outputs sharply more with more queries, up to 20",
            shared[20] > 2 * shared[1],
            f"{shared[1]:,.0f} with 1, {shared[20]:,.0f} with 20",
        ),
        Claim(
            "(a) and from there on stays at that rate, within a quarter",
            max(shared[50], shared[100], shared[20]) <= 1.25 * min(shared[50], shared[100], shared[20]),
            f"{shared[50]:,.0f} with 50, {shared[100]:,.0f} with 100",
        ),
        Claim(
            "(a) an eddy for each query stops growing at about five queries",
            separate[100] <= 1.25 * separate[5],
            f"{separate[5]:,.0f} with 5, {separate[100]:,.0f} with 100",
        ),
        Claim(
            "(a) at half the rate or less",
            separate[50] <= 0.5 * shared[50],
            f"{separate[50] / shared[50]:.2f} of it with 50",
        ),
        Claim(
            "(b) more sources, fewer tuples output",
            sources[10] < sources[1],
            f"{sources[1]:,.0f} with 1, {sources[10]:,.0f} with 10",
        ),
        Claim(
            "(b) but only somewhat: with ten sources at least half",
            sources[10] >= 0.5 * sources[1],
            f"{sources[10] / sources[1]:.2f}; a tuple of one of ten sources meets a tenth of the queries",
        ),
    )


def _rates(rows: list[Row], series: str, by: str) -> dict[int, float]:
    return {row[by]: row["output a second"] for row in rows if row["series"] == series}
