"""Orders that follow the data: the monitor's samples and cost, strategies in use, drift, threads, bad input."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bench.baselines.orders import best_order
from eddyline import EddylineError, Engine, QuerySet, Stream
from eddyline.config import IndexSettings, OrderSettings
from eddyline.execute.rowwise.rowwise import Rowwise
from eddyline.execute.steering.live import LiveSteering, OrderReport
from eddyline.execute.steering.monitor import LEAST, Monitor
from eddyline.functions.evaluate import Evaluation
from eddyline.order.drift import measure
from eddyline.order.strategies.factory import STRATEGIES

NAMES = ("a", "b", "c", "d")
STREAM = Stream("s", pa.schema([(name, pa.int64()) for name in NAMES]))
ROWS = 2_000
WHERES = [
    " AND ".join(f"{name} BETWEEN {10 * i} AND {10 * i + 9}" for name in NAMES if name != skipped)
    for i in range(5)
    for skipped in ("c", "d")
]


def built(wheres: list[str] = WHERES, **order: Any) -> QuerySet:
    queries = {str(i): f"SELECT * FROM s WHERE {where}" for i, where in enumerate(wheres)}
    settings = {"sample_rate": 0.2, "period": 200, "check_every": 2_000, "monitor_share": 1.0, **order}
    chosen = IndexSettings(executor="rowwise", order=OrderSettings(**settings))
    return QuerySet.build(queries, streams=[STREAM], settings=chosen)


def batch(selective: str, seed: int, rows: int = ROWS) -> pa.RecordBatch:
    """Values that queries ask for, but of one column only one in twenty."""
    source = np.random.default_rng(seed)
    columns = {name: source.integers(0, 50, rows) for name in NAMES}
    columns[selective] = np.where(source.random(rows) < 0.05, columns[selective], 500)
    return pa.record_batch({name: pa.array(values) for name, values in columns.items()})


def report(queries: QuerySet) -> OrderReport:
    (found,) = queries.order_report()
    return found


def visits(queries: QuerySet, batches: list[pa.RecordBatch]) -> list[float]:
    """ASCs visited by a tuple of each batch."""
    before, found = (report(queries) if queries.order_report() else None), []
    for each in batches:
        queries.match(each)
        after = report(queries)
        spent = after.visited - (before.visited if before else 0)
        found.append(spent / each.num_rows)
        before = after
    return found


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_matches_are_the_same_in_any_order(strategy: str) -> None:
    queries, plain = built(strategy=strategy, threshold=0), built(strategy="fixed")
    for seed in range(6):
        tuples = batch("ab"[seed // 3], seed)
        assert queries.match(tuples).pairs() == plain.match(tuples).pairs()
        assert queries.count(tuples) == plain.count(tuples)


@pytest.mark.parametrize("strategy", ["macro", "hybrid", "adaptive", "sas"])
def test_cost_returns_after_the_distribution_switches(strategy: str) -> None:
    queries = built(strategy=strategy, drift="visits")
    for selective in "bab":
        found = visits(queries, [batch(selective, seed) for seed in range(12)])
        assert np.mean(found[-3:]) < 1.1 * optimum(selective)
    assert report(queries).rearranged >= 3


def optimum(selective: str) -> float:
    queries, tuples = built(strategy="fixed"), batch(selective, 99)
    rowwise = queries.executors()[0].unkeyed.rowwise
    monitor = Monitor(rowwise, OrderSettings(sample_rate=1, monitor_share=1))
    monitor.matched(ROWS, 1.0)
    sample = monitor.look(evaluation(tuples), ROWS)
    assert sample.tuples == ROWS
    return measure(sample, best_order(sample), "visits")


def evaluation(tuples: pa.RecordBatch) -> Evaluation:
    columns = dict(zip(tuples.schema.names, tuples.columns, strict=True))
    return Evaluation(columns, rows=tuples.num_rows, time_zone="UTC")


def test_a_front_that_fails_is_replaced_within_the_batch() -> None:
    queries = built(strategy="adaptive")
    visits(queries, [batch("b", seed) for seed in range(12)])
    assert report(queries).order.startswith("order: b -> ")
    for selective in "abab":
        assert visits(queries, [batch(selective, 50)])[0] < 1.2
        assert report(queries).order.startswith(f"order: {selective} -> ")


def test_an_attempt_is_given_up_where_no_subject_drops_tuples() -> None:
    unkeyed = built().executors()[0].unkeyed
    steering = LiveSteering(unkeyed.rowwise, OrderSettings(monitor_share=1))
    selective, broad = evaluation(batch("a", 1)), evaluation(batch("c", 2))

    def gives_up(tuples: Evaluation) -> bool:
        return unkeyed.visit(tuples, ROWS, steering, gives_up=True) is None

    assert not gives_up(selective)
    assert [gives_up(broad) for _ in range(4)] == [True, True, True, False]
    assert len(unkeyed.visit(broad, ROWS, steering).row)
    assert unkeyed.few_left(broad, ROWS, steering) is None
    few = unkeyed.few_left(selective, ROWS, steering)
    matched = unkeyed.visit(selective, ROWS, steering).row
    assert few is not None and set(matched) <= set(few) < set(range(ROWS))


def test_a_smaller_threshold_returns_sooner() -> None:
    """The switch changes the visits by a few tenths: a threshold above that leaves the order alone."""
    costs = []
    for threshold in (0.05, 50.0):
        queries = built(strategy="macro", drift="visits", threshold=threshold)
        visits(queries, [batch("a", seed) for seed in range(8)])
        costs.append(sum(visits(queries, [batch("b", seed) for seed in range(12)])))
    assert costs[0] < 0.9 * costs[1]


def test_fixed_looks_at_nothing() -> None:
    queries = built(strategy="fixed")
    visits(queries, [batch("a", seed) for seed in range(3)])
    found = report(queries)
    assert (found.rearranged, found.watched.sampled, found.watched.tuples) == (0, 0, 3 * ROWS)


@pytest.mark.parametrize(("rows", "rate"), [(1, 0.01), (7, 0.1), (5_000, 0.01), (100, 1.0)])
def test_samples_keep_the_rate(rows: int, rate: float) -> None:
    monitor = Monitor(rowwise(), OrderSettings(sample_rate=rate, monitor_share=1))
    tuples = evaluation(batch("a", 1, rows))
    batches = max(4, int(40 / (rate * rows)))
    for _ in range(batches):
        monitor.matched(rows, 0.001)
        if monitor.due(rows):
            monitor.look(tuples, rows)
    assert monitor.watched.sampled == pytest.approx(rate * rows * batches, abs=min(rows, LEAST))


def test_sampled_places_are_spread() -> None:
    monitor = Monitor(rowwise(), OrderSettings())
    drawn = np.concatenate([monitor.places(1_000, 10) for _ in range(200)])
    assert drawn.min() < 20 and drawn.max() >= 980
    assert np.bincount(drawn // 100).tolist() == [200] * 10
    assert len(set((drawn % 100).tolist())) > 80


class Ticks:
    """A clock that goes on by a millisecond whenever somebody looks at it: a batch takes one, a look several."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.mark.parametrize("share", [0.03, 0.2])
