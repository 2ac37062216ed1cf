"""Precedence and forms: texts that mean the same parse to the same bound expression."""

import pytest

from eddyline.errors import QueryError
from eddyline.model.query import Query
from eddyline.sql import bind
from eddyline.sql.grammar.select import parse
from tests.golden.test_binding import STREAM


def bound(text: str):
    return bind(Query("q", f"SELECT * FROM t WHERE {text}"), [STREAM]).predicate


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("b OR b AND NOT b", "(b OR (b AND (NOT b)))"),
        ("NOT i32 > 1 IS NULL", "NOT ((i32 > 1) IS NULL)"),
        ("i32 > 1 IS TRUE", "(i32 > 1) IS TRUE"),
        ("i32 = 1 = true", "(i32 = 1) = true"),
        ("i32 < 2 = b", "(i32 < 2) = b"),
        ("i32 = i64 <=> b", "(i32 = i64) <=> b"),
        ("s || 'a' = 'xa'", "(s || 'a') = 'xa'"),
        ("i32 + 1 || 'a' = '2a'", "((i32 + 1) || 'a') = '2a'"),
        ("- i32 * 2 = 4", "((- i32) * 2) = 4"),
        ("2 - - 1 = i32", "(2 - (-1)) = i32"),
        ("i32 * 2 + 1 % 2 = 3", "((i32 * 2) + (1 % 2)) = 3"),
        ("i32 BETWEEN 1 AND 2 AND b", "(i32 BETWEEN 1 AND 2) AND b"),
        ("NOT i32 BETWEEN 1 AND 2", "i32 NOT BETWEEN 1 AND 2"),
        ("i32 NOT IN (1, 2)", "NOT (i32 IN (1, 2))"),
        ("b = s IN ('true')", "(b = s) IN ('true')"),
        ("! b", "NOT b"),
        ("NOT NOT NOT b", "NOT b"),
        ("s LIKE 'a' || '%'", "s LIKE ('a' || '%')"),
        ("s NOT LIKE ALL ('a', 'b')", "s NOT LIKE 'a' AND s NOT LIKE 'b'"),
        ("s NOT LIKE ANY ('a', 'b')", "s NOT LIKE 'a' OR s NOT LIKE 'b'"),
        ("s LIKE SOME ('a', 'b')", "s LIKE 'a' OR s LIKE 'b'"),
        ("i32 IS DISTINCT FROM 1", "NOT (i32 <=> 1)"),
        ("i32 == 1", "i32 = 1"),
        ("i32 != 1", "i32 <> 1"),
        ("T.I32 = 1 /* why */ -- not", "i32 = 1"),
        ("`t`.`i32` = 1", "i32 = 1"),
        ("st.x = 1", "st['x'] = 1"),
        ("m.k = 1", "m['k'] = 1"),
        ("s::int = 1", "cast(s AS INT) = 1"),
        ("substring(s FROM 2 FOR 3) = 'a'", "substring(s, 2, 3) = 'a'"),
        ("trim(BOTH 'x' FROM s) = 'a'", "trim('x', s) = 'a'"),
        ("'it''s' = s", '"it\'s" = s'),
        ("s = 'a' 'b'", "s = 'ab'"),
        ("s = r'a\\n'", "s = 'a\\\\n'"),
        ("i32 = .5", "i32 = 0.5"),
        ("ts > ts - INTERVAL 1 DAY 2 HOURS", "ts > ts - INTERVAL '1 02:00:00' DAY TO SECOND"),
        ("CASE i32 WHEN 1 THEN b END", "CASE WHEN i32 = 1 THEN b END"),
    ],
)
def test_same_meaning(text: str, same: str) -> None:
    assert bound(text) == bound(same)


