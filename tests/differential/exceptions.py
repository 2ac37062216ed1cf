"""Known and documented differences from Spark; everything else is a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.differential.finding import Finding

# Spark has no failing-as-NULL form that holds: a pattern from a column may end in its escape or escape an ordinary
# character; try_to_timestamp raises what it should turn to NULL when the year is too large; some NULLs of try_ forms
# stand in columns that Spark declares to have none; round has no form that gives NULL where a decimal of 38 digits
# becomes one of 39.
NO_TRY_FORM = (
    "INVALID_FORMAT.ESC",
    "ArithmeticException: long overflow",
    "with null values to non-nullable",
    "rounded half up from",
)

# Accepted by Spark, refused here by name (tests/golden/binding/narrower.txt).
NARROWER = (
    "interval day to second cannot be cast",
    "interval year to month cannot be cast",
    "array<int> cannot be cast",
    "array<string> cannot be cast",
    "map<string,int> cannot be cast",
    "struct<x:int,y:string,inner:struct<z:double,d:date>> cannot be cast",
    "cannot take interval",
    "cannot take string and interval",
    "and interval year to month",
    "and interval day to second",
)


def excused(finding: Finding) -> bool:
    """Whether the difference is one of those above."""
    if finding.judgement == "try":
        return any(piece in str(finding.expected) for piece in NO_TRY_FORM)
    return finding.actual == "refused" and any(piece in finding.detail for piece in NARROWER)
