"""All strategies: what they promise of each other, and queries and tuples at the edges."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from bench.baselines.orders import best_order, worst_order
from eddyline.config import OrderSettings
from eddyline.errors import SettingsError
from eddyline.model.asc import covered
from eddyline.model.sample import Sample
from eddyline.model.visit_order import Arrow, VisitOrder
from eddyline.order.exact import survivors
from eddyline.order.improve_arrows import improve_arrows
from eddyline.order.sample_table import Ending, SampleTable
from eddyline.order.statistics import count_visits, dropping_ratio, selectivity
from eddyline.order.strategies.adaptive import WORTH, VisitCosts, expected_time
from eddyline.order.strategies.factory import STRATEGIES, make_strategy
from eddyline.order.strategies.hybrid import Hybrid
from eddyline.order.strategies.strategy import find_sequence
from tests.unit.order.samples import draw_sample, sample_from

SEEDS = range(10)


def visited(sample: Sample, sequence: VisitOrder) -> int:
    return count_visits(sample, sequence).visited


@pytest.mark.parametrize("seed", SEEDS)
def test_best_and_worst_of_all_orders(seed: int) -> None:
    sample = draw_sample(seed)
    all_visits = [visited(sample, VisitOrder(order)) for order in permutations(range(sample.subjects))]
    assert visited(sample, best_order(sample)) == min(all_visits)
    assert visited(sample, worst_order(sample)) == max(all_visits)


@pytest.mark.parametrize("seed", SEEDS)
def test_best_where_decided_tuples_end(seed: int) -> None:
    """CACQ's end of a tuple's way: survivors depend on the set of subjects here too."""
    sample = draw_sample(seed, subjects=4)

    def cost(order: VisitOrder) -> int:
        return count_visits(sample, order, ending="completed").visited

    costs = [cost(VisitOrder(order)) for order in permutations(range(4))]
    assert cost(best_order(sample, ending="completed")) == min(costs)
    assert cost(worst_order(sample, ending="completed")) == max(costs)


@pytest.mark.parametrize("seed", SEEDS)
def test_best_by_time(seed: int) -> None:
    sample = draw_sample(seed, subjects=4)
    costs = VisitCosts((1.0, 3.0, 0.5, 2.0))
    times = [expected_time(sample, VisitOrder(order), costs) for order in permutations(range(4))]
    assert expected_time(sample, best_order(sample, costs=costs.visit), costs) == pytest.approx(min(times))


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_between_best_and_worst(name: str, seed: int) -> None:
    sample = draw_sample(seed, queries=5)
    strategy = make_strategy(name, sample.ascs)
    sequence = find_sequence(strategy, sample)
    assert strategy.ready and strategy.name == name
    assert sorted(sequence.subjects) == list(range(sample.subjects))
    macro = VisitOrder(sequence.subjects)
    assert (
        visited(sample, best_order(sample)) <= visited(sample, macro) <= visited(sample, worst_order(sample))
    )
    assert visited(sample, sequence) <= visited(sample, macro), "arrows save visits or are not set"


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("period", [1, 3, 7, 1000])
def test_period_by_period(name: str, period: int) -> None:
    sample = draw_sample(4)
    strategy = make_strategy(name, sample.ascs)
    sequence = find_sequence(strategy, sample, period=period)
    assert strategy.ready and sorted(sequence.subjects) == list(range(sample.subjects))


@pytest.mark.parametrize("name", STRATEGIES)
def test_before_anything_is_known(name: str) -> None:
    """Proposals are whole sequences at any time, and those that measure keep what is in force."""
    sample = draw_sample(2)
    start = VisitOrder((3, 1, 4, 0, 2), (Arrow(3, 0, 4),))
    strategy = make_strategy(name, sample.ascs, start=start)
    if name not in ("macs", "ticket"):
        assert strategy.propose() == start
    strategy.observe(sample.part(0, 0))
    while not strategy.ready:
        strategy.observe(sample)
        assert sorted(strategy.propose().subjects) == list(range(sample.subjects))


@pytest.mark.parametrize(("name", "periods"), [("sas", 4), ("macro", 4), ("adaptive", 1)])
def test_periods(name: str, periods: int) -> None:
    sample = draw_sample(2)
    strategy = make_strategy(name, sample.ascs)
    for _ in range(periods):
        assert not strategy.ready
        strategy.observe(sample)
    assert strategy.ready


@pytest.mark.parametrize("seed", SEEDS)
def test_greedy_choices(seed: int) -> None:
    """Each choice of sas is the lowest selectivity; macro completes a cover set first, then drops the most."""
    sample = draw_sample(seed)
    order = find_sequence(make_strategy("sas", sample.ascs), sample).subjects
    for i, subject in enumerate(order):
        rivals = [selectivity(sample, [*order[:i], other]) for other in order[i:]]
        assert selectivity(sample, [*order[:i], subject]) == min(rivals)
    order = find_sequence(make_strategy("macro", sample.ascs), sample).subjects
    for i, subject in enumerate(order):
        if covered([sample.ascs[other] for other in order[:i]]):
            rivals = [dropping_ratio(sample, [*order[:i], other]) for other in order[i:]]
            assert dropping_ratio(sample, [*order[:i], subject]) == max(rivals)


@pytest.mark.parametrize("name", ["macs", "macssas"])
@pytest.mark.parametrize("seed", SEEDS)
def test_cover_set_first(name: str, seed: int) -> None:
    sample = draw_sample(seed)
    order = find_sequence(make_strategy(name, sample.ascs), sample).subjects
    best = min(VisitOrder(each).cover(sample.ascs) or 9 for each in permutations(range(sample.subjects)))
    assert VisitOrder(order).cover(sample.ascs) == best


@pytest.mark.parametrize("seed", SEEDS)
def test_arrows_only_get_better(seed: int) -> None:
    sample = draw_sample(seed, subjects=6, queries=12, tuples=200)
    plain = find_sequence(Hybrid(sample.ascs, VisitOrder(tuple(range(6))), refine=False), sample)
    better = improve_arrows(SampleTable(sample), plain)
    assert visited(sample, better) <= visited(sample, plain)
    assert better.subjects == plain.subjects


def test_arrows_beat_every_order() -> None:
    """Which of A2 and A3 ends a tuple depends on A1: no order is right for both halves, arrows are."""
    conditions = ["A1 < 5 AND A2 = 1", "A1 > 5 AND A3 = 1"]
    rows = [(0.0, 0.0, 1.0) if i % 2 else (10.0, 1.0, 0.0) for i in range(200)]
    sample = sample_from(conditions, rows)
    hybrid = find_sequence(make_strategy("hybrid", sample.ascs), sample)
    assert hybrid.arrows
    assert visited(sample, hybrid) == 400 < visited(sample, best_order(sample))
    adaptive = make_strategy("adaptive", sample.ascs, costs=VisitCosts((1.0, 1.0, 1.0), arrow=1.05))
    assert visited(sample, find_sequence(adaptive, sample)) == 400
    dear = make_strategy("adaptive", sample.ascs, costs=VisitCosts((1.0, 1.0, 1.0), arrow=2.0))
    assert not find_sequence(dear, sample).arrows


def test_adaptive_keeps_what_is_as_good() -> None:
    sample = draw_sample(3)
    best = best_order(sample)
    strategy = make_strategy("adaptive", sample.ascs, start=best)
    assert find_sequence(strategy, sample) == best
    strategy = make_strategy("adaptive", sample.ascs, start=worst_order(sample))
    assert visited(sample, find_sequence(strategy, sample)) == visited(sample, best)


@pytest.mark.parametrize("rows", [[(0.0, 1.0)] * 60, [(1.0, 1.0)] * 60], ids=["dropped at once", "matched"])
def test_adaptive_does_not_look_for_what_cannot_be(
    rows: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tuples end after one visit, or visit all in any order: a search would be a waste of time."""
    sample = sample_from(["A1 = 1 AND A2 = 1"], rows)
    strategy = make_strategy("adaptive", sample.ascs)
    monkeypatch.setattr(SampleTable, "survivors", None)
    monkeypatch.setattr(SampleTable, "descend", None)
    assert find_sequence(strategy, sample) == VisitOrder((0, 1)) and strategy.ready


