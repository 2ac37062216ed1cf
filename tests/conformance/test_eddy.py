"""Eddies in the suite for everything that finds matches: random statements of all kinds, the reference's matches."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Compiler, Query
from eddyline.errors import EddylineError
from eddyline.execute.eddy import POLICIES, Eddy, make_policy
from eddyline.functions.evaluate import Evaluation
from eddyline.model.matches import Matches
from eddyline.testing.rows import EVERYTHING
from tests.comparisons import compared
from tests.conformance.matrix import Queries, block, conjunctions

TOO_MANY_CLAUSES = 5  # of 250 random statements, at most so many are refused


def check(
    queries: Queries, batch: pa.RecordBatch, expected: Matches, eddy: Eddy, *, refused: int = TOO_MANY_CLAUSES
) -> None:
    taken = [id for id, sql in queries.items() if _took(eddy, id, sql)]
    assert len(taken) >= len(queries) - refused
    compared("reference: matches of eddies", len(taken))
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    eddy.push("everything", Evaluation(columns, rows=batch.num_rows), batch.num_rows)
    found = sorted((result.query, result.row) for result in eddy.run())
    assert found == sorted((id, row) for id in taken for row in expected.rows(id).tolist())


def _took(eddy: Eddy, id: str, sql: str) -> bool:
    """Add a query, if its clauses are not too many for an eddy."""
    query = Compiler([EVERYTHING]).compile(Query(id, sql))
    try:
        eddy.add(query)
    except EddylineError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("filters", ["grouped", "asc"])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("number", range(1))
def test_random_statements(number: int, policy: str, filters: str) -> None:
    check(*block(number), Eddy(make_policy(policy), filters=filters))


@pytest.mark.slow
@pytest.mark.parametrize("needed_only", [False, True])
@pytest.mark.parametrize("policy", POLICIES)
def test_random_conjunctions(policy: str, needed_only: bool) -> None:
    check(*conjunctions(0), Eddy(make_policy(policy), needed_only=needed_only), refused=0)
