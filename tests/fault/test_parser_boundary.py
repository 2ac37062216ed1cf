"""Bad query text never ends in a traceback: `bind` succeeds or raises QueryError, whatever it is given."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pyarrow as pa
import pytest

from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.sql import bind
from eddyline.testing.queries import statement
from eddyline.testing.rows import EVERYTHING
from eddyline.testing.text import statement_text

SMALL = Stream("t", pa.schema([("a", pa.int32()), ("s", pa.string()), ("b", pa.bool_())]))


def accepted(sql: str, stream: Stream = EVERYTHING) -> bool:
    """Whether the text is accepted; anything but a refusal with a readable message fails the test."""
    message = refusal(sql, stream)
    assert message is None or message.strip()
    return message is None


def refusal(sql: str, stream: Stream) -> str | None:
    try:
        bind(Query("q", sql), [stream])
    except QueryError as error:
        return str(error)
    return None


def test_the_probe_itself() -> None:
    assert accepted("SELECT * FROM t WHERE a > 1", SMALL)
    assert not accepted("SELECT * FROM t WHERE a >", SMALL)


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(50):
        junk = source.randbytes(source.randint(0, 200))
        accepted(junk.decode("latin-1"))
        accepted(junk.decode("utf-8", errors="replace"))
        accepted(junk.decode("utf-8", errors="surrogateescape"))
        accepted("SELECT * FROM everything WHERE " + junk.decode("utf-8", errors="surrogateescape"))


TOKENS = (
    "SELECT FROM WHERE AND OR NOT IN LIKE ILIKE RLIKE BETWEEN IS NULL TRUE FALSE UNKNOWN DISTINCT CASE WHEN THEN ELSE END "
    "CAST TRY_CAST AS INTERVAL DATE TIMESTAMP ESCAPE ANY ALL DIV ( ) [ ] , . * + - / % || = == <> <=> < ! : ; :: ' \" ` -- /* */ "
    "i32 s1 st ai m1 everything 1 1.5 1e0 1L 'a' \"b\" X'1F' r'x' ${x} ? :p @v { } \\ \x00 \n \u00a0 é 😀 DECIMAL(10,2) ARRAY<INT>"
).split(" ")


@pytest.mark.parametrize("seed", range(20))
def test_random_tokens(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(60):
        words = source.choices(TOKENS, k=source.randint(1, 25))
        accepted(source.choice((" ", "")).join(words))
        accepted("SELECT * FROM everything WHERE " + " ".join(words))


@pytest.mark.parametrize("seed", range(40))
def test_mutated_sql(seed: int) -> None:
    source = random.Random(seed)
    for i in range(40):
        accepted(mutated(source, statement_text(statement(seed * 1000 + i))))


def mutated(source: random.Random, sql: str) -> str:
    """The text with a few pieces deleted, doubled, swapped or replaced."""
    for _ in range(source.randint(1, 4)):
        start = source.randint(0, len(sql))
        end = min(len(sql), start + source.choice((1, 1, 2, 5, 20)))
        piece = source.choice(
            (
                "",
                sql[start:end] * 2,
                source.choice(TOKENS),
                chr(source.randrange(0x110000)),
                sql[start:end][::-1],
            )
        )
        sql = sql[:start] + piece + sql[end:]
    return sql


@pytest.mark.parametrize("seed", range(10))
def test_every_prefix(seed: int) -> None:
    sql = statement_text(statement(seed))
    for end in range(len(sql)):
        accepted(sql[:end])


MALFORMED = {
    "empty": "",
    "spaces": " \n\t ",
    "comment": "-- nothing",
    "open comment": "SELECT * FROM t /* WHERE a = 1",
    "open quote": "SELECT * FROM t WHERE s = 'a",
    "open name": "SELECT * FROM t WHERE `a = 1",
    "lone backslash": "SELECT * FROM t WHERE s = 'a\\",
    "two statements": "SELECT * FROM t; SELECT * FROM t",
    "drop": "DROP TABLE t",
    "insert": "INSERT INTO t VALUES (1)",
    "NUL": "SELECT * FROM t WHERE a\x00 = 1",
    "NUL in text": "SELECT * FROM t WHERE s = 'a\x00b'",
    "lone surrogate": "SELECT * FROM t WHERE s = '\ud800'",
    "lone surrogate outside": "SELECT * FROM t WHERE \udfff = 1",
    "escaped surrogate": "SELECT * FROM t WHERE s = '\\uD800'",
    "byte order mark": "\ufeffSELECT * FROM t WHERE a = 1",
    "not a character": "SELECT * FROM t WHERE s = '\uffff'",
    "huge number": f"SELECT * FROM t WHERE a = {'9' * 5000}",
    "huge exponent": "SELECT * FROM t WHERE a = 1e999999999",
    "huge decimal exponent": "SELECT * FROM t WHERE a = 1e999999999BD",
    "tiny decimal exponent": "SELECT * FROM t WHERE a = 1e-999999999BD",
    "huge interval": f"SELECT * FROM t WHERE INTERVAL '{'9' * 40}' DAY = INTERVAL 1 DAY",
    "huge date": "SELECT * FROM t WHERE DATE'99999999-01-01' = DATE'2020-01-01'",
    "bad date": "SELECT * FROM t WHERE DATE'2020-13-45' = DATE'2020-01-01'",
    "bad zone": "SELECT * FROM t WHERE TIMESTAMP'2020-01-01 00:00:00 Mars/Olympus' IS NULL",
    "bad hex": "SELECT * FROM t WHERE X'XY' IS NULL",
    "bad regex": "SELECT * FROM t WHERE s RLIKE '('",
    "catastrophic regex": "SELECT * FROM t WHERE s RLIKE '(a+)+$'",
    "bad escape": "SELECT * FROM t WHERE s LIKE 'a\\\\'",
    "long escape": "SELECT * FROM t WHERE s LIKE 'a' ESCAPE 'ab'",
    "bad precision": "SELECT * FROM t WHERE CAST(a AS DECIMAL(99, 2)) = 1",
    "unknown type": "SELECT * FROM t WHERE CAST(a AS NONSENSE) = 1",
    "unknown function": "SELECT * FROM t WHERE nonsense(a) = 1",
    "no arguments": "SELECT * FROM t WHERE length() = 1",
    "subquery": "SELECT * FROM t WHERE a IN (SELECT a FROM t)",
    "aggregate": "SELECT * FROM t WHERE count(*) > 1",
    "window": "SELECT row_number() OVER (ORDER BY a) FROM t",
    "join": "SELECT * FROM t JOIN t",
    "unknown stream": "SELECT * FROM u",
    "stream in another schema": "SELECT * FROM x.y.t",
    "right-to-left": "SELECT * FROM t WHERE s = '\u202egnp.exe'",
    "fullwidth": "ＳＥＬＥＣＴ * FROM t",
    "round to the moon": "SELECT * FROM t WHERE round(a, 2147483647) = 1",
    "constant that fails": "SELECT * FROM t WHERE a = 1 / 0",
    "constant overflow": "SELECT * FROM t WHERE a = 2147483647 + 1",
}


@pytest.mark.parametrize("sql", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed(sql: str) -> None:
    accepted(sql, SMALL)


@pytest.mark.parametrize("text", [b"SELECT * FROM t", None, 5], ids=["bytes", "none", "number"])
def test_what_is_no_text(text: object) -> None:
    """Not a query at all: refused, or named as the caller's mistake."""
    with pytest.raises((QueryError, TypeError, AssertionError)):
        bind(Query("q", text), [SMALL])  # type: ignore[arg-type]