def test_adaptive_avoids_dear_visits() -> None:
    """Two subjects that drop every tuple: the cheap one comes first."""
    sample = sample_from(["A1 = 1 AND A2 = 1"], [(0.0, 0.0)] * 5)
    for costs, first in [((1.0, 9.0), 0), ((9.0, 1.0), 1)]:
        strategy = make_strategy("adaptive", sample.ascs, costs=VisitCosts(costs))
        assert find_sequence(strategy, sample).subjects[0] == first


def test_adaptive_counts_words() -> None:
    """A1 drops half of the tuples and A2 all, for three times as much; the more words, the less that matters."""
    sample = sample_from(["A1 = 1 AND A2 = 1"], [(0.0, 0.0), (1.0, 0.0)] * 5)
    for word, first in [(0.0, 0), (10.0, 1)]:
        strategy = make_strategy("adaptive", sample.ascs, costs=VisitCosts((1.0, 3.0), word=word))
        assert find_sequence(strategy, sample).subjects[0] == first


@pytest.mark.parametrize("ending", ["dropped", "completed"])
@pytest.mark.parametrize("seed", SEEDS)
def test_adaptive_minimises_time(seed: int, ending: Ending) -> None:
    """The best of all orders up to a change that is not worth it, whatever visits cost and where ways end."""
    sample = draw_sample(seed, queries=4, tuples=200)
    visit = tuple(np.random.default_rng(seed).uniform(0.2, 5.0, 5).tolist())
    costs = VisitCosts(visit, word=0.5)
    found = find_sequence(make_strategy("adaptive", sample.ascs, costs=costs, ending=ending), sample)
    times = [expected_time(sample, VisitOrder(order), costs, ending) for order in permutations(range(5))]
    assert WORTH * expected_time(sample, found, costs, ending) <= min(times)


