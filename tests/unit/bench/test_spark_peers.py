"""On Spark, too, every peer finds what the query set finds, on tiny sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench import ours
from bench.measure import Setting
from bench.record import SPARK_PEERS
from bench.spark import results, suites
from bench.spark.cluster import Cluster, now
from bench.spark.ours import Matcher
from bench.spark.streams import NAME, Streams
from bench.workloads import alerts, expressions, paper

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAPER = paper.workload(12)


@pytest.fixture
def cluster(spark: SparkSession, tmp_path: Path) -> Cluster:
    return Cluster(spark, tmp_path)


def test_peers_find_the_same(cluster: Cluster) -> None:
    matcher, tuples = Matcher(ours.build(PAPER)), cluster.tuples(PAPER, 100)
    peers = list(suites._peers(PAPER, cluster))
    assert [*(peer.name for peer in peers), NAME] == list(SPARK_PEERS[1:])
    expected = {asked: suites._found(matcher, tuples, asked) for asked in suites.ASKED}
    assert expected["counts"] and expected["numbers"][0] == sum(expected["counts"].values())
    for peer in peers:
        assert {asked: suites._found(peer, tuples, asked) for asked in suites.ASKED} == expected, peer.name


def test_streaming_queries_count_the_same(cluster: Cluster) -> None:
    taken, found = Streams(cluster, PAPER, rules=2).counts(100)
    mine = results.counts(Matcher(ours.build(PAPER)).counts(cluster.tuples(PAPER, 100)))
    assert taken > 0 and found == {number: mine[number] for number in mine if number < 2}


@pytest.mark.parametrize("workload", [alerts.workload(2_000), expressions.workload(30)], ids=lambda w: w.name)
def test_lines_beside_a_pass_through(
    workload: alerts.Workload, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suites, "medians", lambda jobs: {name: job() or 2.0 for name, job in jobs.items()})
    line = suites._beside(workload, cluster, 1_000, 3_000)
    assert (line.metric, line.peer, line.rows, line.ratio) == ("numbers", "pass-through", 1_000, 1.0)
    assert line.equal


def test_sizes_of_a_quick_run_have_runs_of_their_own() -> None:
    assert set(suites.RUNS) == set(suites.COMPARED)
    for queries in suites.RUNS:
        runs = suites._runs(paper.workload(queries), Setting(quick=True))
        assert all(0 < short < long for short, long in runs.values())
    assert Setting(quick=True).sizes(*suites.RUNS) == [100, 1_000, 10_000]


def test_the_clock_goes_forward() -> None:
    start = now()
    sum(range(3_000_000))
    assert now() >= start > 0
