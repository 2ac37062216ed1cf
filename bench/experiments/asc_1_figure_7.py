"""ASC-1, figure 7: ASCs visited under different orders, on census data (here: a stand-in for it).

Expected: as in figure 6: MACSSAS comes near the best of 2,000 random orders; ticket routing lies between best and worst.

The paper takes 1,000,000 tuples of the US Census 1990; those here are made up (`census.py`), with columns as skewed and as
dependent. 30 queries, 7 p-attributes, 104 predicates, two least cover sets of 2. Averages over several query sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.experiments import orders, plots, sets
from bench.experiments.census import census
from bench.experiments.query_sets import query_set
from bench.experiments.result import Claim, Result, Row, each, head_of, mean, percent
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("best of random", "macssas", "ticket", "worst of random")


def run(scale: Scale) -> Result:
    """The mean over query sets of the visits a tuple."""
    data, count = census(scale.tuples(1_000_000, 20_000)), scale.steps(7, 5)
    rows: list[Row] = []
    for seed in range(1, count + 1):
        queries = query_set(sets.on_census(seed))
        found = orders.costs(queries, data, ("macssas",))
        found["best of random"], found["worst of random"] = orders.random_extremes(
            queries, data, scale.steps(2_000, 2_000, least=50)
        )
        found["ticket"] = orders.ticket_cost(queries, data, scale.tuples(200_000, 5_000))
        rows += [{"set": seed, "series": name, "visits": found[name]} for name in NAMES]
    at = {name: mean(rows, "visits", series=name) for name in NAMES}
    best, worst = at["best of random"], at["worst of random"]
    claims = (
        Claim("macssas is within 10% of the best", at["macssas"] <= 1.1 * best, percent(at["macssas"], best)),
        Claim(
            "ticket is above macssas, below the worst",
            at["macssas"] < at["ticket"] < worst,
            each(list(at.items())),
        ),
    )
    parameters = {"tuples": data.tuples, "query sets": count, "data": "made up, in place of the census"}
    return Result("asc-1-figure-7", *head_of(__doc__), parameters, tuple(rows), claims)


def plot(result: Result) -> Figure:
    """One group of bars for each query set."""
    figure, (axes,) = plots.picture()
    seeds = sorted({row["set"] for row in result.rows})
    series = {
        name: [mean(result.rows, "visits", set=seed, series=name) for seed in seeds]
        + [mean(result.rows, "visits", series=name)]
        for name in NAMES
    }
    plots.bars(axes, [*(f"query set {seed}" for seed in seeds), "mean"], series, "ASCs visited a tuple")
    axes.legend(fontsize=7, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    return figure
