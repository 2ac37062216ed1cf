"""What makes a pipeline unhealthy, what makes it not ready, and what is seen of a query by looking at it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eddyline.runtime.spark.pipeline.source_watch import SourceWatch
from eddyline.runtime.spark.watching.backlog import backlog_in
from eddyline.runtime.spark.watching.vitals import PipelineVitals, SourceVitals, not_ready, unhealthy

BOUND = 900


def pipeline(*sources: SourceVitals, **how: Any) -> PipelineVitals:
    return PipelineVitals(pipeline="market", host="here", pid=1, since=0.0, now=100.0, sources=sources, **how)


def source(**how: Any) -> SourceVitals:
    return SourceVitals(name="quotes", **how)


@pytest.mark.parametrize(
    ("vitals", "ill", "unready"),
    [
        (pipeline(source()), None, None),
        (pipeline(source(idle=True, trigger=None)), None, None),
        (pipeline(source(trigger=899.0)), None, None),
        (pipeline(source(trigger=901.0)), "has run for 901 s", "has run for 901 s"),
        (pipeline(source(), source(trigger=901.0)), "has run for 901 s", "has run for 901 s"),
        # no executor: a batch that waits for one is ill, a cluster that gave its executors back is not
        (
            pipeline(source(trigger=70.0, executors=0, no_executor=61.0)),
            "no executor for 61 s",
            "no executor",
        ),
        (pipeline(source(trigger=70.0, executors=0, no_executor=59.0)), None, None),
        (pipeline(source(trigger=None, executors=0, no_executor=9_999.0)), None, None),
        (pipeline(source(trigger=70.0, executors=1)), None, None),
        (pipeline(source(silent=121.0)), "Spark has not answered for 121 s", "not answered"),
        (pipeline(source(state="waiting", silent=9_999.0)), None, "waiting to start again: quotes"),
        (pipeline(source(state="starting")), None, "starting: quotes"),
        (pipeline(source(state="failed", failure="no room left")), "no room left", "no room left"),
        (pipeline(source(trouble="there is no folder")), None, "there is no folder"),
        (pipeline(source(), trouble="the registry is away"), None, "the registry is away"),
        (pipeline(source(), stopping=True), None, "stopping"),
        (pipeline(starting=True), None, "starting"),
    ],
)
def test_what_follows_from_how_it_is(vitals: PipelineVitals, ill: str | None, unready: str | None) -> None:
    for found, expected in ((unhealthy(vitals, BOUND), ill), (not_ready(vitals, BOUND), unready)):
        assert (found is None) == (expected is None)
        assert expected is None or (found is not None and expected in found)


def test_a_start_that_takes_too_long_is_unhealthy() -> None:
    assert "starting for 100 s" in str(unhealthy(pipeline(starting=True), 99))
    assert unhealthy(pipeline(starting=True), 0) is None, "0 is never"
    assert unhealthy(pipeline(source(trigger=1e9)), 0) is None


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


RUNS = {"isTriggerActive": True, "isDataAvailable": True}
WAITS = {"isTriggerActive": False, "isDataAvailable": False}


def test_triggers_that_follow_one_another_without_a_pause() -> None:
    """Each has a time of its own; one that stays is seen to stay."""
    clock = Clock()
    watch = SourceWatch(clock, clock)
    for calls in (1, 1, 2, 3):
        watch.see(RUNS, None, calls)
        clock.now += 10
    assert watch.seconds_since(watch.last.trigger_since) == 10
    for batch in (1, 1, 2):  # where batches run in another process Spark's progress tells them apart
        watch.see(RUNS, json.dumps({"batchId": batch}), 0)
        clock.now += 10
    assert watch.seconds_since(watch.last.trigger_since) == 10
    watch.see(RUNS, json.dumps({"batchId": 2}), 0)
    clock.now += 10
    assert watch.seconds_since(watch.last.trigger_since) == 20
    assert watch.last.between is None and not watch.last.idle
    watch.see(WAITS, json.dumps({"batchId": 2}), 0)
    assert watch.last.trigger_since is None and watch.last.idle and watch.last.between == clock.now


def test_a_search_that_takes_longer_than_the_time_between_two() -> None:
    """Every look then finds one at work. Spark tells every ten seconds that there was nothing to read, with the time."""
    clock = Clock()
    watch = SourceWatch(clock, clock)
    longest = 0.0
    for second in range(100):
        told = {"batchId": 7, "timestamp": f"2026-03-02T10:00:{second // 10 * 10:02}.000Z"}
        watch.see({"isTriggerActive": True, "isDataAvailable": False}, json.dumps(told), 14)
        longest = max(longest, watch.seconds_since(watch.last.trigger_since) or 0.0)
        clock.now += 1
    assert longest < 10
    for _ in range(20):  # it hangs
        watch.see({"isTriggerActive": True, "isDataAvailable": False}, json.dumps(told), 14)
        clock.now += 1
    assert watch.seconds_since(watch.last.trigger_since) == 30


def test_executors_that_are_gone() -> None:
    clock = Clock()
    watch = SourceWatch(clock, clock)
    for executors, seconds in ((2, None), (0, 0), (0, 10), (1, None), (0, 0)):
        watch.see(RUNS, None, 1, executors)
        assert watch.seconds_since(watch.last.no_executor_since) == seconds
        clock.now += 10
    watch.begin()
    assert watch.last.executors is None and watch.last.no_executor_since is None


KAFKA = {"endOffset": {"t": {"0": 5}}, "latestOffset": {"t": {"0": 9, "1": 3}}}


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({}, {}),
        ({"sources": [{"endOffset": {"logOffset": 3}, "latestOffset": None, "metrics": {}}]}, {}),
        ({"sources": [{"endOffset": 5, "latestOffset": 9}]}, {}),
        ({"sources": [KAFKA]}, {"offsets": 4}),  # a partition that is new has no end yet
        (
            {"sources": [{"latestOffset": json.dumps(KAFKA["latestOffset"]), "endOffset": "null"}]},
            {"offsets": 0},
        ),
        ({"sources": [{"metrics": {"numFilesOutstanding": "3", "numBytesOutstanding": "10.0"}}]}, None),
    ],
)
def test_what_waits_as_progress_tells_it(told: dict[str, Any], found: dict[str, int] | None) -> None:
    assert backlog_in(told) == ({"files": 3, "bytes": 10} if found is None else found)


def test_nothing_waits_where_there_is_nothing_to_read() -> None:
    watch = SourceWatch()
    watch.see(RUNS, json.dumps({"sources": [KAFKA]}), 1)
    assert watch.last.backlog == {"offsets": 4}
    watch.see(WAITS, json.dumps({"sources": [KAFKA]}), 2)
    assert watch.last.backlog == {"offsets": 0}
