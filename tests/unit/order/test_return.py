"""After a switch of distribution: how soon the cost is near the optimum again, by strategy and by mu."""

from __future__ import annotations

import numpy as np
import pytest

from bench.baselines.orders import best_order
from bench.experiments import course
from eddyline.config import Drift, OrderSettings, StrategyName
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order.drift import measure
from eddyline.order.statistics import count_visits
from tests.unit.order.samples import sample_from

PERIOD, LAMBDA = 100, 20  # tuples; periods
SUBJECTS = 4
BEFORE, AFTER = 5 * LAMBDA, 6 * LAMBDA
CONDITIONS = [f"A1 < 10 AND A2 < 10 AND A{3 + i % 2} >= {i}" for i in range(8)]
STRATEGIES: list[tuple[StrategyName, Drift]] = [
    ("macro", "dropping"),
    ("hybrid", "dropping"),
    ("sas", "selectivity"),  # macssas would keep A1, the first of two least cover sets
    ("adaptive", "visits"),
]


def values(tuples: int, seed: int, *, switched: bool) -> np.ndarray:
    """First nine in ten tuples fail at A1 and none at A2, then seven in ten at A2 and none at A1."""
    rng = np.random.default_rng(seed)
    drawn = rng.uniform(0, 10, (SUBJECTS, tuples))
    drawn[1 if switched else 0] += np.where(rng.random(tuples) < (0.7 if switched else 0.9), 10, 0)
    return drawn


@pytest.fixture(scope="module")
def distributions() -> tuple[Sample, Sample]:
    """Many tuples of both."""
    both = [values(AFTER * PERIOD, seed=1 + switched, switched=switched) for switched in (False, True)]
    return sample(both[0]), sample(both[1])


def sample(drawn: np.ndarray) -> Sample:
    return sample_from(CONDITIONS, [tuple(row) for row in drawn.T.tolist()])


def followed(
    both: tuple[Sample, Sample], settings: OrderSettings, offset: float
) -> tuple[course.Course, list[float]]:
    """A stream that switches when a part of lambda has passed; its course, and the costs of the best orders."""
    before = BEFORE + round(offset * LAMBDA)
    start = best_order(both[0])
    pieces = [(both[0], place) for place in range(before)] + [(both[1], place) for place in range(AFTER)]
    stream = [whole.part(PERIOD * (p % AFTER), PERIOD * (p % AFTER + 1)) for whole, p in pieces]
    best = [best_order(whole) for whole in both]
    costs = [
        count_visits(each, best[whole is both[1]]).visited_each
        for each, (whole, _) in zip(stream, pieces, strict=True)
    ]
    return course.run(stream, settings, start), costs


def settings_of(strategy: StrategyName, drift: Drift, threshold: float) -> OrderSettings:
    return OrderSettings(
        strategy=strategy, drift=drift, threshold=threshold, period=PERIOD, check_every=LAMBDA * PERIOD
    )


def returned(made: course.Course, best: list[float]) -> int | None:
    """After how many periods of the new distribution the cost was within 10% of the optimum for good; None for never."""
    switch = len(best) - AFTER
    near = [mine <= 1.1 * least for mine, least in zip(made.costs, best, strict=True)][switch:]
    return None if not near[-1] else len(near) - near[::-1].index(False) if False in near else 0


@pytest.mark.parametrize("offset", [0.0, 0.25, 0.5])
@pytest.mark.parametrize(("strategy", "drift"), STRATEGIES)
def test_within_lambda_and_the_periods_needed(
    distributions: tuple[Sample, Sample], strategy: StrategyName, drift: Drift, offset: float
) -> None:
    """The old order costs much more. A switch near the end of a lambda is noticed at the end of the next one."""
    half, _ = half_and_whole(distributions, drift)
    made, best = followed(distributions, settings_of(strategy, drift, 0.5 * half), offset)
    kept, _ = followed(distributions, settings_of("fixed", drift, 0.5 * half), offset)
    assert returned(kept, best) is None
    found = returned(made, best)
    assert found is not None and 0 < found <= LAMBDA + SUBJECTS


@pytest.mark.parametrize(("strategy", "drift"), STRATEGIES)
def test_smaller_mu_returns_sooner(
    distributions: tuple[Sample, Sample], strategy: StrategyName, drift: Drift
) -> None:
    """Half of the first lambda has the new distribution: a small mu notices, a larger one needs a whole lambda."""
    half, whole = half_and_whole(distributions, drift)
    thresholds = (0.5 * half, 0.5 * (half + whole), 2 * whole)
    found = [returned(*followed(distributions, settings_of(strategy, drift, mu), 0.5)) for mu in thresholds]
    assert found[0] is not None and found[1] is not None
    assert found[0] <= LAMBDA // 2 + SUBJECTS < LAMBDA < found[1] <= 3 * LAMBDA // 2 + SUBJECTS
    assert found[2] is None


def half_and_whole(both: tuple[Sample, Sample], drift: Drift) -> tuple[float, float]:
    """By how much a measure changes when half of the tuples are new, and when all are."""
    order: VisitOrder = best_order(both[0])
    old, new = (measure(each, order, drift) for each in both)
    return abs(new - old) / old / 2, abs(new - old) / old