MEGABYTE = {
    "spaces": "SELECT * FROM t WHERE" + " " * 1_000_000 + "a = 1",
    "comment": f"SELECT * FROM t /* {'x' * 1_000_000} */ WHERE a = 1",
    "text": f"SELECT * FROM t WHERE s = '{'x' * 1_000_000}'",
    "name": f"SELECT * FROM t WHERE {'x' * 1_000_000} = 1",
    "list": f"SELECT * FROM t WHERE a IN ({', '.join(map(str, range(100_000)))})",
    "ands": "SELECT * FROM t WHERE " + " AND ".join(["a > 1"] * 50_000),
    "ors": "SELECT * FROM t WHERE " + " OR ".join(["a = 1"] * 50_000),
    "sum": "SELECT * FROM t WHERE a = " + " + ".join(["1"] * 100_000),
    "pattern": f"SELECT * FROM t WHERE s LIKE '{'%_' * 200_000}'",
    "junk": "SELECT * FROM t WHERE " + ")(" * 500_000,
}
DEEP = {
    "parentheses": "SELECT * FROM t WHERE " + "(" * 10_000 + "a = 1" + ")" * 10_000,
    "open parentheses": "SELECT * FROM t WHERE " + "(" * 10_000,
    "nots": "SELECT * FROM t WHERE " + "NOT " * 10_000 + "b",
    "bangs": "SELECT * FROM t WHERE " + "!" * 10_000 + "b",
    "signs": "SELECT * FROM t WHERE a = " + "- " * 10_000 + "1",
    "calls": "SELECT * FROM t WHERE " + "abs(" * 10_000 + "a" + ")" * 10_000 + " = 1",
    "cases": "SELECT * FROM t WHERE " + "CASE WHEN b THEN " * 10_000 + "b" + " END" * 10_000,
    "casts": "SELECT * FROM t WHERE " + "CAST(" * 10_000 + "a" + " AS INT)" * 10_000 + " = 1",
    "brackets": "SELECT * FROM t WHERE a" + "[0" * 10_000 + "]" * 10_000,
    "fields": "SELECT * FROM t WHERE a" + ".x" * 10_000 + " = 1",
    "concatenation": "SELECT * FROM t WHERE s = " + " || ".join(["s"] * 10_000),
    "comparisons": "SELECT * FROM t WHERE " + " = ".join(["b"] * 10_000),
    "types": "SELECT * FROM t WHERE CAST(a AS " + "ARRAY<" * 10_000 + "INT" + ">" * 10_000 + ") IS NULL",
    "nested and or": "SELECT * FROM t WHERE " + "(b AND (b OR " * 5_000 + "b" + "))" * 5_000,
    "comments": "SELECT * FROM t WHERE a = 1 " + "/* " * 10_000,
}
PROBE = """
import json, sys
import pyarrow as pa
from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.sql import bind

stream = Stream("t", pa.schema([("a", pa.int32()), ("s", pa.string()), ("b", pa.bool_())]))
for name, sql in json.load(sys.stdin).items():
    print(name, end=": ", flush=True)
    try:
        bind(Query("q", sql), [stream])
        print("accepted")
    except QueryError as error:
        print("refused" if len(str(error)) < 10_000 else "refused with a message that nobody can read")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "cases",
    [pytest.param(MEGABYTE, id="megabyte", marks=pytest.mark.long), pytest.param(DEEP, id="deep")],
)
def test_large_and_deep(cases: dict[str, str]) -> None:
    """In a process of its own, so that a crash of the interpreter is seen too; two minutes are far more than enough."""
    run = subprocess.run(
        [sys.executable, "-c", PROBE], input=json.dumps(cases), capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, f"exit code {run.returncode} after {run.stdout[-200:]}\n{run.stderr[-1500:]}"
    answers = dict(line.split(": ", 1) for line in run.stdout.splitlines())
    assert answers.keys() == cases.keys()
    assert set(answers.values()) <= {"accepted", "refused"}, answers
