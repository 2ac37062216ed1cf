"""What batches tell and the orders found from it, without Spark: drift, replay, changes of the set, tasks that tell nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eddyline import EddylineError, QuerySet, Stream
from eddyline.config import OrderSettings
from eddyline.execute.steering.monitor import Monitor
from eddyline.model.visit_order import Arrow, VisitOrder
from eddyline.queryset import open_set
from eddyline.runtime.spark.feedback.learning import Learning
from eddyline.runtime.spark.feedback.segment import SegmentWay
from eddyline.runtime.spark.feedback.source import BatchTold, SourceFeedback
from eddyline.runtime.spark.feedback.tally import SegmentTally, together
from eddyline.runtime.spark.feedback.task import UNDIRECTED, Directions, TaskFeedback, name_of
from eddyline.runtime.spark.pipeline.batch.summary import Summary, total
from eddyline.runtime.spark.versions.compiled import SETTINGS
from eddyline.runtime.spark.versions.orders import Orders, SegmentOrder, in_words

NAMES = ("a", "b", "c")
STREAM = Stream("s", pa.schema([(name, pa.int64()) for name in NAMES]))
ADAPTIVE = OrderSettings(drift="visits", check_every=6_000, monitor_share=1.0)


def texts(first: int, count: int, names: Iterable[str] = NAMES) -> dict[str, str]:
    wheres = {
        str(i): " AND ".join(f"{name} BETWEEN {10 * i} AND {10 * i + 9}" for name in names)
        for i in range(first, first + count)
    }
    return {id: f"SELECT * FROM s WHERE {where}" for id, where in wheres.items()}


def batch(selective: str, seed: int, rows: int = 3_000) -> pa.RecordBatch:
    """Values that queries ask for, but of one column only one in twenty."""
    source = np.random.default_rng(seed)
    columns = {name: source.integers(0, 50, rows) for name in NAMES}
    columns[selective] = np.where(source.random(rows) < 0.05, columns[selective], 500)
    return pa.record_batch({name: pa.array(values) for name, values in columns.items()})


@pytest.fixture
def queries(tmp_path: Path) -> QuerySet:
    return saved(QuerySet.build(texts(0, 5), streams=[STREAM], settings=SETTINGS), tmp_path, "1")


def saved(queries: QuerySet, root: Path, name: str) -> QuerySet:
    queries.save_shared(root, name)
    return queries


def told(
    worker: QuerySet, directions: Directions, batch_id: int, selective: str
) -> tuple[dict[str, SegmentTally], list[dict[str, int]]]:
    """A batch of two tasks: what they tell, as it travels, and what they find."""
    tasks = [TaskFeedback(worker, "s", directions, batch_id=batch_id, partition=i) for i in range(2)]
    found = [
        task.queries.match(batch(selective, 10 * batch_id + i), stream="s").counts()
        for i, task in enumerate(tasks)
    ]
    summaries = [Summary(rows=3_000, working=0.1, segments=task.tallies()) for task in tasks]
    return dict(total(summary.packed() for summary in summaries).segments), found


def first_subject(orders: Orders) -> str:
    return orders[0].words.split(" ")[0]


def test_orders_follow_the_data(queries: QuerySet, tmp_path: Path) -> None:
    """The order changes with the batch after the drift, or the one behind it; matches never do."""
    worker = open_set(tmp_path / "versions" / "1")
    feedback = SourceFeedback(ADAPTIVE)
    feedback.learn(queries, "s", BatchTold((), {}, 9.0, 1.0))  # workers that have worked for a while
    firsts, visits = [], []
    for batch_id in range(16):
        selective = "b" if batch_id < 8 else "c"
        orders = feedback.orders(queries, "s")
        tallies, found = told(worker, feedback.directions(orders), batch_id, selective)
        assert found == [queries.match(batch(selective, 10 * batch_id + i)).counts() for i in range(2)]
        again, same = told(worker, feedback.directions(orders), batch_id, selective)
        assert same == found
        (one,), (other,) = tallies.values(), again.values()
        assert np.array_equal(one.regions, other.regions), "a replay looks at the same tuples"
        feedback.learn(queries, "s", BatchTold(orders, tallies, 0.2, 1.0))
        firsts.append(first_subject(orders))
        visits.append(one.visited)
    assert firsts[2:8] == ["b"] * 6 and firsts[12:] == ["c"] * 4
    assert feedback.taken() > 0 and feedback.taken() == 0


def test_the_monitor_keeps_to_its_share(queries: QuerySet) -> None:
    """Nothing is told before workers have worked for a while, and no more than the share allows."""
    feedback = SourceFeedback(replace(ADAPTIVE, monitor_share=0.03))
    (name,) = map(name_of, queries.executors())
    orders = feedback.orders(queries, "s")
    assert not feedback.directions(orders).look
    asked = []
    for working in (6.0, 1.0, 10.0):
        tallies = {name: SegmentTally(tuples=10, seconds=1.0, watching=0.25)}
        feedback.learn(queries, "s", BatchTold(orders, tallies, working, 1.0))
        asked.append(feedback.directions(orders).look)
    assert asked == [False, False, False]
    feedback.learn(queries, "s", BatchTold(orders, {}, 10.0, 1.0))
    assert feedback.directions(orders) == Directions(orders, look=True, compare=frozenset([name]))
    task = TaskFeedback(queries, "s", Directions(orders, look=False), batch_id=0, partition=0)
    task.queries.match(batch("a", 0))
    assert task.tallies()[name].regions.size == 0 and task.tallies()[name].tuples == 3_000


def test_a_start_goes_on_with_the_record(queries: QuerySet) -> None:
    """What is recorded of a segment holds if it can; of another compilation it is passed over."""
    (name,) = map(name_of, queries.executors())
    recorded = SegmentOrder(name, VisitOrder((2, 0, 1)), "filtered", "c -> a -> b")
    assert SourceFeedback(ADAPTIVE, (recorded,)).orders(queries, "s") == (recorded,)
    for wrong in (VisitOrder((0, 1)), VisitOrder((0, 1, 2), (Arrow(0, 99, 1),))):
        (order,) = SourceFeedback(ADAPTIVE, (replace(recorded, sequence=wrong),)).orders(queries, "s")
        assert order != recorded and sorted(order.sequence.subjects) == [0, 1, 2]
        task = TaskFeedback(
            queries, "s", Directions((replace(recorded, sequence=wrong),)), batch_id=0, partition=0
        )
        assert task.tallies() == {} and task.queries is queries, "evaluated as if nothing had been said"


def test_carried_over_when_queries_change(tmp_path: Path) -> None:
    """A new segment begins with the order of the one that has seen the most tuples, as far as it fits."""
    settings = replace(SETTINGS, largest_merge=1)
    first = QuerySet.build(texts(0, 5), streams=[STREAM], settings=settings)
    saved(first, tmp_path, "1")
    (name,) = map(name_of, first.executors())
    feedback = SourceFeedback(
        ADAPTIVE, (SegmentOrder(name, VisitOrder((2, 0, 1)), "row by row", "c -> a -> b"),)
    )
    orders = feedback.orders(first, "s")
    tallies, _ = told(first, Directions(orders), 0, "c")
    feedback.learn(first, "s", BatchTold(orders, tallies, 0.2, 1.0))
    second = saved(first.add(texts(7, 2, ("a", "c"))), tmp_path, "2")
    old, new = feedback.orders(second, "s")
    assert old.segment == name and new.way == old.way == "row by row"
    assert (first_subject((old,)), new.words) == ("c", "c -> a")
    feedback.learn(second, "s", BatchTold((old, new), {}, 0.0, 1.0))
    assert feedback.orders(second, "s") == (old, new), "tasks that tell nothing change nothing"


def test_nothing_to_order(tmp_path: Path) -> None:
    """Without subjects, of another stream, or with a fixed order there is nothing to write down or to tell."""
    one = saved(
        QuerySet.build({"all": "SELECT * FROM s"}, streams=[STREAM], settings=SETTINGS), tmp_path, "1"
    )
    empty = QuerySet.build({}, streams=[STREAM], settings=SETTINGS)
    for queries in (one, empty):
        assert SourceFeedback(ADAPTIVE).orders(queries, "s") == ()
        assert TaskFeedback(queries, "s", UNDIRECTED, batch_id=0, partition=0).queries is queries
    plain = saved(QuerySet.build(texts(0, 2), streams=[STREAM], settings=SETTINGS), tmp_path, "2")
    assert SourceFeedback(ADAPTIVE).orders(plain, "other") == ()
    assert SourceFeedback(OrderSettings(strategy="fixed")).orders(plain, "s") == ()


def test_what_fails_beside_the_matching(queries: QuerySet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look that fails is told, and the matches are there; learning that fails leaves the orders as they are."""

    def fail(*_: object) -> None:
        raise EddylineError("out of luck")

    feedback = SourceFeedback(ADAPTIVE)
    orders = feedback.orders(queries, "s")
    monkeypatch.setattr(Monitor, "sample", fail)
    tallies, found = told(queries, Directions(orders), 0, "a")
    assert found[0] == queries.match(batch("a", 0)).counts()
    (tally,) = tallies.values()
    assert "EddylineError: out of luck" in tally.problem and not tally.regions.size
    learning = Learning(ADAPTIVE, lambda source: orders)
    try:
        monkeypatch.setattr(SourceFeedback, "learn", fail)
        learning.learn("quotes", queries, "s", BatchTold(orders, tallies, 0.2, 1.0))
        learning.wait()
        assert learning.of("quotes").orders(queries, "s") == orders
    finally:
        learning.close()


