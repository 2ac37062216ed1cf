"""The template cache: whatever comes out of it is what the plain way gives."""

import pytest

from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.query import Query
from eddyline.sql.template import split
from tests.golden.test_binding import STREAM

# Pairs of texts of one shape; the second is compiled by the plan that the first and its twin prepared.
PAIRS = [
    ("i32 > 5", "i32 > 7"),
    ("i32 > 5", "i32 > 3000000000"),
    ("i32 > -5", "i32 > -2147483648"),
    ("i64 > -2147483648", "i64 > -5"),
    ("i32 > -0", "i32 > -5"),
    ("d < -0.00 OR i32 = 0", "d < -0.97 OR i32 = 3"),
    ("i32 = 5 AND s = 'a'", "i32 = 6 AND s = 'b'"),
    ("i32 > 2.5", "i32 > 7.0"),
    ("i64 > 1.5", "i64 > 99999999999999999999"),
    ("i64 > -99999999999999999999", "i64 > -1"),
    ("dec > 5", "dec > 77"),
    ("dec38 > 5", "dec38 > 123456789"),
    ("d < 10", "d < 11"),
    ("f = 0.1", "f = 0.2"),
    ("s = 5", "s = 6"),
    ("i32 IN (1, 2, 3)", "i32 IN (3, 2, 1)"),
    ("i32 IN (1, 2.5)", "i32 IN (1, 2.0)"),
    ("i32 NOT IN (1, 2)", "i32 NOT IN (2, 2)"),
    ("i32 BETWEEN 1 AND 5", "i32 BETWEEN 5 AND 1"),
    ("i32 > 1 AND i32 < 5", "i32 > 5 AND i32 < 1"),
    ("i32 > 1 OR i32 < 5", "i32 > 5 OR i32 < 1"),
    ("i32 = 1 OR (i32 = 1 AND b)", "i32 = 1 OR (i32 = 2 AND b)"),
    ("s LIKE 'ab%'", "s LIKE 'ab'"),
    ("s LIKE 'ab'", "s LIKE 'a%b'"),
    ("substring(s, 1, 2) = 'ab'", "substring(s, 2, 2) = 'ab'"),
    ("round(d, 1) > 5", "round(d, 2) > 5"),
    ("s RLIKE 'a+'", "s RLIKE 'b+'"),
    ("dt > '2020-01-01'", "dt > 'never'"),
    ("dt > DATE '2020-01-01'", "dt > DATE '2021-01-01'"),
    ("ts > ts - INTERVAL '1' DAY", "ts > ts - INTERVAL '2' DAY"),
    ("i32 + 1 > 5", "i32 + 2 > 5"),
    ("i32 * 2 > 5", "i32 * 0 > 5"),
    ("1 = 1", "1 = 2"),
    ("i32 > 1 + 1", "i32 > 2147483647 + 1"),
    ("s = 'a' AND s = 'b'", "s = 'a' AND s = 'a'"),
    ("s = 'a' 'b'", "s = 'c' 'd'"),
    ("cast(s AS DECIMAL(10, 2)) = 1", "cast(s AS DECIMAL(12, 3)) = 1"),
    ("i8 > 5", "i8 > 500"),
    ("i32 > 007", "i32 > 08"),
    ("ai[0] = 5", "ai[1] = 5"),
    ("d > if(2.5 > 5, i32, d)", "d > if(7.5 > 5, i32, d)"),
    ("coalesce(i32 > 5, 2.5 < 5)", "coalesce(i32 > 5, 2.5 < 1)"),
    ("i32 + i64 * 0 > 5", "i32 + i64 * 1 > 5"),
    ("CASE WHEN i32 > 1 THEN 2 ELSE 3 END = 2", "CASE WHEN i32 > 5 THEN 7 ELSE 3 END = 2"),
]


def compile_alone(sql: str):
    return Compiler([STREAM]).compile(Query("q", sql)).predicate


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_cached_is_plain(first: str, second: str) -> None:
    compiler = Compiler([STREAM])
    for where in (first, first, second, first, second):
        sql = f"SELECT * FROM t WHERE {where}"
        assert compiler.compile(Query("q", sql)).predicate == compile_alone(sql), where


def test_outputs_keep_their_own_constants() -> None:
    compiler = Compiler([STREAM])
    for digit in (1, 1, 2, 3):
        sql = f"SELECT i32 + {digit} AS x FROM t WHERE i32 > {digit}"
        assert compiler.compile(Query("q", sql)).outputs == compiler.bind(Query("q", sql)).outputs


def test_errors_are_those_of_the_query_at_hand() -> None:
    compiler = Compiler([STREAM])
    for sql in ("SELECT * FROM t WHERE round(d, 1) > 5", "SELECT * FROM t WHERE round(d, 2) > 5"):
        compiler.compile(Query("fine", sql))
    for _ in range(3):
        with pytest.raises(QueryError) as caught:
            compiler.compile(Query("bad", "SELECT * FROM t WHERE i33 > 7"))
        assert caught.value.query == "bad"


@pytest.mark.parametrize(
    "text",
    [
        "a = r'x'",
        "a = X'1F'",
        "a = DATE'2020-01-01'",
        'a = "x"',
        "`a 5` = 1",
        "a = 'it''s'",
        "a = 'x\\n'",
        "a = 1 -- 2",
        "a = /* 1 */ 2",
        "a = 2147483648",
    ],
)
def test_unusual_texts_are_left_to_the_parser(text: str) -> None:
    assert split(text) is None


def test_split_finds_constants_and_places() -> None:
    sql = "a1 = 'x' AND t.b2 > 2.50 AND c IN (1, 22) AND d = 1L"
    found = split(sql)
    assert found is not None
    assert [sql[start:end] for start, end in found.spans()] == ["'x'", "2.50", "1", "22"]
    assert found.values[0] == "x"


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddyline.compile.MAX_SHAPES", 10)
    compiler = Compiler([STREAM])
    for number in range(100):
        compiler.compile(Query("q", f"SELECT i32 AS c{number} FROM t WHERE i32 > 5"))
    assert len(compiler._shapes) <= 10
