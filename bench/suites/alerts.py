"""`alerts`: selective access against select, joins and probes; memory, single tuples, start."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from bench import footprint, measure, ours, starting
from bench.measure import Setting
from bench.peers import duckdb, polars, sqlite
from bench.record import Record
from bench.suites.selects import Comparison
from bench.workloads import alerts
from bench.workloads.workload import Workload
from eddyline.queryset import QuerySet

ROWS = 200_000
PROBES = 20_000
JOIN = (
    'SELECT t."row", r.query FROM tuples t JOIN alerts r USING (symbol) '
    "WHERE t.price > r.low AND t.price < r.high AND t.volume >= r.least"
)
PROBE = (
    "SELECT query FROM alerts WHERE symbol = :symbol AND low < :price AND high > :price AND least <= :volume"
)


def run(setting: Setting) -> Iterator[Record]:
    """All measurements of the workload."""
    base: Record | None = None
    equal: dict[int, bool] = {}
    for queries in setting.sizes(10_000, 100_000, 1_000_000):
        workload = alerts.workload(queries)
        queryset = ours.build(workload)
        if queries <= 10_000:
            yield _select(workload, setting)
            yield _polars_join(workload, queryset, setting)
            yield _sqlite(workload, queryset)
            yield _single(workload, queryset)
        joined = _duckdb(workload, queryset, setting.rows(ROWS if queries <= 10_000 else ROWS // 10))
        equal[queries] = joined.equal
        yield joined
        if base is None:
            base = joined
        else:
            yield _growth(workload, queryset, base, setting, joined.equal)
        if queries == setting.sizes(10_000, 100_000, 1_000_000)[-1]:
            yield starting.saved(workload, queryset)
        del queryset
    smallest = setting.sizes(10_000)[0]
    for workload in (alerts.workload(smallest, shape="or"), alerts.workload(smallest, columns=30)):
        yield _duckdb(workload, ours.build(workload), setting.rows(ROWS))
    many = alerts.workload(setting.sizes(10_000, 100_000)[-1])
    yield footprint.bytes_a_query(many, equal[many.queries])
    yield starting.from_text(many)
    yield starting.one_by_one(many, alerts.workload(smallest))
    yield from starting.processes()


def _select(workload: Workload, setting: Setting) -> Record:
    return Comparison.of(workload, 20_000).call(setting.rows(ROWS))


def _polars_join(workload: Workload, queryset: QuerySet, setting: Setting) -> Record:
    batch = workload.batch(setting.rows(ROWS))
    column = pl.col
    inside = (column("price") > column("low")) & (column("price") < column("high"))
    join = polars.Join(
        [(["symbol"], workload.rules["alerts"])], inside & (column("volume") >= column("least"))
    )
    frame = polars.frame_of(batch)
    found = join(frame)
    theirs = batch.num_rows / measure.seconds(lambda: join(frame), warm_ups=0)
    return _record(workload, queryset, batch, "polars-join", theirs, (found["row"], found["query"]))


def _duckdb(workload: Workload, queryset: QuerySet, rows: int) -> Record:
    batch = workload.batch(rows)
    join = duckdb.Join(workload.rules, batch, [JOIN])
    theirs = rows / measure.seconds(join, warm_ups=1)
    return _record(workload, queryset, batch, "duckdb", theirs, join.pairs())


def _sqlite(workload: Workload, queryset: QuerySet) -> Record:
    batch = workload.batch(PROBES)
    probe, tuples = _probe(workload), batch.select(["symbol", "price", "volume"]).to_pylist()
    theirs = PROBES / measure.seconds(lambda: probe(tuples), warm_ups=1)
    return _record(workload, queryset, batch, "sqlite", theirs, probe.pairs(tuples))


def _probe(workload: Workload) -> sqlite.Probe:
    return sqlite.Probe({"alerts": (workload.rules["alerts"], ["symbol", "low"])}, PROBE)


def _record(
    workload: Workload, queryset: QuerySet, batch: object, peer: str, theirs: float, pairs: tuple
) -> Record:
    """Whole calls of ours beside a peer's; results are compared pair by pair."""
    row, query = (np.asarray(column) for column in pairs)
    equal = np.array_equal(ours.pair_numbers(queryset.match(batch)), ours.encode(row, query))
    mine = measure.rate(queryset.match, batch)
    return Record.rates(workload.name, workload.queries, batch.num_rows, "call", mine, peer, theirs, equal)


def _growth(workload: Workload, queryset: QuerySet, base: Record, setting: Setting, equal: bool) -> Record:
    """The speed of a large set beside that of the smallest; its results were compared with DuckDB's."""
    batch = workload.batch(setting.rows(ROWS))
    mine = measure.rate(queryset.match, batch)
    peer = f"at {base.queries:,}"
    return Record.rates(workload.name, workload.queries, batch.num_rows, "call", mine, peer, base.ours, equal)


def _single(workload: Workload, queryset: QuerySet) -> Record:
    """Calls with one tuple each, matches kept as they come; the peer answers the same tuples by probes."""
    batch = workload.batch(2_000)
    ones = [batch.slice(i, 1) for i in range(batch.num_rows)]
    probe, tuples = _probe(workload), batch.to_pylist()
    theirs = len(tuples) / measure.seconds(lambda: [probe([values]) for values in tuples], warm_ups=1)
    mine = len(ones) / measure.seconds(lambda: [queryset.match(one) for one in ones])
    equal = [len(queryset.match(one)) for one in ones] == [len(probe([values])) for values in tuples]
    return Record.rates(workload.name, workload.queries, 1, "single", mine, "sqlite", theirs, equal)
