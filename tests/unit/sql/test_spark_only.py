"""Queries that only Spark can run are told from queries that nobody can."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Compiler, Query, QueryError, Stream
from eddyline.functions.table import FUNCTIONS
from eddyline.model.query_state import Verdict
from eddyline.sql import refused
from eddyline.sql.spark_only import functions as spark_only

STREAM = Stream("s", pa.schema([("a", pa.string()), ("n", pa.int32()), ("l", pa.list_(pa.int32()))]))


def check(condition: str) -> Verdict:
    return Compiler([STREAM]).check(Query("q", f"SELECT * FROM s WHERE {condition}"))


def test_ordinary_queries_have_nothing_to_be_said() -> None:
    verdict = check("n > 3 AND lower(a) = 'x'")
    assert verdict == Verdict(digest=verdict.digest) and verdict.digest is not None


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("luhn_check(a)", "luhn_check"),
        ("n > 3 AND SHA2(a, 256) = 'x'", "sha2"),
        ("split(a, ',')[0] = 'x'", "split"),
        ("from_json(a, 'b INT').b > 3", "from_json"),
        ("pow(n, 2) + exp(n) > 7 AND lower(soundex(a)) LIKE 'x%'", "pow, exp, soundex"),
        ("n > 3 AND exists(l, x -> x > n)", "exists"),
        ("n & 1 = 1", "&"),
        ("extract(YEAR FROM a) > 3", "extract"),
        ("a COLLATE UTF8_LCASE = 'x'", "COLLATE"),
    ],
)
def test_functions_of_spark(condition: str, names: str) -> None:
    verdict = check(condition)
    assert (
        verdict.spark_only and verdict.note == f"Spark runtime only, and unverified: only Spark has {names}"
    )


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("lowr(a) = 'x'", 'function "lowr" is not known'),
        ("exp(nope) > 1", 'has no column "nope"'),
        ("exp(n) > 1 AND sum(n) > 1", "aggregate functions are not supported"),
        ("exp(n) > ", "the query ends"),
        ("rand() > exp(n)", "not deterministic"),
        ("n > 'x' AND", "the query ends"),
        ("exp(n) BETWEEN 3", "BETWEEN wants two bounds"),
        ("exists(l, x -> nope > x)", 'no column "nope"'),
        ("exists(l, x -> rand() > x)", "not deterministic"),
        ("exists(l, x -> (SELECT 1) > x)", "subqueries are not supported"),
        ("n & reflect('a', 'b') = 1", "arbitrary Java code"),
        ("n & = 1", "bitwise operators are not supported"),
        ("from_xml(a, 'x INT', map()) IS NULL", "options of the function can read files"),
    ],
)
def test_other_mistakes_stay_mistakes(condition: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        check(condition)


def test_lists_do_not_overlap() -> None:
    assert not spark_only.FUNCTIONS & FUNCTIONS.keys()
    assert not spark_only.FUNCTIONS & refused.FUNCTIONS.keys()
