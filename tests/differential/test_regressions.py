"""Cases that were once wrong, as `python -m tests.fuzz` prints them: judged by Spark and by the value written here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from pyspark.sql import SparkSession

from eddyline import reference
from eddyline.model.query import BoundQuery, Query
from eddyline.sql import bind, render
from eddyline.testing.rows import EVERYTHING, rows_of
from tests.differential.agreement import canonical
from tests.differential.finding import same
from tests.differential.judge import Values, judge


@dataclass(frozen=True)
class Case:
    """The value that a query's only output, or else its condition, has for a row (columns not named are NULL)."""

    sql: str
    expected: Any
    row: dict[str, Any] = field(default_factory=dict)
    time_zone: str = "UTC"

    @property
    def expression(self) -> Any:
        bound: BoundQuery = bind(Query("q", self.sql), [EVERYTHING], time_zone=self.time_zone)
        return bound.outputs[0].expression if len(bound.outputs) == 1 else bound.predicate


CASES: tuple[Case, ...] = (
    Case("SELECT * FROM everything WHERE s1 NOT LIKE ALL ('b%', 'a')", False, {"s1": "a"}),
    Case("SELECT * FROM everything WHERE s1 NOT LIKE ANY ('b%', 'a')", True, {"s1": "a"}),
    Case("SELECT * FROM everything WHERE i64 > -99999999999999999999", True),
    Case("SELECT unix_timestamp(ntz1) AS o FROM everything", 0, {"ntz1": 0}, time_zone="Europe/Berlin"),
    Case("SELECT * FROM everything WHERE s1 RLIKE '\\\\s'", False, {"s1": "\u00a0"}),
    Case("SELECT unix_timestamp(TIMESTAMP'1969-12-31 23:59:59.5Z') AS o FROM everything", 0),
    Case("SELECT * FROM everything WHERE i64 > 0.9999999999999999999", True, {"i64": 1}),
    Case("SELECT * FROM everything WHERE i32 <= 0.99999999999999999999999999999", False, {"i32": 1}),
    Case("SELECT * FROM everything WHERE 1.00000000000000000000000000001 > i8", True, {"i8": 1}),
    Case(
        "SELECT * FROM everything WHERE i16 BETWEEN 0 AND 0.99999999999999999999999999999999999",
        False,
        {"i16": 1},
    ),
    Case("SELECT * FROM everything WHERE i32 = 0.99999999999999999999999999999", True, {"i32": 1}),
    Case(
        "SELECT * FROM everything WHERE ts1 - ntz1 = INTERVAL '05:30' HOUR TO MINUTE",
        True,
        {"ts1": 1_710_072_000_000_000, "ntz1": 1_710_037_800_000_000},
        "America/New_York",
    ),
    Case("SELECT * FROM everything WHERE day1 = 'epoch'", True, {"day1": 0}),
    Case(
        "SELECT CAST(' Epoch UTC' AS TIMESTAMP) = ts1 AS o FROM everything", True, {"ts1": 0}, "Asia/Kolkata"
    ),
    Case("SELECT CAST(t1 AS DATE) AS o FROM everything", None, {"t1": "epoch"}),
    Case("SELECT CAST(n1 AS DOUBLE) > 0 AS o FROM everything", True, {"n1": "1e99999999999999999999"}),
    Case(
        "SELECT (n1 || n2) = (round(i64, 3) - d5) AS o FROM everything",
        True,
        {"n1": "1e-9999999999", "n2": "9" * 12, "i64": 1, "d5": "1.00"},
    ),
    Case("SELECT CAST(n1 AS FLOAT) AS o FROM everything", float("inf"), {"n1": "1" * 5_000}),
    Case("SELECT CAST(n1 AS INT) AS o FROM everything", 7, {"n1": "0" * 5_000 + "7"}),
    Case(
        "SELECT unix_timestamp(TIMESTAMP_NTZ'2020-01-01 00:00:00') AS o FROM everything",
        1577836800,
        {},
        "Asia/Kolkata",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sql)
def test_reference(case: Case) -> None:
    row = next(iter(reference.rows(rows_of(case.row), EVERYTHING)))
    actual = reference.evaluate(case.expression, row, time_zone=case.time_zone)
    assert same(actual, case.expected), f"{actual!r} instead of {case.expected!r}"


def test_spark(spark: SparkSession) -> None:
    wrong = []
    for zone in sorted({case.time_zone for case in CASES}):
        cases = [case for case in CASES if case.time_zone == zone]
        texts = [render(case.expression, try_forms=True) for case in cases]
        verdicts = judge(spark, rows_of(*(case.row for case in cases)), texts, time_zone=zone)
        for i, (case, verdict) in enumerate(zip(cases, verdicts, strict=True)):
            if not isinstance(verdict, Values) or not same(canonical(verdict.array)[i], case.expected):
                wrong.append(f"{case.sql}: {verdict}")
    assert not wrong, "\n".join(wrong)
