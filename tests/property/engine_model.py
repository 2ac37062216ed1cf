"""What an engine should do, said by the reference: the queries that are there, and what they deliver of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from eddyline import Query, Stream, reference
from eddyline.model.query import BoundQuery
from eddyline.reference.match import satisfies
from eddyline.reference.rows import values
from eddyline.sql import bind
from eddyline.testing.queries import statement
from eddyline.testing.rows import SCHEMA, nasty_rows
from eddyline.testing.text import statement_text

Lines = list[tuple[str, ...]]
EVERYTHING = Stream("everything", SCHEMA)
OTHER = Stream("other", pa.schema([("a", pa.int32()), ("at", pa.time32("s"))]))
STREAMS = (EVERYTHING, OTHER)
OTHERS = (
    "SELECT * FROM other",
    "SELECT a + 2147483647 AS b, a FROM other WHERE a > -2",
    "SELECT a FROM other WHERE 1 / a > 0",
)
BATCHES = {
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


TEXTS = (*_texts()[:60], *OTHERS)


class Model:
    """The queries that are there, in the order in which they came, with their revisions and numbers; what is on disk, by push."""

    def __init__(self) -> None:
        self.version = 0
        self.given = 0  # numbers
        self.queries: dict[str, tuple[BoundQuery, int, int]] = {}
        self.recorded: dict[tuple[str, str], list[Lines]] = {}  # by the stream and the id of the batch

    def restart(self) -> None:
        """Another engine on the same folder: what is on disk is all that stays."""
        self.version = self.given = 0
        self.queries = {}

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
        for id in gone:
            del self.queries[id]
        for id, sql in {**add, **replace}.items():
            self.queries[id] = bind(Query(id, sql), STREAMS), revisions.get(id, 1), self.given
            self.given += 1
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
        return sorted(found.values())


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
