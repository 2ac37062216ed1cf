"""One suite for everything that finds matches: whatever is forced, the matches are the reference's.

Random statements over all types and nasty rows, all queries of a block at once, under a matrix of configurations: other
executor, many small segments, other batch sizes, other threads.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from eddyline import reference
from eddyline.config import IndexSettings
from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.matches import Matches
from eddyline.model.query import Query
from eddyline.queryset import QuerySet
from eddyline.sql import bind
from eddyline.testing.queries import statement
from eddyline.testing.rows import SCHEMA, nasty_rows
from eddyline.testing.text import statement_text

EVERYTHING = Stream("everything", SCHEMA)
BLOCK = 250
ROWS = 60
CONFIGURATIONS = {
    "auto": IndexSettings(),
    "sliced": IndexSettings(executor="sliced"),
    "keyed": IndexSettings(executor="keyed"),
    "segments": IndexSettings(executor="keyed", segment_size=7),
}


@cache
def block(number: int) -> tuple[dict[str, str], pa.RecordBatch, Matches]:
    texts = {
        str(seed): statement_text(statement(seed)) for seed in range(number * BLOCK, (number + 1) * BLOCK)
    }
    queries = {id: sql for id, sql in texts.items() if binds(sql)}
    batch = nasty_rows(number, ROWS)
    return queries, batch, reference.match(queries, batch, streams=[EVERYTHING])


def binds(sql: str) -> bool:
    try:
        bind(Query("q", sql), [EVERYTHING])
    except QueryError:
        return False
    return True


def check(found: Matches, expected: Matches, queries: dict[str, str]) -> None:
    wrong = [sql for id, sql in queries.items() if found.rows(id).tolist() != expected.rows(id).tolist()]
    assert not wrong, f"{len(wrong)} of {len(queries)} differ, such as {min(wrong, key=len)}"
    assert found.pairs() == expected.pairs()
    assert found.counts() == expected.counts()
    assert found.query_lists() == expected.query_lists()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_random_statements(configuration: str, number: int) -> None:
    queries, batch, expected = block(number)
    found = QuerySet.build(queries, streams=[EVERYTHING], settings=CONFIGURATIONS[configuration])
    check(found.match(batch), expected, queries)
    assert found.count(batch) == expected.counts()


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 1, 511, 512, 513, 1100])
def test_batch_sizes(rows: int) -> None:
    """A row's matches do not depend on the batch it comes in."""
    queries, batch, expected = block(0)
    repeated = pa.concat_batches([batch] * (rows // ROWS + 1)).slice(0, rows)
    for settings in CONFIGURATIONS.values():
        queryset = QuerySet.build(queries, streams=[EVERYTHING], settings=settings)
        for threads in (1, 3):
            found = queryset.match(repeated, threads=threads)
            for id in queries:
                wanted = np.isin(np.arange(rows) % ROWS, expected.rows(id))
                assert found.rows(id).tolist() == np.flatnonzero(wanted).tolist(), queries[id]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3))
def test_rows_outside_of_every_query_are_left_out(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries that all ask about one column: with the pre-filter for the smallest batches the matches stay the same."""
    monkeypatch.setattr("eddyline.execute.sliced.MIN_ROWS", 1)
    name, value = (("i64", "5"), ("f64", "1"), ("s1", "'a'"))[number]
    queries, batch, _ = block(number)
    narrowed = {id: _with(sql, f"{name} > {value}") for id, sql in list(queries.items())[:120]}
    narrowed = {id: sql for id, sql in narrowed.items() if binds(sql)}
    found = QuerySet.build(narrowed, streams=[EVERYTHING], settings=CONFIGURATIONS["sliced"])
    expected = reference.match(narrowed, batch, streams=[EVERYTHING])
    check(found.match(batch), expected, narrowed)
    assert found.count(batch) == expected.counts()


def _with(sql: str, condition: str) -> str:
    """A query with one more condition in front of its own."""
    place = sql.upper().index("WHERE") + len("WHERE")
    return f"{sql[:place]} {condition} AND ({sql[place:]})"


@pytest.mark.slow
def test_adding_and_removing_changes_nothing_else() -> None:
    queries, batch, expected = block(1)
    queryset = QuerySet.build({}, streams=[EVERYTHING])
    for place, (id, sql) in enumerate(queries.items()):
        queryset = queryset.add({id: sql, f"gone {id}": sql})
        if place % 7 == 0:
            queryset.match(batch)
        queryset = queryset.remove([f"gone {id}"])
    check(queryset.match(batch), expected, queries)


@pytest.mark.slow
def test_saved_and_loaded(tmp_path) -> None:
    queries, batch, expected = block(2)
    QuerySet.build(queries, streams=[EVERYTHING], settings=CONFIGURATIONS["keyed"]).save(tmp_path / "set")
    check(QuerySet.load(tmp_path / "set").match(batch), expected, queries)


@pytest.mark.slow
def test_why_agrees() -> None:
    queries, batch, expected = block(3)
    queryset = QuerySet.build(queries, streams=[EVERYTHING])
    for row in range(6):
        for id in list(queries)[:120]:
            assert queryset.why(id, batch.slice(row, 1)).matched == (row in expected.rows(id)), queries[id]
