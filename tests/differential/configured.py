"""The reference as the judge of query sets: all statements in one set, under some configurations, in batches of some size."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from eddyline import reference
from eddyline.model.matches import Matches
from eddyline.queryset import QuerySet
from eddyline.reference.regex.search import TooManySteps
from eddyline.testing.rows import EVERYTHING
from eddyline.testing.text import statement_text
from eddyline.testing.tree import Statement
from tests.comparisons import compared
from tests.conformance.matrix import CONFIGURATIONS, binds
from tests.differential.finding import Finding, Report


def judge_configured(
    statements: Sequence[Statement],
    rows: pa.RecordBatch,
    zone: str = "UTC",
    *,
    configurations: Collection[str] = tuple(CONFIGURATIONS),
    size: int,
) -> Report:
    """Where a configuration finds other rows than the reference.

    Statements are skipped that are not accepted, or whose regular expressions the reference does not try to the end.

    The rows come in batches of `size`, as many as have each of them once at least; if they are fewer, again and again.
    """
    kept = [one for one in statements if binds(statement_text(one))]
    try:
        expected = _expected(kept, rows, zone)
    except TooManySteps:
        kept = [one for one in kept if _is_judged(one, rows, zone)]
        expected = _expected(kept, rows, zone)
    queries = _texts(kept)
    wanted = np.zeros((rows.num_rows, len(queries)), np.bool_)
    wanted[expected.pair_arrays()] = True
    findings: dict[int, Finding] = {}
    for name in configurations:
        settings = CONFIGURATIONS[name]
        queryset = QuerySet.build(queries, streams=[EVERYTHING], time_zone=zone, settings=settings)
        for first in range(0, rows.num_rows, size):
            compared("reference: matches", len(queries))
            chosen = np.arange(first, first + size) % rows.num_rows
            found = np.zeros((size, len(queries)), np.bool_)
            found[queryset.match(rows.take(pa.array(chosen))).pair_arrays()] = True
            for number in np.flatnonzero((found != wanted[chosen]).any(axis=0)).tolist():
                wrong = np.unique(chosen[found[:, number] != wanted[chosen, number]]).tolist()
                right = np.flatnonzero(wanted[:, number]).tolist()
                finding = Finding("matches", kept[number], right, f"not so for {wrong}", detail=name)
                findings.setdefault(number, finding)
    return Report(list(findings.values()), judged=len(queries))


def _texts(statements: Sequence[Statement]) -> dict[str, str]:
    return {str(number): statement_text(one) for number, one in enumerate(statements)}


def _expected(statements: Sequence[Statement], rows: pa.RecordBatch, zone: str) -> Matches:
    return reference.match(_texts(statements), rows, streams=[EVERYTHING], time_zone=zone)


def _is_judged(statement: Statement, rows: pa.RecordBatch, zone: str) -> bool:
    try:
        _expected([statement], rows, zone)
    except TooManySteps:
        return False
    return True
