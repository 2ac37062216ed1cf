"""Expectations: what files may say, and what comes of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline import Query
from eddyline.backtest.check import check
from eddyline.backtest.expectations import (
    Expectation,
    parse_json_lines,
    parse_toml,
    read_expectations,
)
from eddyline.errors import FileError
from eddyline.runtime.embedded.backtest.fetch import fetch_row
from tests.unit.backtest.histories import TESTED, outcome, quotes

TOML = """
["*"]
min = 1

[cheap]
max = 100
match = [{ symbol = "A", price = 5.0 }, { price = 50 }, { prise = 5 }, { price = "much" }]
no_match = [{ PRICE = 5 }, { price = 50 }, "missing.csv:3", "nowhere"]
"""
LINES = """{"query": "cheap", "min": 2, "match": {"at": "2026-01-05 09:30:00", "price": 5}}

{"query": "cheep", "min": 1}
{"query": "typo", "max": 1}
"""


def told(text: str, parse: object = parse_toml) -> list[str]:
    queries = [*TESTED[:2], TESTED[5], Query("typo", "SELECT * FROM quotes WHERE prise < 1")]
    found, prepared = outcome(quotes(2000), queries=queries)
    checked = check(found, prepared, parse(text, "expect"), fetch=fetch_row)  # type: ignore[operator]
    assert not checked.passed and len(checked.failed) == sum(not c.passed for c in checked.checks)
    return [f"{'ok  ' if c.passed else 'FAIL'} {c.message}  ({c.place})" for c in checked.checks]


def test_toml() -> None:
    assert told(TOML) == [
        'ok   query "cheap" matched 458 rows, and at least 1 were expected  (expect [*])',
        'ok   query "acme" matched 327 rows, and at least 1 were expected  (expect [*])',
        'FAIL query "silent" matched 0 rows, but at least 1 were expected  (expect [*])',
        'FAIL query "cheap" matched 458 rows, but at most 100 were expected  (expect [cheap])',
        'ok   query "cheap" matches the row {"symbol": "A", "price": 5.0}: price is 5.0, which lies in (-inf, 10.0)  '
        "(expect [cheap])",
        'FAIL query "cheap" does not match the row {"price": 50}, and should: price is 50.0, which does not lie in '
        "(-inf, 10.0)  (expect [cheap])",
        'FAIL the row cannot be looked at: stream "quotes" has no column "prise"\n'
        'hint: did you mean "price"?  (expect [cheap])',
        'FAIL the row cannot be looked at: the row cannot be read: price: "much" is not a double  (expect [cheap])',
        'FAIL query "cheap" matches the row {"PRICE": 5}, and should not: price is 5.0, which lies in (-inf, 10.0)  '
        "(expect [cheap])",
        'ok   query "cheap" does not match the row {"price": 50}: price is 50.0, which does not lie in (-inf, 10.0)  '
        "(expect [cheap])",
        'FAIL the row cannot be looked at: there is no file "missing.csv"  (expect [cheap])',
        'FAIL the row cannot be looked at: "nowhere" names no row\n'
        "hint: write FILE:N, the N-th row of a file, such as quotes.csv:17  (expect [cheap])",
    ]


def test_json_lines() -> None:
    assert told(LINES, parse_json_lines) == [
        'ok   query "cheap" matched 458 rows, and at least 2 were expected  (expect:1)',
        'ok   query "cheap" matches the row {"at": "2026-01-05 09:30:00", "price": 5}: price is 5.0, which lies in '
        "(-inf, 10.0)  (expect:1)",
        'FAIL there is no query "cheep" under test; did you mean "cheap"?  (expect:3)',
        'FAIL query "typo" was refused: stream "quotes" has no column "prise"  (expect:4)',
    ]


def test_rows_of_files(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("at,symbol,price,volume\n,A,5,1\n,A,bad,1\n,A,50,1\n")
    found, prepared = outcome(quotes(10), queries=TESTED[:1])
    names = [f"{file}:{number}" for number in (1, 2, 3, 4)]
    checked = check(found, prepared, [Expectation("cheap", "x", match=tuple(names))], fetch=fetch_row)
    assert [c.passed for c in checked.checks] == [True, False, False, False]
    assert "has no row 2 that can be read" in checked.checks[1].message
    assert "which does not lie in" in checked.checks[2].message
    assert "has no row 4" in checked.checks[3].message


def test_a_query_that_every_row_matches_has_a_reason_too() -> None:
    found, prepared = outcome(quotes(10), queries=[Query("all", "SELECT * FROM quotes")])
    [told] = check(found, prepared, parse_toml("[all]\nno_match = [{}]"), fetch=fetch_row).checks
    assert told.message == 'query "all" matches the row {}, and should not: matches: every tuple does'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[cheap]\nmim = 1", 'expect [cheap]: "mim" is nothing to expect\nhint: did you mean "min"?'),
        ("[cheap]\nmin = 1.5", "expect [cheap]: min is 1.5, and a number of rows is wanted"),
        ("[cheap]\nmax = -1", "expect [cheap]: max is -1, and a number of rows is wanted"),
        ("[cheap]\nmax = true", "expect [cheap]: max is true, and a number of rows is wanted"),
        ("[cheap]\nmin = 5\nmax = 3", "expect [cheap]: min is 5, which is more than max, 3"),
        ("[cheap]", "expect [cheap]: nothing is expected"),
        ("[cheap]\nmatch = 3", "expect [cheap]: match is a list of rows"),
        ('["*"]\nmatch = [{}]', 'expect [*]: "*" stands for every query, and takes only min and max'),
        ("min = 1", "expect [min]: this is no table"),
        ("[cheap\n", '"expect" is not TOML: '),
    ],
)
def test_what_is_none(text: str, message: str) -> None:
    with pytest.raises(FileError) as error:
        parse_toml(text, "expect")
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expect:1: this is not JSON"),
        ('\n{"min": 1}', 'expect:2: an expectation is an object with "query"'),
        ("[]", 'expect:1: an expectation is an object with "query"'),
    ],
)
def test_json_that_is_none(text: str, message: str) -> None:
    with pytest.raises(FileError) as error:
        parse_json_lines(text, "expect")
    assert str(error.value).startswith(message)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_bytes(b"\xef\xbb\xbf[cheap]\r\nmin = 1\r\n")
    assert read_expectations(str(tmp_path / "e.toml"))[0].min == 1
    (tmp_path / "e.jsonl").write_text('{"query": "a", "max": 0}\n')
    assert read_expectations(str(tmp_path / "e.jsonl"))[0].max == 0
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    (tmp_path / "e.yaml").write_text("a: 1")
    for name, message in (
        ("missing.toml", "there is no file"),
        ("bad.toml", "is not UTF-8"),
        ("e.yaml", "does not say in which form"),
        (".", "cannot be read"),
    ):
        with pytest.raises(FileError, match=message):
            read_expectations(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "text"),
    [("e.toml", ""), ("e.toml", "# nothing yet\n"), ("e.jsonl", "\n\n"), ("e.ndjson", "")],
)
def test_a_file_without_expectations_is_a_mistake(tmp_path: Path, name: str, text: str) -> None:
    """Else a back-test that checks nothing passes for good."""
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match="there is no expectation in"):
        read_expectations(str(tmp_path / name))


@pytest.mark.parametrize("text", ["[cheap]", "[cheap]\nmatch = []", "[cheap]\nmatch = []\nno_match = []"])
def test_an_expectation_of_nothing(text: str) -> None:
    with pytest.raises(FileError, match="nothing is expected"):
        parse_toml(text)
