"""ASC-1, figure 6: ASCs visited under different orders, on three distributions.

Expected: MACS, SAS and MACSSAS visit fewer ASCs than ticket routing, MACSSAS by far fewer on D2 and D3; MACSSAS and ticket
lie between the best and the worst of 2,000 random orders, and MACSSAS is the nearest to the best on every data set.

20 attributes 0..99, 5,000,000 tuples, D1 uniform, D2 bell-shaped, D3 a pulse; 50 queries, 10 p-attributes, 204
predicates, one least cover set of 3. Orders are found on tuples from all parts of a data set and then kept; averages over
several query sets with these parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.experiments import orders, plots, sets
from bench.experiments.data import bell, pulse, uniform
from bench.experiments.query_sets import query_set
from bench.experiments.result import Claim, Result, Row, head_of, mean, percent, spread
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS = ("macs", "sas", "macssas")
NAMES = ("best of random", *OURS, "ticket", "worst of random")
DATA = ("D1", "D2", "D3")


def run(scale: Scale) -> Result:
    """The mean over query sets of the visits a tuple."""
    tuples, count = scale.tuples(5_000_000, 20_000), scale.steps(10, 10)
    rows: list[Row] = []
    for seed in range(1, count + 1):
        queries = query_set(sets.first(seed))
        for data in (uniform(tuples), bell(tuples), pulse(tuples)):
            found = orders.costs(queries, data, OURS)
            found["best of random"], found["worst of random"] = orders.random_extremes(
                queries, data, scale.steps(2_000, 2_000, least=50)
            )
            found["ticket"] = orders.ticket_cost(queries, data, scale.tuples(200_000, 5_000))
            rows += [
                {"data": data.name, "set": seed, "series": name, "visits": found[name]} for name in NAMES
            ]
    return Result(
        "asc-1-figure-6",
        *head_of(__doc__),
        {"tuples": tuples, "query sets": count},
        tuple(rows),
        _claims(rows),
    )


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    at = {data: {name: mean(rows, "visits", data=data, series=name) for name in NAMES} for data in DATA}
    claims = [
        Claim(
            f"{name} visits fewer than ticket",
            all(at[data][name] < at[data]["ticket"] for data in DATA),
            ", ".join(f"{data} {at[data][name]:.2f} to {at[data]['ticket']:.2f}" for data in DATA),
        )
        for name in OURS
    ]
    claims.append(
        Claim(
            "macssas gains more over ticket on D2 and D3 than on D1",
            all(_gain(at[data]) > _gain(at["D1"]) for data in ("D2", "D3")),
            ", ".join(f"{data} {_gain(at[data]):.2f}x" for data in DATA),
        )
    )
    between = [at[d]["best of random"] <= at[d]["ticket"] <= at[d]["worst of random"] for d in DATA]
    claims.append(
        Claim(
            "ticket lies between the best and the worst, macssas below the worst",
            all(between) and all(at[d]["macssas"] < at[d]["worst of random"] for d in DATA),
            ", ".join(f"{d} {at[d]['best of random']:.2f} to {at[d]['worst of random']:.2f}" for d in DATA),
        )
    )
    least = {d: min(at[d][name] for name in ("macs", "sas", "ticket")) for d in DATA}
    claims.append(
        Claim(
            "no other comes nearer to the best than macssas",
            all(at[d]["macssas"] <= 1.002 * least[d] for d in DATA),
            ", ".join(f"{d} {percent(at[d]['macssas'], at[d]['best of random'])} of it" for d in DATA),
        )
    )
    return tuple(claims)


def _gain(costs: dict[str, float]) -> float:
    return costs["ticket"] / costs["macssas"]


def plot(result: Result) -> Figure:
    """A group of bars for each data set."""
    figure, (axes,) = plots.picture()
    series = {
        name: [spread(result.rows, "visits", data=data, series=name) for data in DATA] for name in NAMES
    }
    plots.bars(axes, ("D1 uniform", "D2 bell-shaped", "D3 pulse"), series, "ASCs visited a tuple")
    axes.legend(fontsize=7, ncols=6, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    return figure
