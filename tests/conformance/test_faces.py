"""Whoever is asked finds the reference's matches: query sets, engines, and the functions that Spark's workers run.

The matrix of configurations stands in `matrix.py`, those who are asked in `faces.py`. Batches come whole and in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from eddyline.model.matches import Matches
from tests.comparisons import compared
from tests.conformance.faces import FACES, numbered, pieces
from tests.conformance.matrix import CONFIGURATIONS, Queries

# versions of a registry are compiled in one way; `test_conformance.py` has query sets under all configurations
UNCONFIGURED = ("workers of a pipeline", "query set")
# one for each executor, in many small segments; the other configurations are in make test-long
QUICK = ("auto", "auto, order reconsidered", "sliced in segments", "keyed in segments", "rowwise in segments")


def asked() -> Iterator[object]:
    for face in FACES:
        for configuration in CONFIGURATIONS if face not in UNCONFIGURED else ("auto",):
            marks = () if configuration in QUICK else pytest.mark.long
            for source, number in (("conjunctions", 1), ("statements", 5)):
                yield pytest.param(face, configuration, source, number, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize(("face", "configuration", "source", "number"), list(asked()))
def test_every_face_finds_the_matches(face: str, configuration: str, source: str, number: int) -> None:
    queries, batch, expected = numbered(source, number)
    agree(face, configuration, queries, batch, expected)


@pytest.mark.slow
@pytest.mark.parametrize("face", FACES)
def test_rows_that_match_nothing(face: str) -> None:
    """Some rows between others have no match: nobody gives them the queries of a neighbour."""
    queries, batch, expected = numbered("statements", 5)
    rare = {id: sql for id, sql in queries.items() if 1 <= len(expected.rows(id)) <= 3}
    matched = {row for id in rare for row in expected.rows(id).tolist()}
    assert 5 < len(matched) < batch.num_rows - 5
    agree(face, "auto", rare, batch, expected)


def agree(face: str, configuration: str, queries: Queries, batch: pa.RecordBatch, expected: Matches) -> None:
    batches = [batch, *pieces(batch, 1, 17)]
    pairs = expected.pairs().to_pydict()
    wanted = sorted(
        2 * [pair for pair in zip(pairs["row"], pairs["query"], strict=True) if pair[1] in queries]
    )
    found = sorted(FACES[face](queries, batches, CONFIGURATIONS[configuration]))
    compared(f"reference: matches of {face}", len(queries) * len(batches))
    wrong = {id for _, id in set(found) ^ set(wanted)}
    assert not wrong, (
        f"{len(wrong)} of {len(queries)} differ, such as {min((queries[id] for id in wrong), key=len)}"
    )
    assert found == wanted
