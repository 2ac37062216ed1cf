"""Whatever finds matches for a user, under one signature: a query set, an engine, and what runs in Spark's workers.

Deliveries of engines and pipelines are selected rows, which do not say where in the batch they stood. So the stream has
one more column, the number of the row, and that is what queries select.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from eddyline import Engine, QuerySet, Stream
from eddyline.config import IndexSettings
from eddyline.delivery.router import Outlet, Router
from eddyline.model.matches import Matches
from eddyline.registry import Drop, Put, Registry
from eddyline.runtime.spark.dataframe.worker import MatchWork, matching_rows, query_lists
from eddyline.runtime.spark.pipeline.batch.result_rows import RowFormat, TypedColumns
from eddyline.runtime.spark.pipeline.batch.results import ResultWork, result_rows
from eddyline.runtime.spark.pipeline.batch.summary import Summary
from eddyline.runtime.spark.pipeline.input.identity import Identity
from eddyline.runtime.spark.sinks.shape import PART
from eddyline.runtime.spark.transport.shipping import ship
from eddyline.runtime.spark.versions import Versions
from eddyline.testing.queries import statement
from eddyline.testing.rows import EVERYTHING
from eddyline.testing.text import statement_text
from eddyline.testing.tree import ExpressionTree
from tests.conformance.matrix import Queries, block, conjunctions

ROW: Final = "row_number"
SOME: Final = 90  # queries of a block
NUMBERED: Final = Stream("everything", EVERYTHING.schema.append(pa.field(ROW, pa.int64())))
Batches = Sequence[pa.RecordBatch]
Pairs = list[tuple[int, str]]  # a row and the id of a query that it matches
Face = Callable[[Queries, Batches, IndexSettings], Pairs]
SOURCES: Final = {
    "statements": (block, 14),
    "conjunctions": (conjunctions, 5),
}  # with the size of their queries


@cache
def numbered(source: str, number: int) -> tuple[Queries, pa.RecordBatch, Matches]:
    """Some queries of a block, selecting the number of the row; nasty rows; the reference's matches of the whole block."""
    drawn, size = SOURCES[source]
    queries, batch, expected = drawn(number)
    texts = {id: _selecting_the_row(int(id), size) for id in list(queries)[:SOME]}
    rows = batch.append_column(NUMBERED.schema.field(ROW), pa.array(range(batch.num_rows), pa.int64()))
    return texts, rows, expected


def _selecting_the_row(seed: int, size: int) -> str:
    row = (ExpressionTree("column", "long", (), ROW), ROW)
    return statement_text(replace(statement(seed, size=size), outputs=(row,)))


def by_queryset(queries: Queries, batches: Batches, settings: IndexSettings) -> Pairs:
    """`QuerySet.match`."""
    queryset = QuerySet.build(queries, streams=[NUMBERED], settings=settings)
    found: Pairs = []
    for batch in batches:
        row, query = queryset.match(batch).pairs().columns
        found += zip(batch[ROW].take(row.combine_chunks()).to_pylist(), query.to_pylist(), strict=True)
    return found


def by_engine(queries: Queries, batches: Batches, settings: IndexSettings) -> Pairs:
    """`Engine.push`, of queries that came in several changes, while others went; its accounts say the same."""
    early, late = list(queries)[::3], [id for place, id in enumerate(queries) if place % 3]
    found: Pairs = []
    with Engine(streams=[NUMBERED], settings=settings) as engine:
        engine.add({f"gone {id}": queries[id] for id in late})
        engine.add({id: queries[id] for id in early})
        engine.change(remove=[f"gone {id}" for id in late], add={id: queries[id] for id in late})
        for batch in batches:
            pushed = engine.push("everything", batch)
            assert not pushed.errors
            rows = [row for table in pushed for row in table.select(["query", "version", ROW]).to_pylist()]
            assert {row["version"] for row in rows} <= {engine.version}
            assert Counter(row["query"] for row in rows) == pushed.ledger.queries
            found += [(row[ROW], row["query"]) for row in rows]
    return found


