"""ASC-1, figure 9: rearrangement under several thresholds mu, D1 and D2 in turn.

Expected: at every change of distribution the cost rises at once; rearranged by the selectivity, it comes back near the best;
a smaller mu rearranges more often and comes back sooner.

The query set of figure 6, lambda = 80,000 tuples, D1 and D2 in turn; MACSSAS, from the order of D1. The paper does not name
its values of mu, tau, or how long each data set lasts: here tau is a twentieth of lambda, a data set lasts 500,000 tuples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.experiments import thresholds
from bench.experiments.result import Result, head_of
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THRESHOLDS = (0.1, 0.4, 0.8)


def run(scale: Scale) -> Result:
    """Cost over time for every mu."""
    plan = thresholds.Plan.of(scale, "macssas", "selectivity", THRESHOLDS, 5_000_000)
    rows, courses = thresholds.measured(plan)
    parameters = {"tuples": plan.tuples, "span": plan.span, "lambda": plan.check_every, "tau": plan.period}
    return Result("asc-1-figure-9", *head_of(__doc__), parameters, rows, thresholds.claims(plan, courses))


def plot(result: Result) -> Figure:
    """Cost over time."""
    names = [*(f"mu = {mu:g}" for mu in THRESHOLDS), "first order kept", "best order"]
    return thresholds.plot(result, names, result.parameters["span"])
