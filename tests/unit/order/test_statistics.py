"""Statistics on samples against plain loops over tuples, and against what the executor counts."""

from __future__ import annotations

import random

import numpy as np
import pytest

from eddyline.execute.rowwise.rowwise import Rowwise
from eddyline.model.asc import bits
from eddyline.model.sample import Sample
from eddyline.model.visit_order import Arrow, VisitOrder
from eddyline.order.sample_table import Ending, SampleTable
from eddyline.order.statistics import (
    conditional_selectivity,
    count_visits,
    counters_of,
    dropping_ratio,
    region_selectivity,
    selectivity,
)
from eddyline.order.walk import Walk
from tests.unit.order.samples import draw_case, draw_sample, sample_of

SEEDS = range(12)
Flags = list[int]


def flags(text: str) -> Flags:
    return [int(bit) for bit in text]


def qrb(sample: Sample, subject: int, row: int) -> Flags:
    return flags(sample.ascs[subject].ra[sample.regions[subject, row]].qrb)


def grb(sample: Sample, subjects: list[int], row: int) -> Flags:
    found = [1] * sample.queries
    for subject in subjects:
        found = [one & other for one, other in zip(found, qrb(sample, subject, row), strict=True)]
    return found


def ways(sample: Sample, sequence: VisitOrder) -> list[list[int]]:
    """Every tuple's visits, one tuple after the other, as ASC-2 says."""
    found = []
    for row in range(sample.tuples):
        geb: list[int] = []
        left = [1] * sample.queries
        while len(geb) < sample.subjects and any(left):
            to = None
            if geb:
                to = sequence.targets.get((geb[-1], int(sample.regions[geb[-1], row])))
            if to is None or to in geb:
                to = next(subject for subject in sequence.subjects if subject not in geb)
            geb.append(to)
            left = grb(sample, geb, row)
        found.append(geb)
    return found


def draw_sequence(source: random.Random, sample: Sample) -> VisitOrder:
    order = list(range(sample.subjects))
    source.shuffle(order)
    arrows = []
    for asc in sample.ascs:
        for region in range(asc.regions):
            to = source.randrange(sample.subjects)
            if to != asc.number and source.random() < 0.5:
                arrows.append(Arrow(asc.number, region, to))
    return VisitOrder(tuple(order), tuple(arrows))


@pytest.mark.parametrize("seed", SEEDS)
def test_measures(seed: int) -> None:
    sample = draw_sample(seed, queries=8 if seed % 2 else 70)
    source = random.Random(seed)
    before = source.sample(range(sample.subjects), source.randint(0, 3))
    subject = source.choice([i for i in range(sample.subjects) if i not in before])
    after = [grb(sample, [*before, subject], row) for row in range(sample.tuples)]
    total = sample.queries * sample.tuples
    assert selectivity(sample, [*before, subject]) == pytest.approx(sum(map(sum, after)) / total)
    assert dropping_ratio(sample, [*before, subject]) == sum(not any(left) for left in after) / sample.tuples
    used = [flags(bits(sample.ascs[i].qub, sample.queries)) for i in before]
    open_queries = [q for q in range(sample.queries) if not any(qub[q] for qub in used)]
    passed = sum(left[q] for left in after for q in open_queries)
    expected = passed / (len(open_queries) * sample.tuples) if open_queries else 0
    assert conditional_selectivity(sample, before, subject) == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_visits_with_arrows(seed: int) -> None:
    sample = draw_sample(seed)
    sequence = draw_sequence(random.Random(seed), sample)
    expected = ways(sample, sequence)
    counters = count_visits(sample, sequence)
    costs = np.arange(1.0, sample.subjects + 1)
    found = SampleTable(sample).ways(sequence, costs)
    assert found.made.tolist() == [len(way) for way in expected]
    assert found.spent.tolist() == [sum(subject + 1 for subject in way) for way in expected]
    assert counters.visited == sum(map(len, expected))
    assert counters.dropping_ratio == dropping_ratio(sample, sequence.subjects)
    delayed = count_visits(sample, sequence, immediate=False)
    assert delayed.visited == sample.tuples * sample.subjects and delayed.dropped == counters.dropped


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ending", ["dropped", "completed"])
def test_in_step_and_one_by_one(seed: int, ending: Ending) -> None:
    """Plain array operations and the kernel count the same."""
    sample = draw_sample(seed, queries=8 if seed % 2 else 70)
    sequence = draw_sequence(random.Random(seed), sample)
    walk = Walk(sample, sequence, ending=ending).to_end()
    ways = SampleTable(sample).ways(sequence, ending=ending)
    assert (ways.made.tolist(), ways.dropped) == (walk.made.tolist(), walk.dropped)
    assert counters_of(ways, len(sequence)).survivors[-1] == walk.left


@pytest.mark.parametrize("seed", SEEDS)
def test_visits_until_all_is_decided(seed: int) -> None:
    sample = draw_sample(seed)
    order = VisitOrder(tuple(random.Random(seed).sample(range(sample.subjects), sample.subjects)))
    used = [flags(bits(asc.qub, sample.queries)) for asc in sample.ascs]
    visited = 0
    for row in range(sample.tuples):
        for count in range(1, sample.subjects + 1):
            visited += 1
            left = grb(sample, list(order.subjects[:count]), row)
            later = order.subjects[count:]
            if not any(one and used[subject][q] for q, one in enumerate(left) for subject in later):
                break
    counters = count_visits(sample, order, ending="completed")
    assert counters.visited == visited
    assert counters.dropping_ratio == dropping_ratio(sample, order.subjects)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("immediate", [True, False])
def test_same_as_the_executor_counts(seed: int, immediate: bool) -> None:
    index, evaluation = draw_case(seed)
    sample = sample_of(index, evaluation, 40)
    order = VisitOrder(tuple(random.Random(seed).sample(range(sample.subjects), sample.subjects)))
    found = Rowwise(index).match(evaluation, 40, sequence=order, immediate=immediate)
    assert count_visits(sample, order, immediate=immediate) == found.counters


def test_regions() -> None:
    sample = draw_sample(1)
    tuples, possible = region_selectivity(sample, 0)
    assert tuples.sum() == sample.tuples
    assert possible.tolist() == [flags(region.qrb).count(1) / 8 for region in sample.ascs[0].ra]


def test_no_tuples() -> None:
    sample = draw_sample(1).part(0, 0)
    assert (
        selectivity(sample, [0]) == dropping_ratio(sample, [0]) == conditional_selectivity(sample, [], 0) == 0
    )
    assert count_visits(sample, VisitOrder((0, 1, 2, 3, 4))).visited == 0
