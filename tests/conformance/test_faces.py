"""Whoever is asked finds the reference's matches: query sets, engines, and the functions that Spark's workers run.

The matrix of configurations stands in `matrix.py`, those who are asked in `faces.py`. Batches come whole and in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.comparisons import compared
from tests.conformance.faces import FACES, numbered, pieces
from tests.conformance.matrix import CONFIGURATIONS

# versions of a registry are compiled in one way; `test_conformance.py` has query sets under all configurations
UNCONFIGURED = ("workers of a pipeline", "query set")
# one for each executor, in many small segments; the other configurations are in make test-long
QUICK = ("auto", "auto, order thought over", "sliced in segments", "keyed in segments", "rowwise in segments")


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