def test_the_monitor_keeps_within_its_share(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = OrderSettings(sample_rate=1.0, monitor_share=share, period=200, check_every=2_000, threshold=0)
    unkeyed, clock, tuples = built().executors()[0].unkeyed, Ticks(), evaluation(batch("a", 1))
    monkeypatch.setattr("eddyline.execute.kinds.unkeyed.perf_counter", clock)
    steering = LiveSteering(unkeyed.rowwise, settings, clock=clock)
    for _ in range(2_000):
        unkeyed.visit(tuples, ROWS, steering)
    watched = steering.report().watched
    assert 0 < watched.sampled < watched.tuples
    assert 0.4 * share < watched.share <= share


def rowwise() -> Rowwise:
    return built().executors()[0].unkeyed.rowwise


def test_expressions_are_evaluated_for_the_sample_alone() -> None:
    queries = built(["a + b > 60 AND c = 3", "a + b < 20 AND c * d = 4"], strategy="macro", threshold=0)
    plain = built(["a + b > 60 AND c = 3", "a + b < 20 AND c * d = 4"], strategy="fixed")
    for seed in range(5):
        assert queries.match(batch("a", seed)).pairs() == plain.match(batch("a", seed)).pairs()
    assert report(queries).watched.sampled


def test_threads_share_an_order() -> None:
    queries, plain = built(strategy="macro", threshold=0), built(strategy="fixed")
    assert len(queries.executors()) == 1  # compiled here, not by several threads
    batches = [batch("ab"[seed % 2], seed) for seed in range(24)]
    wanted = [plain.match(each).pairs() for each in batches]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda each: queries.match(each).pairs(), batches)) == wanted
    assert report(queries).tuples == 24 * ROWS


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_small_and_strange_sets(strategy: str) -> None:
    """No queries, one subject, queries without any predicate, a subject that is always NULL."""
    tuples = batch("a", 3, 300)
    for wheres in ([], ["a = 3"], ["1 = 1"], ["1 = 1", "a = 3"], ["a IS NULL", "b > 3 AND c > 5"]):
        queries, plain = built(wheres, strategy=strategy, period=20), built(wheres, strategy="fixed")
        for _ in range(4):
            assert queries.match(tuples).pairs() == plain.match(tuples).pairs()
    nulls = tuples.set_column(0, "a", pa.nulls(300, pa.int64()))
    queries = built(strategy=strategy, period=20)
    for _ in range(4):
        assert len(queries.match(nulls)) == 0


