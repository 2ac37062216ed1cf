"""ASC-2, figure 6: ASCs visited by macro- and hybrid-sequences, on three data sets.

Expected: macro and hybrid visit fewer ASCs than ticket routing and come near the best fixed order on all data sets; hybrid
visits fewer than the best fixed order on D2 and D3.

Q1 (50 queries, 204 predicates, 10 p-attributes, deviation 0.08) on D1 uniform and D2 bell-shaped, 500,000 tuples; Q2 (50,
173, 15, 0.2) on D3, 1,000,000 tuples of the US Census, here a stand-in (`census.py`). Lambda = 10,000, mu = 0. Averages
over several query sets. `hybrid` is ours, which lets go of arrows that save no visits. Beside the paper also the pulse, which is ASC-1's D3, with Q1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.experiments import plots, rearranged, sets
from bench.experiments.census import census
from bench.experiments.data import bell, pulse, uniform
from bench.experiments.query_sets import query_set
from bench.experiments.result import Claim, Result, Row, head_of, mean, percent
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA = ("D1", "D2", "census-like", "pulse")
PLAIN = "hybrid, the paper's arrows"
NAMES = (*rearranged.NAMES[:-1], PLAIN, rearranged.NAMES[-1])


def run(scale: Scale) -> Result:
    """The mean over query sets of the visits a tuple."""
    tuples, many, count = scale.tuples(500_000, 60_000), scale.tuples(1_000_000, 60_000), scale.steps(7, 3)
    rows: list[Row] = []
    deviations: dict[str, list[float]] = {"Q1": [], "Q2": []}
    for seed in range(1, count + 1):
        one, two = query_set(sets.first(seed)), query_set(sets.second(seed))
        deviations["Q1"].append(one.deviation)
        deviations["Q2"].append(two.deviation)
        streams = zip(
            DATA,
            (one, one, two, one),
            (uniform(tuples), bell(tuples), census(many), pulse(tuples)),
            strict=True,
        )
        for name, queries, data in streams:
            found = rearranged.costs(queries, data, scale)
            found[PLAIN] = rearranged.adapted_as_in_the_paper(queries, data, scale).cost
            rows += [{"data": name, "set": seed, "series": each, "visits": found[each]} for each in NAMES]
    parameters: Row = {"tuples": tuples, "query sets": count, "deviations": deviations}
    return Result("asc-2-figure-6", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    at = {data: {name: mean(rows, "visits", data=data, series=name) for name in NAMES} for data in DATA}

    def against(name: str, data: tuple[str, ...] = DATA) -> str:
        return ", ".join(f"{d} {percent(at[d][name], at[d]['SEQ best'])}" for d in data)

    return (
        Claim(
            "macro and hybrid visit fewer than ticket",
            all(at[data][name] < at[data]["ticket"] for data in DATA for name in ("macro", "hybrid")),
            ", ".join(
                f"{d} {at[d]['macro']:.2f}, {at[d]['hybrid']:.2f} to {at[d]['ticket']:.2f}" for d in DATA
            ),
        ),
        Claim(
            "macro is within 5% of the best fixed order",
            all(at[data]["macro"] <= 1.05 * at[data]["SEQ best"] for data in DATA),
            against("macro"),
        ),
        Claim(
            "hybrid is within 5% of the best fixed order",
            all(at[data]["hybrid"] <= 1.05 * at[data]["SEQ best"] for data in DATA),
            against("hybrid"),
        ),
        Claim(
            "hybrid visits no more than the best fixed order on D2 and census-like data",
            all(at[data]["hybrid"] <= at[data]["SEQ best"] for data in ("D2", "census-like")),
            f"{against('hybrid', ('D2', 'census-like'))}; with the paper's arrows alone {against(PLAIN, ('D2', 'census-like'))}",
        ),
    )


def plot(result: Result) -> Figure:
    """A group of bars for each data set."""
    figure, (axes,) = plots.picture()
    series = {name: [mean(result.rows, "visits", data=data, series=name) for data in DATA] for name in NAMES}
    groups = ("D1 uniform, Q1", "D2 bell-shaped, Q1", "D3 census-like, Q2", "pulse, Q1")
    plots.bars(axes, groups, series, "ASCs visited a tuple")
    axes.legend(fontsize=7, ncols=6, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    return figure