@pytest.mark.parametrize(
    ("sql", "message", "column"),
    [
        ("", "the query is empty", None),
        ("UPDATE t SET a = 1", "only SELECT queries can be registered", 1),
        ("SELECT * FROM t WHERE", "the query ends where a value should stand", 22),
        ("SELECT FROM t", "the SELECT list is empty here", 8),
        ("SELECT *", "a query wants FROM and a stream after its SELECT list", 9),
        ("SELECT * FROM t WHERE (b", "the parenthesis is never closed", 23),
        ("SELECT * FROM t WHERE b b", '"b" was not expected here', 25),
        ("SELECT * FROM t WHERE s = 'x", "the string that starts here is never closed", 27),
        ("SELECT * FROM t WHERE b IS NULL IS NULL", "IS cannot follow IS directly", 33),
        ("SELECT * FROM t WHERE i32 IN ()", "IN wants at least one value", 31),
        ("SELECT * FROM t WHERE i32 BETWEEN 1", "BETWEEN wants two bounds: BETWEEN low AND high", 36),
        (
            "SELECT * FROM t WHERE i32 = 1a",
            "1a is not a number: Spark knows the suffixes Y, S, L, F, D and BD",
            29,
        ),
        ("SELECT * FROM t WHERE i8 = 128Y", "128 is outside of tinyint, which goes from -128 to 127", 28),
        ("SELECT * FROM t GROUP BY s", "GROUP BY is not supported: a query sees one tuple at a time", 17),
        ("SELECT * FROM t LIMIT 5", "LIMIT is not supported: a standing query has no end", 17),
        ("SELECT DISTINCT s FROM t", "SELECT DISTINCT is not supported: every match is delivered", 8),
        ("SELECT * FROM t WHERE i32 IN (SELECT 1)", "subqueries are not supported", 31),
        ("SELECT * FROM t WHERE i32 & 1 = 1", "bitwise operators are not supported", 27),
        ("SELECT * FROM t WHERE i32 << 1 = 1", "bitwise operators are not supported", 27),
        ("SELECT * FROM t WHERE i32 ** 2 = 1", "the power operator is not supported", 27),
        ("SELECT * FROM t WHERE i32 =< 2", 'there is no operator "=<"', 27),
        ("SELECT * FROM t WHERE b && b", 'there is no operator "&&"', 25),
        ("SELECT * FROM t WHERE b)", '")" was not expected here', 24),
        ("SELECT * FROM t WHERE d > 1,5", '"," was not expected here', 28),
        ("SELEC * FROM t", "a query starts with SELECT", 1),
        (
            "SELECT * FROM t WHERE s COLLATE UTF8_LCASE = 'a'",
            "collations other than the default are not supported",
            25,
        ),
        ("SELECT * FROM t WHERE i32 = ${x}", "variables are not supported", 29),
        (
            "SELECT count(*) FROM t",
            "aggregate functions are not supported: a query sees one tuple at a time",
            8,
        ),
        ("SELECT * FROM t WHERE s = '\x00'", "the text has a NUL byte", 28),
    ],
)
def test_messages(sql: str, message: str, column: int | None) -> None:
    with pytest.raises(QueryError) as caught:
        parse(sql)
    assert caught.value.message == message
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("where", "message", "hint"),
    [
        ("prise > 1", 'stream "t" has no column "prise"', "its columns are b, i8"),
        ("i33 > 1", 'stream "t" has no column "i33"', 'did you mean "i32"?'),
        ("lenght(s) > 1", 'function "lenght" is not known', 'did you mean "length"?'),
        ("rand() > 0.5", "rand: the function is not deterministic", "add a column"),
        ("ts > now()", "now: the function reads the clock", "compare with a column"),
        ("dt > current_date", "current_date: the function reads the clock", "compare with a column"),
        ("max(i32) > 1", "max: aggregate functions are not supported", "aggregate the results"),
        ("raise_error('x')", "raise_error: the function is made to fail", "CASE or IF"),
        (
            "reflect('java.lang.Math', 'abs') = 1",
            "reflect: the function runs arbitrary Java code",
            "documented list",
        ),
        ("b = 1", '"=" cannot compare boolean with int', "TRUE or FALSE"),
        ("i32", "WHERE wants a condition, not int", "compare it"),
        ("i32 AND b", "AND wants a condition, not int", "<> 0"),
        ("s + s = '1'", '"+" cannot take string and string', "cast one side"),
        (
            "substring(s) = 'a'",
            "substring is called as substring(text or binary, start [, length]), not with one",
            None,
        ),
        ("cast(dt AS INT) = 1", "date cannot be cast to int", None),
        ("st.z = 1", 'the struct has no field "z"', 'its fields are "x", "y"'),
        ("dt = DATE'2026-13-01'", "'2026-13-01' is not a date", "DATE'2026-01-31'"),
    ],
)
def test_binding_messages(where: str, message: str, hint: str | None) -> None:
    with pytest.raises(QueryError) as caught:
        bound(where)
    assert caught.value.message.startswith(message)
    assert hint is None or hint in str(caught.value.hint)
    assert caught.value.query == "q"