def test_tallies_of_tasks_are_bounded(tmp_path: Path) -> None:
    """With many subjects fewer tuples are told of."""
    names = [f"c{i}" for i in range(400)]
    stream = Stream("s", pa.schema([(name, pa.int64()) for name in names]))
    wheres = {name: f"SELECT * FROM s WHERE {name} = 1 AND c0 > {i}" for i, name in enumerate(names)}
    queries = saved(QuerySet.build(wheres, streams=[stream], settings=SETTINGS), tmp_path, "1")
    orders = SourceFeedback(ADAPTIVE).orders(queries, "s")
    task = TaskFeedback(queries, "s", Directions(orders), batch_id=0, partition=0)
    rows = pa.record_batch({name: pa.array(np.arange(2_000) % 7) for name in names})
    task.queries.match(rows, stream="s")
    (tally,) = task.tallies().values()
    assert 0 < tally.regions.nbytes <= 32_768


def test_ways_are_compared(queries: QuerySet) -> None:
    """The quickest way by a clear margin is taken; comparisons become rare, and are made again when times change."""
    (name,) = map(name_of, queries.executors())
    orders = (SegmentOrder(name, VisitOrder((0, 1, 2))),)
    tallies, _ = told(queries, Directions(orders, compare=frozenset([name])), 0, "a")
    assert set(tallies[name].ways) == {"sliced", "filtered", "row by row"} and tallies[name].compared
    assert tallies[name].by_row == 0, "what is only tried does not count"
    way = SegmentWay("sliced")
    usual = SegmentTally(tuples=100, seconds=1.0)
    way.note(replace(usual, compared=100, ways={"sliced": 1.0, "row by row": 0.95}))
    assert way.in_use == "sliced" and not way.wants
    for _ in range(16):
        assert not way.wants
        way.note(usual)
    assert way.wants, "after twice the batches of the first time"
    way.note(replace(usual, compared=100, ways={"sliced": 1.0, "row by row": 0.5}))
    assert way.in_use == "row by row" and not way.wants
    way.note(usual)
    way.note(replace(usual, seconds=2.0))
    assert way.wants, "what takes so much longer is compared again"


def test_words_and_sums() -> None:
    many = tuple([SegmentOrder(str(i), VisitOrder((0,)), "sliced", f"c{i}") for i in range(5)])
    assert in_words(many) == "c0, sliced; c1, sliced; c2, sliced; and 2 more" and in_words(()) == ""
    long = SegmentOrder("x", VisitOrder((1, 0), (Arrow(1, 2, 0),)), "sliced", "b -> a and 1 micro-arrows")
    assert SegmentOrder.of(long.as_json()) == long
    assert SegmentOrder.of({**long.as_json(), "way": "of a later release"}).way == "sliced"
    one, other = SegmentTally(tuples=1, ways={"sliced": 1.0}), SegmentTally(tuples=2, ways={"filtered": 2.0})
    both = together({"x": one}, {"x": other, "y": one})
    assert replace(one, costs=(1.0, 4.0)).plus(replace(other, costs=(4.0, 1.0))).costs == pytest.approx(
        (3.0, 2.0)
    )
    assert both["x"].tuples == 3 and both["x"].ways == {"sliced": 1.0, "filtered": 2.0} and both["y"] is one
