"""One suite for everything that finds matches: whatever is forced, the matches are the reference's.

Random statements over all types and nasty rows, all queries of a block at once, under a matrix of configurations: other
executor, many small segments, other batch sizes, other threads.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline import reference
from eddyline.execute.kinds.unkeyed import WAYS
from eddyline.execute.steering.choice import Way
from eddyline.model.matches import Matches
from eddyline.queryset import QuerySet
from eddyline.testing.rows import EVERYTHING
from tests.comparisons import compared
from tests.conformance.matrix import (
    CONFIGURATIONS,
    ROWS,
    binds,
    block,
    built,
    check,
    conjunctions,
    in_turn,
    judged,
)
from tests.conftest import blocks

SIZES = (0, 1, 64, 65, 511, 512, 513, 2500)
SOME = 50
SERVED_ROW_BY_ROW = {
    "auto",
    "auto in segments",
    "auto, order reconsidered",
    *(name for name, settings in CONFIGURATIONS.items() if settings.executor == "rowwise"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("configuration", "number"), in_turn(range(8), 8))
def test_random_statements(configuration: str, number: int) -> None:
    queries, batch, expected = block(number)
    found = built(queries, configuration)
    check(found.match(batch), expected, queries)
    assert found.count(batch) == expected.counts()


@pytest.mark.slow
@pytest.mark.parametrize(("configuration", "number"), in_turn(range(4), 4))
def test_random_conjunctions(configuration: str, number: int) -> None:
    queries, batch, expected = conjunctions(number)
    found = built(queries, configuration)
    check(found.match(batch), expected, queries)
    assert found.count(batch) == expected.counts()
    check(found.match(batch), expected, queries)  # perhaps in another order
    assert ("row by row" in found.explain()) == (configuration in SERVED_ROW_BY_ROW)


@pytest.mark.slow
@pytest.mark.parametrize(("configuration", "source"), in_turn([block, conjunctions], 2))
def test_batch_sizes(configuration: str, source) -> None:
    """A row's matches do not depend on the batch it comes in, nor on the number of threads."""
    queries, batch, expected = source(0)
    queries = dict(list(queries.items())[:SOME])
    queryset = built(queries, configuration)
    of_row = np.zeros((ROWS, len(queries)), np.bool_)
    for place, id in enumerate(queries):
        of_row[expected.rows(id), place] = True
    for rows in SIZES:
        repeated = pa.concat_batches([batch] * (rows // ROWS + 1)).slice(0, rows)
        wanted = np.argwhere(of_row[np.arange(rows) % ROWS])
        compared("reference: matches", 3 * len(queries))
        row, number = queryset.match(repeated).pair_arrays()
        assert np.array_equal(np.column_stack([row, number]), wanted), f"{rows} rows"
        row, number = queryset.match(repeated, threads=3).pair_arrays()
        assert np.array_equal(np.column_stack([row, number]), wanted), f"{rows} rows in threads"
        counts = queryset.count(repeated, threads=2)
        assert list(counts.values()) == np.bincount(wanted[:, 1], minlength=len(queries)).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("number", blocks(4, quick=(0, 3)))
@pytest.mark.parametrize("way", WAYS)
def test_ways_of_large_batches(way: Way, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row by row, sliced, or sliced behind a filter: what the default chooses from changes no match."""
    monkeypatch.setattr(
        "eddyline.execute.steering.choice.Choice.pick",
        lambda choice, *_: (way if way in choice.ways else "sliced", True),
    )
    queries, batch, expected = conjunctions(number)
    queryset = built(queries, "auto")
    repeated = pa.concat_batches([batch] * 12)
    for _ in range(3):  # perhaps in another order
        row, found = queryset.match(repeated).pair_arrays()
        wanted = np.sort(np.concatenate([encoded(expected) + (i * ROWS << 32) for i in range(12)]))
        compared("reference: matches", 2 * len(queries))
        assert np.array_equal(row.astype(np.int64) << 32 | found, wanted)
        assert queryset.count(repeated) == {id: 12 * count for id, count in expected.counts().items()}
    assert all(executor.steering.choice is not None for executor in queryset.executors())


def encoded(matches: Matches) -> np.ndarray:
    row, number = matches.pair_arrays()
    return row.astype(np.int64) << 32 | number


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3))
def test_rows_outside_of_every_query_are_left_out(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries that all ask about one column: with the pre-filter for the smallest batches the matches stay the same."""
    monkeypatch.setattr("eddyline.execute.sliced.sliced.MIN_ROWS", 1)
    name, value = (("i64", "5"), ("f64", "1"), ("s1", "'a'"))[number]
    queries, batch, _ = block(number)
    narrowed = {id: _with(sql, f"{name} > {value}") for id, sql in list(queries.items())[:120]}
    narrowed = {id: sql for id, sql in narrowed.items() if binds(sql)}
    expected = reference.match(narrowed, batch, streams=[EVERYTHING])
    for configuration in ("sliced", "sliced, no pre-filter", "rowwise"):
        found = built(narrowed, configuration)
        check(found.match(batch), expected, narrowed)
        assert found.count(batch) == expected.counts()
        assert ("may be left out" in found.explain()) == (configuration != "sliced, no pre-filter")


def _with(sql: str, condition: str) -> str:
    """A query with one more condition in front of its own."""
    place = sql.upper().index("WHERE") + len("WHERE")
    return f"{sql[:place]} {condition} AND ({sql[place:]})"


@pytest.mark.slow
@pytest.mark.parametrize("configuration", ["keyed", "rowwise"])
def test_adding_and_removing_changes_nothing_else(configuration: str) -> None:
    queries, batch, _ = block(1)
    queries, batch, expected = judged(dict(list(queries.items())[:120]), batch)
    queryset = built({}, configuration)
    for place, (id, sql) in enumerate(queries.items()):
        queryset = queryset.add({id: sql, f"gone {id}": sql})
        if place % 7 == 0:
            queryset.match(batch)
        queryset = queryset.remove([f"gone {id}"])
    check(queryset.match(batch), expected, queries)


@pytest.mark.slow
@pytest.mark.parametrize(("configuration", "source"), in_turn([block, conjunctions], 2))
def test_saved_and_loaded(configuration: str, source, tmp_path) -> None:
    queries, batch, expected = source(2)
    queryset = built(queries, configuration)
    queryset.save(tmp_path / "set")
    loaded = QuerySet.load(tmp_path / "set")
    check(loaded.match(batch), expected, queries)
    assert loaded.settings == CONFIGURATIONS[configuration]
    assert loaded.explain() == queryset.explain()


@pytest.mark.slow
def test_why_agrees() -> None:
    queries, batch, expected = block(3)
    queryset = built(queries, "auto")
    for row in range(6):
        for id in list(queries)[:120]:
            assert queryset.why(id, batch.slice(row, 1)).matched == (row in expected.rows(id)), queries[id]
