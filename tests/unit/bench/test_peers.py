"""Every peer finds what the query set finds, on tiny sizes."""

from __future__ import annotations

import numpy as np
import pytest

from bench import ours
from bench.measure import Setting
from bench.peers import duckdb, polars
from bench.suites import alerts as alerts_suite
from bench.suites import equality as equality_suite
from bench.suites import paper as paper_suite
from bench.suites.selects import Comparison
from bench.workloads import alerts, boolean, equality, paper, patterns, selective
from bench.workloads.workload import Workload

SELECTS = [
    paper.workload(100),
    paper.workload(100, nulls=0.05),
    alerts.workload(100),
    alerts.workload(100, shape="or"),
    boolean.workload(60),
    boolean.workload(60, selective=True),
    patterns.workload(20),
    selective.workload(50, phase=0),
    equality.workload(100),
]


@pytest.mark.parametrize("workload", SELECTS, ids=lambda workload: workload.name)
def test_polars_select_counts_the_same(workload: Workload) -> None:
    assert Comparison.of(workload, 1_100).equal


def test_duckdb_writes_the_same_pairs_of_paper() -> None:
    line = paper_suite._pairs(paper.workload(100), 700)
    assert line.equal
    assert (line.metric, line.peer, line.rows) == ("pairs", "duckdb", 700)


@pytest.mark.parametrize("shape", ["and", "or"])
def test_joins_find_the_same_alerts(shape: str) -> None:
    workload = alerts.workload(1_000, shape=shape)
    batch = workload.batch(2_000)
    queryset = ours.build(workload)
    join = duckdb.Join(workload.rules, batch, [alerts_suite.JOIN])
    join()
    expected = ours.encode(*join.pairs())
    assert len(expected)
    assert np.array_equal(ours.pair_numbers(queryset.match(batch)), expected)
    assert np.array_equal(ours.encode(*alerts_suite._probe(workload).pairs(batch.to_pylist())), expected)
    assert alerts_suite._polars_join(workload, queryset, Setting(quick=True)).equal


@pytest.mark.parametrize("dictionary", [False, True])
def test_joins_and_probes_find_the_same_equalities(dictionary: bool) -> None:
    workload = equality.workload(3_000, dictionary=dictionary)
    queryset, batch = ours.build(workload), workload.batch(2_000)
    for measure in (equality_suite._polars, equality_suite._duckdb, equality_suite._sqlite):
        assert measure(workload, queryset, batch).equal
    assert len(queryset.match(batch))


def test_polars_likes_are_sql_likes() -> None:
    frame = polars.pl.DataFrame({"c": ["abc", "abd\n", "xabc", "ab.c", None]})
    for pattern, found in {"abc": 1, "ab%": 3, "%bc": 2, "%ab%": 4, "ab_": 1, "a%_": 3, "ab_c": 1}.items():
        expression = polars.expression(polars.Like("c", pattern))
        assert frame.select(expression.sum()).item() == found, pattern


def test_spark_rules_become_duckdb_statements() -> None:
    text = r"SELECT * FROM events WHERE lower(`a.b`) LIKE '%\\\\x\\_%' AND (c RLIKE '\\d') IS NOT TRUE"
    batch = polars.pl.DataFrame({"a.b": [r"Z\X_1", r"Z\XX1", None], "c": ["d", "d", "1"]}).to_arrow()
    assert duckdb.Rules({"r": text, "bad": "SELECT * FROM events WHERE nothing = 1"}, batch)() == {"r": 1}