@pytest.mark.parametrize("ending", ["dropped", "completed"])
@pytest.mark.parametrize("seed", SEEDS)
def test_adaptive_minimises_time_of_many(seed: int, ending: Ending) -> None:
    """With too many subjects for all orders: those found by moving subjects are as good."""
    sample = draw_sample(seed, subjects=11, queries=6, tuples=200)
    costs = VisitCosts(tuple(np.random.default_rng(seed).uniform(0.2, 5.0, 11).tolist()))
    found = find_sequence(make_strategy("adaptive", sample.ascs, costs=costs, ending=ending), sample)
    best = best_order(sample, costs=costs.visit, ending=ending)
    assert WORTH * expected_time(sample, found, costs, ending) <= expected_time(sample, best, costs, ending)


@pytest.mark.parametrize("ending", ["dropped", "completed"])
@pytest.mark.parametrize("seed", SEEDS)
def test_moved_subjects(seed: int, ending: Ending) -> None:
    """No subject of what is found has a cheaper place, and the cost is that of the way."""
    sample = draw_sample(seed, subjects=6, queries=5, tuples=100)
    met, costs = SampleTable(sample), np.random.default_rng(seed).uniform(0.5, 3.0, 6)

    def cost(order: tuple[int, ...]) -> float:
        ways = met.ways(VisitOrder(order), costs, ending=ending)
        return float(ways.spent[met.ending_rows(ending)].sum())

    order, claimed = met.descend(tuple(range(6)), costs, ending)
    assert claimed == pytest.approx(cost(order))
    for subject in order:
        others = [other for other in order if other != subject]
        moved = [(*others[:place], subject, *others[place:]) for place in range(6)]
        assert min(map(cost, moved)) >= claimed - 1e-9