def test_a_strategy_that_gives_up_leaves_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise EddylineError("there are too many subjects")

    monkeypatch.setattr("eddyline.order.strategies.macro.Macro.observe", refuse)
    queries, plain = built(strategy="macro"), built(strategy="fixed")
    for seed in range(4):
        assert queries.match(batch("a", seed)).pairs() == plain.match(batch("a", seed)).pairs()
    found = report(queries)
    assert found.problem == "there are too many subjects" and found.sequence == report(plain).sequence
    assert "the order stays as it is: there are too many subjects" in str(found)


def test_a_report_has_visits_and_time() -> None:
    queries = built(strategy="macro")
    visits(queries, [batch("b", seed) for seed in range(5)])
    found = report(queries)
    assert found.tuples == 5 * ROWS and found.seconds > 0
    assert f"visited {found.visited_each:.2f} ASCs each in {found.nanoseconds_each:.0f} ns each" in str(found)
    assert "order: b -> " in str(found)
    assert isinstance(queries.executors()[0].steering, LiveSteering)


@pytest.mark.parametrize("settings", [{"strategy": "alphabetical"}, {"period": -1}, {"monitor_share": 0}])
def test_nonsense_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(EddylineError) as error:
        OrderSettings(**settings)
    assert error.value.hint


@pytest.mark.parametrize("strategy", ["macro", "hybrid"])
def test_a_change_of_the_set_keeps_the_order(strategy: str) -> None:
    queries = built(WHERES * 2, strategy=strategy, drift="visits")
    visits(queries, [batch("b", seed) for seed in range(10)])
    before = report(queries)
    assert before.rearranged and before.order.startswith("order: b -> ")
    more = queries.add({"more": "SELECT * FROM s WHERE a = 3 AND b BETWEEN 20 AND 22 AND d > 7"})
    tuples = batch("b", 77)
    assert len(more.match(tuples)) == len(queries.match(tuples)) + more.count(tuples)["more"]
    kept, new = more.order_report()
    assert kept.order == before.order and kept.tuples == before.tuples + 3 * ROWS and new.tuples == 2 * ROWS


def test_a_larger_set_takes_the_order_over() -> None:
    queries = built(WHERES * 2, strategy="macro", drift="visits")
    visits(queries, [batch("b", seed) for seed in range(10)])
    wanted = report(queries).order.splitlines()[0]
    doubled = {f"more {i}": f"SELECT * FROM s WHERE {where}" for i, where in enumerate(WHERES * 2)}
    more = queries.add(doubled)
    more.match(batch("b", 1, 100))
    assert len(more.executors()) == 1
    assert report(more).rearranged == 0 and report(more).order.splitlines()[0] == wanted


def test_an_engine_adapts() -> None:
    order = OrderSettings(
        strategy="macro", drift="visits", sample_rate=0.2, period=200, check_every=2_000, monitor_share=1
    )
    engine = Engine(streams=[STREAM], settings=IndexSettings(executor="rowwise", order=order))
    engine.add({str(i): f"SELECT * FROM s WHERE {where}" for i, where in enumerate(WHERES)})
    plain = built(strategy="fixed")
    for seed in range(10):
        tuples = batch("b", seed)
        delivered = engine.push("s", tuples)
        assert {id: delivered.of(id).num_rows for id in engine.queries()} == plain.count(tuples)
    (after,) = engine.order_report()
    assert after.rearranged and after.order.startswith("order: b -> ")
