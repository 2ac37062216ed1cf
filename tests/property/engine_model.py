"""What an engine should do, said by the reference: the queries that are there, and what they deliver of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any

import pyarrow as pa

from eddyline import Query, Stream, reference
from eddyline.model.join import BoundJoin, virtual_column
from eddyline.model.query import BoundQuery
from eddyline.reference.evaluate import Row
from eddyline.reference.join import Change, Push
from eddyline.reference.match import satisfies
from eddyline.reference.rows import values
from eddyline.sql import bind
from eddyline.testing.queries import statement
from eddyline.testing.rows import SCHEMA, nasty_rows
from eddyline.testing.text import statement_text

Lines = list[tuple[str, ...]]
EVERYTHING = Stream("everything", SCHEMA)
OTHER = Stream("other", pa.schema([("a", pa.int32()), ("at", pa.time32("s"))]))
_TIMED = pa.schema([("k", pa.int32()), ("v", pa.int32()), ("t", pa.int64())])
ORDERS = Stream("orders", _TIMED, event_time="t", lateness=30)
PAYMENTS = Stream("payments", _TIMED, event_time="t", lateness=12)
STREAMS = (EVERYTHING, OTHER, ORDERS, PAYMENTS)
OTHERS = (
    "SELECT * FROM other",
    "SELECT a + 2147483647 AS b, a FROM other WHERE a > -2",
    "SELECT a FROM other WHERE 1 / a > 0",
)
# Joins, and how many roles each has: roles take numbers, too.
JOINS = {
    "SELECT a.v AS x, b.v AS y FROM orders a JOIN payments b ON a.k = b.k WHERE b.t BETWEEN a.t AND a.t + 20": 2,
    "SELECT * FROM orders o JOIN payments p ON o.k = p.k AND p.t >= o.t - 9 AND p.t < o.t + 9 WHERE o.v > 3": 2,
    "SELECT b.v FROM payments a JOIN orders b ON a.k <=> b.k AND abs(a.v) > b.v WHERE b.t = a.t + 1 AND a.v < 7": 2,
    "SELECT a.t AS x, b.t AS y FROM orders a, orders b WHERE a.k = b.k AND b.t - a.t BETWEEN -4 AND 4 AND b.v < 5": 2,
    "SELECT a.v AS x FROM orders a JOIN payments b USING (k) WHERE b.t BETWEEN a.t - 9 AND a.t AND (a.v > 7 OR b.v = 2)": 4,
    "SELECT a.v AS x FROM orders a JOIN payments b USING (k) WHERE b.t BETWEEN a.t + 1 AND a.t AND a.v > 7": 0,
}
SELECTIONS = ("SELECT k FROM orders WHERE v > 3", "SELECT v, t FROM payments WHERE v < 7")


def _timed(seed: int) -> pa.RecordBatch:
    """Rows whose event times go up, with some disorder; some without a time or a key."""
    rng = Random(seed)
    times = [row + rng.choice([0, 0, 2, -5, -40]) if rng.random() > 0.05 else None for row in range(60)]
    keys = [rng.choice([0, 1, 2, None]) for _ in range(60)]
    values = [rng.choice([*range(10), None]) for _ in range(60)]
    return pa.record_batch(
        [pa.array(keys, pa.int32()), pa.array(values, pa.int32()), pa.array(times, pa.int64())], schema=_TIMED
    )


BATCHES = {
    "orders": _timed(1),
    "payments": _timed(2),
    "everything": nasty_rows(5, 60),
    "other": pa.record_batch(
        {"a": pa.array([0, 1, None, 7, -1], pa.int32()), "at": pa.array([5, 6, None, 7, 8], pa.time32("s"))}
    ),
}


def _texts() -> list[str]:
    """Texts that bind, many of which match something."""
    found = []
    for seed in range(400):
        text = statement_text(statement(seed, size=6))
        try:
            bound = bind(Query("q", text), STREAMS)
        except Exception:
            continue
        if any(satisfies(bound, row) for row in reference.rows(BATCHES["everything"], EVERYTHING)):
            found.append(text)
    return found


TEXTS = (*_texts()[:60], *OTHERS, *SELECTIONS)


class Model:
    """The queries that are there, in the order in which they came, with their revisions and numbers; what is on disk, by push."""

    def __init__(self) -> None:
        self.version = 0
        self.given = 0  # numbers
        self.queries: dict[str, tuple[BoundQuery | BoundJoin, int, int]] = {}
        self.steps: list[Push | Change] = []  # of the joins, since the start
        self.recorded: dict[tuple[str, str], list[Lines]] = {}  # by the stream and the id of the batch

    def restart(self) -> None:
        """Another engine on the same folder: what is on disk is all that stays."""
        self.version = self.given = 0
        self.queries = {}
        self.steps = []

    def push(self, name: str, batch: pa.RecordBatch, batch_id: str) -> tuple[list[Lines], bool]:
        """The lines of a push, and whether the batch was there before; an id is one of its stream alone."""
        repeated = (name, batch_id) in self.recorded
        if not repeated:
            self.recorded[name, batch_id] = self.deliveries(name, batch)
        return self.recorded[name, batch_id], repeated

    def change(
        self, *, add: Mapping[str, str], remove: Iterable[str] = (), replace: Mapping[str, str] | None = None
    ) -> int:
        replace = replace or {}
        revisions = {id: self.queries[id][1] + 1 for id in replace}
        gone = [*remove, *replace]
        joins = [id for id in gone if isinstance(self.queries[id][0], BoundJoin)]
        for id in gone:
            del self.queries[id]
        for id, sql in {**add, **replace}.items():
            self.queries[id] = bind(Query(id, sql), STREAMS), revisions.get(id, 1), self.given
            self.given += 1 + JOINS.get(sql, 0)
        new = [self.queries[id][0] for id in (*add, *replace)]
        self.steps.append(Change([each for each in new if isinstance(each, BoundJoin)], joins))
        self.version += bool(add or gone)
        return self.version

    def deliveries(self, name: str, batch: pa.RecordBatch) -> list[Lines]:
        """The lines of every delivery: query, number, revision, version and the projected values; projections in any order."""
        stream = next(s for s in STREAMS if s.name == name)
        untyped = [column for column in stream.schema.names if column not in stream.types]
        found: dict[Any, Lines] = {}
        for row, raw in zip(reference.rows(batch, stream), batch.select(untyped).to_pylist(), strict=True):
            for id, (query, revision, number) in self.queries.items():
                if query.stream == name and satisfies(query, row):
                    outputs = reference.project(query, {**row, **raw})
                    line = tuple(map(repr, (id, number, revision, self.version, *outputs)))
                    found.setdefault(query.outputs, []).append(line)
        self.steps.append(Push(name, batch))
        for join, line in self._joined():
            found.setdefault((join.stream, join.outputs), []).append(line)
        return sorted(found.values())

    def _joined(self) -> Iterator[tuple[BoundJoin, tuple[str, ...]]]:
        """The lines that the last push completes, found by running everything since the start."""
        pairs = reference.join([], self.steps, streams=STREAMS).steps[-1]
        arrived: dict[str, list[Row]] = {}
        for step in self.steps:
            if isinstance(step, Push) and pairs:
                stream = next(s for s in STREAMS if s.name == step.stream)
                arrived.setdefault(step.stream, []).extend(reference.rows(step.batch, stream))
        for id, *positions in pairs:
            join, revision, number = self.queries[id]
            assert isinstance(join, BoundJoin), "only joins have pairs"
            row: Row = {}
            for source, position in zip(join.sources, positions, strict=True):
                own = arrived[source.stream][position]
                row |= {virtual_column(source.alias, name): value for name, value in own.items()}
            yield join, tuple(map(repr, (id, number, revision, self.version, *reference.project(join, row))))


def lines(tables: Iterable[pa.Table]) -> list[Lines]:
    """The lines of tables, as the model gives them."""
    found = []
    for table in tables:
        columns = [
            [value for chunk in column.chunks for value in _values(chunk)] for column in table.itercolumns()
        ]
        found.append([tuple(map(repr, line)) for line in zip(*columns, strict=True)])
    return sorted(found)


def _values(array: pa.Array) -> list[Any]:
    return array.to_pylist() if pa.types.is_time(array.type) else values(array)