def test_unknown_stream() -> None:
    with pytest.raises(QueryError, match='stream "tt" is not known'):
        bind(Query("q", "SELECT * FROM tt"), [STREAM])


def test_outputs() -> None:
    query = bind(Query("q", "SELECT s, i32 + 1, i64 AS big, st.x FROM t"), [STREAM])
    assert [output.name for output in query.outputs] == ["s", "i32 + 1", "big", "x"]
    with pytest.raises(QueryError, match='two outputs are called "s"'):
        bind(Query("q", "SELECT *, s FROM t"), [STREAM])


def test_resolver_supplies_unknown_functions() -> None:
    from eddyline.model import types as t

    class Known:
        functions = ("soundex",)
        judges = True

        def call(self, name, arguments):
            return t.STRING if name == "soundex" and [a.type for a in arguments] == [t.STRING] else None

        def expression(self, piece):
            raise AssertionError("everything can be read here")

    query = bind(Query("q", "SELECT * FROM t WHERE soundex(s) = 'A1'"), [STREAM], resolver=Known())
    assert "spark:soundex" in repr(query.predicate)


@pytest.mark.parametrize("levels", [1, 100, 300])
def test_deep_nesting_is_understood(levels: int) -> None:
    text = "(" * levels + "i32 = 1" + ")" * levels
    assert bound(text) == bound("i32 = 1")
    nested = "i32 = 1"
    for level in range(levels):
        nested = f"i32 = {level} {'AND' if level % 2 else 'OR'} ({nested})"
    bound(nested)


@pytest.mark.parametrize(
    "text",
    ["(" * 10_000 + "b" + ")" * 10_000, "(" * 10_000, "i32 = 1" + " + 1" * 10_000, "- " * 10_000 + "i32 = 1"],
)
def test_absurd_nesting_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        bound(text)


def test_long_lists_are_fine() -> None:
    assert len(bound("i32 IN (" + ", ".join(map(str, range(20_000))) + ")").arguments) == 20_001
    assert len(bound(" OR ".join(f"i32 = {i}" for i in range(5_000))).arguments) == 5_000


@pytest.mark.parametrize(
    "number", ["1E-9999999999999999999", "0E9999999999999999999D", "1E-9999999999999999999BD"]
)
def test_exponents_that_nobody_can_hold_are_refused(number: str) -> None:
    with pytest.raises(QueryError, match=r"the exponent of .* is too long"):
        parse(f"SELECT * FROM t WHERE a > {number}")


@pytest.mark.parametrize("digits", ["2147483648", "-99999999999999999999"])
def test_round_takes_an_int(digits: str) -> None:
    with pytest.raises(QueryError, match="round wants a number of digits that is an int as argument 2"):
        bound(f"round(d, {digits}) > 1")


def test_round_does_not_count_to_the_end_of_the_world() -> None:
    assert bound("round(dec, -2147483648) > 1") == bound("round(dec, -2147483647) > 1")
