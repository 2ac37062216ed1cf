"""ASC-1, figure 9: rearrangement under several thresholds mu, D1 and D2 in turn.

Expected: at every change of distribution the cost rises at once; rearranged by the selectivity, it comes back near the best;
a smaller mu rearranges more often and comes back sooner.

The query set of figure 6, lambda = 80,000 tuples, D1 and D2 in turn; MACSSAS, from the order of D1. The paper does not name
its values of mu, tau, or how long each data set lasts: here tau is a twentieth of lambda, a data set lasts 500,000 tuples.
"""

from __future__ import annotations

from bench.experiments import thresholds
from bench.experiments.result import Result
from bench.experiments.scale import Scale
from bench.experiments.thresholds import plot

__all__ = ["plot", "run"]

THRESHOLDS = (0.1, 0.4, 0.8)


def run(scale: Scale) -> Result:
    """Cost over time for every mu."""
    plan = thresholds.Plan.of(scale, "macssas", "selectivity", THRESHOLDS, 5_000_000)
    return thresholds.result("asc-1-figure-9", __doc__, plan)
