"""ASC-2, figure 6: ASCs visited by macro- and hybrid-sequences, on three data sets.

Expected: macro and hybrid visit fewer ASCs than ticket routing and come near the best fixed order on all data sets; hybrid
visits fewer than the best fixed order on D2 and D3.

Q1 (50 queries, 204 predicates, 10 p-attributes, deviation 0.08) on D1 uniform and D2 bell-shaped, 500,000 tuples; Q2 (50,
173, 15, 0.2) on D3, 1,000,000 tuples of the US Census, here a stand-in (`census.py`). Lambda = 10,000, mu = 0. Ten query
sets, in short runs five. Beside the paper also the pulse, which is ASC-1's D3, with Q1: it is longer than the others in short
runs, since lambda is not shortened. The first 10,000 tuples are a warm-up; the best fixed order knows all the others before
they come. `macro` and `hybrid` are ours (see `order/strategies/macro.py`, `order/strategies/hybrid.py`), the paper's are shown beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.experiments import plots, rearranged, sets
from bench.experiments.census import census
from bench.experiments.data import bell, pulse, uniform
from bench.experiments.query_sets import query_set
from bench.experiments.rearranged import PLAIN
from bench.experiments.result import Claim, Result, Row, head_of, percent, spread
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA = ("D1", "D2", "census-like", "pulse")
BELOW = ("D2", "pulse", "census-like")  # where hybrid is to visit no more than the best fixed order
NAMES = ("SEQ worst", "ticket", PLAIN["macro"], "macro", PLAIN["hybrid"], "hybrid", "SEQ best")


def run(scale: Scale) -> Result:
    """The visits a tuple by data and query set."""
    tuples, many, count = scale.tuples(500_000, 40_000), scale.tuples(1_000_000, 40_000), scale.steps(10, 5)
    switching = scale.tuples(500_000, 150_000)
    rows: list[Row] = []
    deviations: dict[str, list[float]] = {"Q1": [], "Q2": []}
    for seed in range(1, count + 1):
        one, two = query_set(sets.first(seed)), query_set(sets.second(seed))
        deviations["Q1"].append(one.deviation)
        deviations["Q2"].append(two.deviation)
        streams = zip(
            DATA,
            (one, one, two, one),
            (uniform(tuples), bell(tuples), census(many), pulse(switching)),
            strict=True,
        )
        for name, queries, data in streams:
            found = rearranged.costs(queries, data, scale)
            for strategy, plain in PLAIN.items():
                found[plain] = rearranged.adapted_as_in_the_paper(queries, data, scale, strategy).cost
            rows += [{"data": name, "set": seed, "series": each, "visits": found[each]} for each in NAMES]
    parameters: Row = {"tuples": tuples, "query sets": count, "deviations": deviations}
    parameters |= {"tuples of the pulse": switching, "tuples of the census": many}
    return Result("asc-2-figure-6", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    above = {(data, name): over_best(rows, data, name) for data in DATA for name in NAMES}
    sets_tried = len(above[DATA[0], "macro"])

    def against(name: str, data: tuple[str, ...] = DATA) -> str:
        return ", ".join(
            f"{each} {_mean(above[each, name])} ({_least(above[each, name])} to {_most(above[each, name])})"
            for each in data
        )

    return (
        Claim(
            f"macro and hybrid visit fewer than ticket, on each of {sets_tried} query sets",
            all(
                mine < chance
                for data in DATA
                for name in ("macro", "hybrid")
                for mine, chance in zip(above[data, name], above[data, "ticket"], strict=True)
            ),
            f"ticket {against('ticket')}",
        ),
        Claim(
            "macro is within 5% of the best fixed order, on each",
            all(max(above[data, "macro"]) <= 0.05 for data in DATA),
            f"{against('macro')}; the paper's {against(PLAIN['macro'])}",
        ),
        Claim(
            "hybrid visits no more than the best fixed order on D2, the pulse and census-like data, on each",
            all(max(above[data, "hybrid"]) <= 0 for data in BELOW),
            f"{against('hybrid')}; with the paper's arrows alone {against(PLAIN['hybrid'])}",
        ),
    )


def over_best(rows: list[Row], data: str, name: str) -> list[float]:
    """By query set how far a scheme is above the best fixed order."""
    chosen = {(row["set"], row["series"]): row["visits"] for row in rows if row["data"] == data}
    seeds = sorted({seed for seed, _ in chosen})
    return [chosen[seed, name] / chosen[seed, "SEQ best"] - 1 for seed in seeds]


def _mean(values: list[float]) -> str:
    return percent(1 + sum(values) / len(values), 1)


def _least(values: list[float]) -> str:
    return percent(1 + min(values), 1)


def _most(values: list[float]) -> str:
    return percent(1 + max(values), 1)


def plot(result: Result) -> Figure:
    """A group of bars for each data set."""
    figure, (axes,) = plots.picture()
    series = {
        name: [spread(result.rows, "visits", data=data, series=name) for data in DATA] for name in NAMES
    }
    groups = ("D1 uniform, Q1", "D2 bell-shaped, Q1", "D3 census-like, Q2", "pulse, Q1")
    plots.bars(axes, groups, series, "ASCs visited a tuple")
    axes.legend(fontsize=7, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    return figure
