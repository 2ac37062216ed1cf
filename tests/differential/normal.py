"""The reference as the judge of normal forms: a row satisfies one iff the condition as bound is TRUE for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pyarrow as pa

from eddyline import reference
from eddyline.errors import QueryError
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.query import NormalQuery, Query
from eddyline.normalize import normalize
from eddyline.sql import bind
from eddyline.testing.rows import EVERYTHING
from eddyline.testing.text import statement_text
from eddyline.testing.tree import Statement
from tests.comparisons import compared
from tests.differential.finding import UNJUDGED, Finding, value_of


def judge_normal(statements: Sequence[Statement], batch: pa.RecordBatch, zone: str = "UTC") -> list[Finding]:
    """Where a normal form holds for other rows than its query; statements that are not accepted are skipped."""
    rows = list(reference.rows(batch, EVERYTHING))
    findings = []
    for statement in statements:
        try:
            bound = bind(Query("q", statement_text(statement)), [EVERYTHING], time_zone=zone)
        except QueryError:
            continue
        normal = value_of(partial(normalize, bound))
        if not isinstance(normal, NormalQuery):
            findings.append(Finding("normal", statement, "a normal form", normal))
            continue
        compared("reference: normal forms", 1)
        for i, row in enumerate(rows):
            value = value_of(partial(reference.evaluate, bound.predicate, row, time_zone=zone))
            actual = value_of(partial(holds, normal.predicate, row, zone))
            if UNJUDGED not in (value, actual) and actual is not (value is True):
                findings.append(
                    Finding("normal", statement, value is True, actual, i, repr(normal.predicate)[:500])
                )
                break
    return findings


def holds(predicate: Predicate, row: Mapping[str, object], zone: str) -> bool:
    """Whether a row satisfies a normal form."""
    if isinstance(predicate, Condition):
        return reference.evaluate(predicate.subject, row, time_zone=zone) in predicate.regions
    answers = (holds(part, row, zone) for part in predicate.parts)
    return all(answers) if isinstance(predicate, And) else any(answers)
