"""`equality`: exact values on several columns against joins and probes, the strong side of every database."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bench import measure, ours
from bench.measure import Setting
from bench.peers import duckdb, polars, sqlite
from bench.record import Record
from bench.workloads import equality
from bench.workloads.workload import Workload
from eddyline.queryset import QuerySet

ROWS = 200_000
PROBES = 20_000


def run(setting: Setting) -> Iterator[Record]:
    """Plain strings, then dictionaries."""
    for dictionary in (False, True):
        workload = equality.workload(setting.sizes(10_000, 100_000)[-1], dictionary=dictionary)
        queryset = ours.build(workload)
        batch = workload.batch(setting.rows(ROWS))
        yield _polars(workload, queryset, batch)
        yield _duckdb(workload, queryset, batch)
        yield _sqlite(workload, queryset, batch.slice(0, min(PROBES, batch.num_rows)))


def _polars(workload: Workload, queryset: QuerySet, batch: pa.RecordBatch) -> Record:
    """One join a shape; dictionaries become Polars' categories on both sides."""
    frame = polars.frame_of(batch)
    shapes = []
    for place, shape in enumerate(equality.SHAPES):
        rules = workload.rules[f"rules{place}"]
        shapes.append((list(shape), rules.cast(_kinds(rules, batch))))
    join = polars.Join(shapes)
    found = join(frame)
    theirs = batch.num_rows / measure.seconds(lambda: join(frame), warm_ups=1)
    return _record(workload, queryset, batch, "polars-join", theirs, (found["row"], found["query"]))


def _kinds(rules: pa.Table, batch: pa.RecordBatch) -> pa.Schema:
    """The rules with the tuples' types of the shared columns."""
    known = {field.name: field.type for field in batch.schema}
    return pa.schema([(field.name, known.get(field.name, field.type)) for field in rules.schema])


def _duckdb(workload: Workload, queryset: QuerySet, batch: pa.RecordBatch) -> Record:
    """One hash join a shape."""
    selects = [
        f'SELECT t."row", r.query FROM tuples t JOIN rules{place} r USING ({", ".join(shape)})'
        for place, shape in enumerate(equality.SHAPES)
    ]
    join = duckdb.Join(workload.rules, batch, selects)
    theirs = batch.num_rows / measure.seconds(join, warm_ups=1)
    return _record(workload, queryset, batch, "duckdb", theirs, join.pairs())


def _sqlite(workload: Workload, queryset: QuerySet, batch: pa.RecordBatch) -> Record:
    """One indexed probe a shape and tuple."""
    tables = {
        f"rules{place}": (workload.rules[f"rules{place}"], list(shape))
        for place, shape in enumerate(equality.SHAPES)
    }
    selects = [
        f"SELECT query FROM rules{place} WHERE " + " AND ".join(f"{name} = :{name}" for name in shape)
        for place, shape in enumerate(equality.SHAPES)
    ]
    probe, tuples = sqlite.Probe(tables, " UNION ALL ".join(selects)), batch.to_pylist()
    theirs = batch.num_rows / measure.seconds(lambda: probe(tuples), warm_ups=1)
    return _record(workload, queryset, batch, "sqlite", theirs, probe.pairs(tuples))


def _record(
    workload: Workload, queryset: QuerySet, batch: pa.RecordBatch, peer: str, theirs: float, pairs: tuple
) -> Record:
    """Whole calls of ours beside a peer's; results are compared pair by pair."""
    row, query = (np.asarray(column) for column in pairs)
    equal = np.array_equal(ours.pair_numbers(queryset.match(batch)), ours.encode(row, query))
    mine = measure.rate(queryset.match, batch)
    rows = batch.num_rows
    return Record.rates(workload.name, workload.queries, rows, "call", mine, peer, theirs, equal)