def test_adaptive_with_many_subjects() -> None:
    sample = draw_sample(5, subjects=14, queries=30)
    found = find_sequence(make_strategy("adaptive", sample.ascs), sample)
    assert visited(sample, found) <= visited(sample, VisitOrder(tuple(range(14))))


def test_exact_has_a_limit() -> None:
    sample = draw_sample(1, subjects=17, queries=20, tuples=5)
    with pytest.raises(SettingsError, match="at most 16 subjects, this set has 17") as caught:
        best_order(sample)
    assert caught.value.hint == "macro, hybrid, sas and macssas order any number"


def test_survivors_of_sets() -> None:
    sample = draw_sample(6, subjects=4, queries=70, tuples=50)
    left = survivors(SampleTable(sample))
    for subjects in range(16):
        members = [i for i in range(4) if subjects >> i & 1]
        assert left[subjects] == int(sample.after(members).any(axis=1).sum())


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize(
    ("conditions", "rows"),
    [
        ([], [(1.0, 2.0, 3.0)]),
        (["A1 = 1", "A1 > 3"], [(1.0,), (9.0,)]),
        (["", ""], [(1.0, 2.0)]),
        (["A1 = 1 AND A2 = 2", ""], [(1.0, 2.0), (3.0, 4.0)]),
        (["A1 = 1 AND A2 = 2", "A2 > 7"], [(1.0, None), (2.0, None)]),
        (["A1 = 1 AND A2 = 2", "A2 > 7"], []),
    ],
    ids=["no queries", "one subject", "no conditions", "one without", "always NULL", "no tuples"],
)
def test_edges(name: str, conditions: list[str], rows: list[tuple[object, ...]]) -> None:
    sample = sample_from(conditions, rows)
    sequence = find_sequence(make_strategy(name, sample.ascs), sample)
    assert sorted(sequence.subjects) == list(range(sample.subjects))
    counters = count_visits(sample, sequence)
    matched = sample.after(sequence.subjects).any(axis=1).sum()
    assert counters.dropped == len(rows) - matched
    assert sequence.explain(sample.ascs).startswith("order: ")


@pytest.mark.parametrize("name", STRATEGIES)
def test_no_subjects(name: str) -> None:
    sample = Sample((), np.empty((0, 4), np.int32))
    strategy = make_strategy(name, ())
    assert find_sequence(strategy, sample) == VisitOrder(())
    assert count_visits(sample, VisitOrder(())).visited == 0
    assert VisitOrder(()).explain(()) == "order: no subjects"


def test_always_null_is_first() -> None:
    """A subject that is always NULL ends every query that uses it."""
    rows: list[tuple[object, ...]] = [(float(i), None) for i in range(10)]
    sample = sample_from(["A1 < 8 AND A2 = 2", "A1 > 1 AND A2 > 7"], rows, [pa.float64(), pa.int32()])
    assert best_order(sample).subjects == (1, 0)
    for name in ("sas", "macro", "hybrid", "ticket", "adaptive"):
        assert find_sequence(make_strategy(name, sample.ascs), sample).subjects == (1, 0), name


def test_unknown_name() -> None:
    with pytest.raises(SettingsError, match='strategy "greedy" is not known') as caught:
        make_strategy("greedy", ())
    assert caught.value.hint == f"one of {', '.join(STRATEGIES)}"


@pytest.mark.parametrize(
    "nonsense",
    [
        {"strategy": "greedy"},
        {"period": -1},
        {"period": 0},
        {"period": 1.5},
        {"check_every": 0},
        {"check_every": True},
        {"threshold": -0.1},
        {"threshold": float("nan")},
        {"threshold": "0.1"},
        {"sample_rate": 0},
        {"sample_rate": 1.1},
        {"drift": "speed"},
        {"seed": -1},
    ],
    ids=str,
)
def test_nonsense_settings(nonsense: dict[str, object]) -> None:
    (name,) = nonsense
    with pytest.raises(SettingsError, match=f"^{name} ") as caught:
        OrderSettings(**nonsense)  # type: ignore[arg-type]
    assert caught.value.hint