def by_match_lists(queries: Queries, batches: Batches, settings: IndexSettings) -> Pairs:
    """What the workers of `match` do where other columns stay in Spark: one list of ids for every row."""
    work = _work(queries, settings, explode=False)
    columns = ([batch[name] for name in work.columns] for batch in batches)
    lists = [ids for found in query_lists(work, columns) for ids in found.to_pylist()]
    rows = [row for batch in batches for row in batch[ROW].to_pylist()]
    return [(row, id) for row, ids in zip(rows, lists, strict=True) for id in ids]


def by_match_rows(queries: Queries, batches: Batches, settings: IndexSettings, *, explode: bool) -> Pairs:
    """What the workers of `match` do where whole rows travel: those that match, with their queries."""
    work = _work(queries, settings, explode=explode)
    places = [NUMBERED.schema.get_field_index(name) for name in work.columns]
    found: Pairs = []
    for result in matching_rows(work, places, iter(batches)):
        for row, ids in zip(result[ROW].to_pylist(), result.columns[-1].to_pylist(), strict=True):
            assert ids, "rows without a match are left out"
            found += [(row, ids)] if explode else [(row, id) for id in ids]
    return found


def _work(queries: Queries, settings: IndexSettings, *, explode: bool) -> MatchWork:
    queryset = QuerySet.build(queries, streams=[NUMBERED], settings=settings)
    shipment = ship(queryset, local=True)
    columns = queryset.columns_read("everything")
    return MatchWork(shipment, "everything", columns, "id", explode=explode, keep_unmatched=False)


def by_pipeline(queries: Queries, batches: Batches, _: IndexSettings) -> Pairs:
    """What the workers of a pipeline do, with a version that grew out of another; the task's summary says the same."""
    found: Pairs = []
    with tempfile.TemporaryDirectory() as folder:
        rows = list(result_rows(_pipeline_work(queries, Path(folder)), iter(batches)))
    *delivered, last = [row for batch in rows for row in batch.to_pylist()]
    for row in delivered:
        assert (row[PART], row["reason"]) == (0, None)
        found.append((json.loads(row["payload"])[ROW], row["query_id"]))
    summary = Summary.of(last["payload"])
    assert summary.sinks == {"results": len(found)} and summary.rows == sum(map(len, batches))
    return found


def _pipeline_work(queries: Queries, folder: Path) -> ResultWork:
    """Two thirds of the queries come with the second version, in which as many others go."""
    late = [id for place, id in enumerate(queries) if place % 3]
    with Registry.open(folder / "registry.db") as registry:
        first = {f"gone {id}" if id in late else id: sql for id, sql in queries.items()}
        registry.change([Put(id, sql) for id, sql in first.items()], streams=[NUMBERED], author="ann")
        versions = Versions(registry, folder / "sets")
        versions.current()
        edits = [edit for id in late for edit in (Drop(f"gone {id}"), Put(id, queries[id]))]
        registry.change(edits, author="ann")
        shipment = versions.shipment(versions.current())
        assert not versions.problems
    return ResultWork(
        shipment=shipment,
        stream="everything",
        time_zone="UTC",
        source="rows",
        batch_id=1,
        identity=Identity("content", (ROW,)),
        event_time=None,
        router=Router([Outlet("results", default=True)]),
        keeps_corrupt=False,
        columns=tuple(NUMBERED.schema.names),
        version=2,
        format=RowFormat(TypedColumns({}, ("results",))),
    )


FACES: Final[dict[str, Face]] = {
    "query set": by_queryset,
    "engine": by_engine,
    "workers, lists": by_match_lists,
    "workers, rows": partial(by_match_rows, explode=False),
    "workers, pairs": partial(by_match_rows, explode=True),
    "workers of a pipeline": by_pipeline,
}


def pieces(batch: pa.RecordBatch, *sizes: int) -> Iterator[pa.RecordBatch]:
    """A batch in pieces of these sizes, and what is left."""
    first = 0
    for size in (*sizes, batch.num_rows):
        if first < batch.num_rows:
            yield batch.slice(first, size)
        first += size
