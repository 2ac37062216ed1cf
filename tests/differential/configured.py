"""The reference as the judge of query sets: all statements in one set, under each configuration."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from eddyline import reference
from eddyline.queryset import QuerySet
from eddyline.testing.rows import EVERYTHING
from eddyline.testing.text import statement_text
from eddyline.testing.tree import Statement
from tests.conformance.matrix import CONFIGURATIONS, binds
from tests.differential.finding import Finding


def judge_configured(
    statements: Sequence[Statement], batch: pa.RecordBatch, zone: str = "UTC"
) -> list[Finding]:
    """Where a configuration finds other rows than the reference; statements that are not accepted are skipped."""
    by_id = {str(i): one for i, one in enumerate(statements) if binds(statement_text(one))}
    queries = {id: statement_text(one) for id, one in by_id.items()}
    expected = reference.match(queries, batch, streams=[EVERYTHING], time_zone=zone)
    findings: dict[str, Finding] = {}
    for name, settings in CONFIGURATIONS.items():
        queryset = QuerySet.build(queries, streams=[EVERYTHING], time_zone=zone, settings=settings)
        found = queryset.match(batch)
        for id, one in by_id.items():
            wanted, rows = expected.rows(id).tolist(), found.rows(id).tolist()
            if wanted != rows and id not in findings:
                findings[id] = Finding("matches", one, wanted, rows, detail=name)
    return list(findings.values())
