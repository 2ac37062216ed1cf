"""Sets of queries about one column with constants of one pool, as standing queries are: they share one structure.

Texts of a kind (numbers, versions, paths, blanks) and numbers over the whole range of their type.
"""

from __future__ import annotations

import random

import pytest

from eddyline.testing.query_sets import POOLS, one_pool_set
from eddyline.testing.rows import rows_of
from tests.conformance.matrix import CONFIGURATIONS, built, check, judged
from tests.differential.configured import judge_configured

OTHERS = tuple(name for name in CONFIGURATIONS if name != "auto")
INFINITY = "CAST('inf' AS DOUBLE)"
# sets in which one query once made others wrong, or the first match endless, with values for the column
FOUND = (
    ("f64", ["f64 < 10", "f64 > 100", f"f64 < {INFINITY}"], [0.5, 20.0, 500.0, 1e308]),
    ("f64", ["f64 < 1e3", "f64 < 1e38", "f64 < 1.7976931348623157e308"], [5.0, 2e6, 1e40]),
    ("f64", [f"f64 IN (7, {INFINITY})"], [7.0, float("inf"), float("-inf"), float("nan"), None]),
    ("f32", ["f32 < 1e308D", "f32 > 7"], [0.5, 8.0, 3e38, None]),
    ("s1", [f"s1 = '{n}.5'" for n in range(50)], ["0.5", "7.5", "49.5", "50.5", "", None]),
    ("s1", [f"s1 = '{n}'" for n in range(100)], ["0", "7", "99", "100", "", None]),
)


@pytest.mark.parametrize("equalities", [True, False], ids=["equalities", "comparisons"])
@pytest.mark.parametrize("pool", POOLS)
def test_one_pool(pool: str, equalities: bool) -> None:
    random_ = random.Random(pool)
    drawn = one_pool_set(random_, POOLS[pool], 25, equalities=equalities)
    configurations = ("auto", random_.choice(OTHERS))
    report = judge_configured(drawn.statements, drawn.rows, configurations=configurations, size=65)
    assert report.judged and not report.findings, report


@pytest.mark.parametrize("configuration", ["auto", "sliced", "keyed", "rowwise"])
@pytest.mark.parametrize(("column", "conditions", "values"), FOUND)
def test_found(column: str, conditions: list[str], values: list[object], configuration: str) -> None:
    texts = {condition: f"SELECT * FROM everything WHERE {condition}" for condition in conditions}
    queries, rows, expected = judged(texts, rows_of(*({column: value} for value in values)))
    assert len(queries) == len(conditions)
    check(built(queries, configuration).match(rows), expected, queries)
