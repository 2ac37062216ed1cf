"""Costs of orders over a whole data set: found on a sample that is spread over it, counted on all of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bench.experiments.course import found, periods, run_tickets
from bench.experiments.data import Data
from bench.experiments.query_sets import QuerySet
from bench.experiments.samples import sample_of
from eddyline.config import OrderSettings
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order.exact import survivors
from eddyline.order.improve_order import improve_order
from eddyline.order.sample_table import SampleTable
from eddyline.order.statistics import count_visits

PIECE = 10_000
LEARNT_FROM = 3_000  # tuples, spread over the data set, from which orders are found


def learning_sample(queries: QuerySet, data: Data, tuples: int | None = None) -> Sample:
    """Tuples from all parts of the data set."""
    return sample_of(queries, data.spread(min(tuples or LEARNT_FROM, data.tuples)))


def cost(queries: QuerySet, data: Data, sequence: VisitOrder, *, immediate: bool = True) -> float:
    """ASCs visited by a tuple, over all tuples of a data set."""
    visited = 0
    for sample in periods(queries, data, min(PIECE, data.tuples)):
        visited += count_visits(sample, sequence, immediate=immediate).visited
    return visited / (data.tuples // min(PIECE, data.tuples) * min(PIECE, data.tuples))


def costs(queries: QuerySet, data: Data, names: Iterable[str]) -> dict[str, float]:
    """The cost of every strategy's order, each found on the same sample."""
    sample = learning_sample(queries, data)
    return {name: cost(queries, data, found(name, sample)) for name in names}


def extremes(queries: QuerySet, data: Data, all_tuples: Sample) -> dict[str, VisitOrder]:
    """The worst fixed order of a few tuples of a data set, and the best one of all: exact on the few, then made cheaper."""
    met = SampleTable(learning_sample(queries, data))
    left, each = survivors(met), np.ones(met.sample.subjects)
    best = improve_order(SampleTable(all_tuples), [met.cheapest(left, each)], kicks=3)
    return {"SEQ worst": VisitOrder(met.cheapest(left, -each)), "SEQ best": VisitOrder(best)}


def ticket_cost(queries: QuerySet, data: Data, tuples: int) -> float:
    """The cost of CACQ's lottery over tuples from all parts of the data set, in their order."""
    sample = learning_sample(queries, data, tuples)
    return run_tickets([sample], OrderSettings()).cost


def random_extremes(queries: QuerySet, data: Data, count: int, seed: int = 31) -> tuple[float, float]:
    """The best and the worst of random orders: costs, as ASC-1 finds them with 2,000."""
    sample = learning_sample(queries, data)
    left = survivors(SampleTable(sample))
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(sample.subjects).tolist() for _ in range(count)]
    orders.sort(key=lambda order: _visits(left, order))
    best, worst = VisitOrder(tuple(orders[0])), VisitOrder(tuple(orders[-1]))
    return cost(queries, data, best), cost(queries, data, worst)


def _visits(left: np.ndarray, order: Sequence[int]) -> float:
    """Visits of all tuples, from the survivors of every set of subjects."""
    sets = np.cumsum([0, *(1 << subject for subject in order[:-1])])
    return float(left[sets].sum())
