"""`paper`: masks against Polars, all pairs against DuckDB's range join, NULLs, two threads."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from bench import measure, ours
from bench.measure import Setting
from bench.peers import duckdb
from bench.record import Record
from bench.suites.selects import Comparison
from bench.workloads import paper
from bench.workloads.workload import Workload

NULLS = 0.05


def run(setting: Setting) -> Iterator[Record]:
    """All measurements of the workload."""
    for queries in setting.sizes(100, 1_000, 10_000, 100_000):
        yield from _selects(paper.workload(queries), setting)
        if queries in (1_000, 10_000):
            yield _pairs(paper.workload(queries), setting.rows(20_000_000 // queries))
    queries = setting.sizes(10_000)[0]
    yield _nulls(queries, setting)
    yield _threads(queries, setting)


def _selects(workload: Workload, setting: Setting) -> Iterator[Record]:
    many = workload.queries >= 100_000
    sides = Comparison.of(workload, 500 if many else 2_000)
    small, large = (60_000, 120_000) if many else (100_000, 400_000)
    budget = 60.0 if many else 8.0  # five calls of each size: fewer leave a difference that is mostly noise
    yield sides.marginal(*setting.batches(workload.queries, small, large), budget=budget)
    yield sides.call(setting.rows(10_000), budget=budget)


def _pairs(workload: Workload, rows: int) -> Record:
    """All pairs, compared as sets."""
    queries, batch = ours.build(workload), workload.batch(rows)
    ranges = " AND ".join(f"t.a{a} BETWEEN r.low{a} AND r.high{a}" for a in range(paper.ATTRIBUTES))
    join = duckdb.Join(
        workload.rules, batch, [f'SELECT t."row", r.query FROM tuples t, ranges r WHERE {ranges}']
    )
    theirs = rows / measure.seconds(join, warm_ups=0)
    equal = np.array_equal(ours.pair_numbers(queries.match(batch)), ours.encode(*join.pairs()))
    mine = measure.rate(lambda b: ours.pairs(queries.match(b)), batch)
    return Record.rates(workload.name, workload.queries, rows, "pairs", mine, "duckdb", theirs, equal)


def _nulls(queries: int, setting: Setting) -> Record:
    """int64 columns with NULLs beside plain int32 ones; equal: with Polars on 2,000 rows."""
    sides = Comparison.of(paper.workload(queries, nulls=NULLS), 2_000)
    plain = paper.workload(queries)
    rates, rows = [], setting.rows(400_000)
    for queryset, workload in ((sides.ours, sides.workload), (ours.build(plain), plain)):
        batch = workload.batch(rows)
        sizes = [(n, batch.slice(0, n)) for n in (rows // 4, rows)]
        rates.append(measure.marginal(queryset.match, *sizes))
    return Record.rates(
        "paper nulls", queries, rows, "marginal", rates[0], "int32 without", rates[1], sides.equal
    )


def _threads(queries: int, setting: Setting) -> Record:
    """Counts by two threads beside one, by the wall clock: two cores must be free for this to mean anything."""
    workload = paper.workload(queries)
    queryset, batch = ours.build(workload), workload.batch(setting.rows(400_000))
    found = {n: ours.thread_counts(queryset, batch, n) for n in (1, 2)}
    rates = {
        n: batch.num_rows
        / measure.seconds(lambda n=n: ours.thread_counts(queryset, batch, n), clock=time.perf_counter)
        for n in (1, 2)
    }
    expected = ours.counts(queryset, batch)
    equal = all(np.array_equal(counts, expected) for counts in found.values())
    return Record.rates("paper", queries, batch.num_rows, "counts", rates[2], "one thread", rates[1], equal)
