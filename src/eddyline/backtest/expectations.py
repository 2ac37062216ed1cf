"""Expectations from a file: how often queries should match, and which rows they should match or not.

TOML has one table per query, JSON lines one object per query; `*` stands for every query under test:

    ["*"]
    min = 1                                             no query shall be silent

    [cheap]                                             {"query": "cheap", "max": 500,
    max = 500                                            "match": [{"symbol": "A", "price": 5}],
    match = [{ symbol = "A", price = 5.0 }]              "no_match": ["history/day.csv:17"]}
    no_match = ["history/day.csv:17"]                   row 17 of a file, counted from one
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from eddyline.errors import FileError

EVERY: Final = "*"
_KEYS: Final = ("min", "max", "match", "no_match")
_HINT: Final = "an expectation has min, max, match and no_match"

Wanted = Mapping[str, Any] | str  # a row by its values, or as FILE:N


@dataclass(frozen=True)
class Expectation:
    """What one query should do."""

    query: str
    place: str
    min: int | None = None
    max: int | None = None
    match: tuple[Wanted, ...] = ()
    no_match: tuple[Wanted, ...] = ()


def read_expectations(path: str) -> list[Expectation]:
    """All expectations of a `.toml` or `.jsonl` file; `FileError` where something in it is none."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise FileError(f'there is no file "{path}"') from None
    except UnicodeDecodeError:
        raise FileError(f'the file of expectations "{path}" is not UTF-8 text') from None
    except OSError as error:
        raise FileError(f'the file "{path}" cannot be read: {error.strerror}') from None
    suffix = Path(path).suffix.lower()
    parse = _PARSERS.get(suffix)
    if parse is None:
        raise FileError(
            f'the ending of "{path}" does not say in which form its expectations are',
            hint="they are .toml, with one table per query, or .jsonl, with one object per query",
        )
    found = parse(text, path)
    if not found:  # everything that is expected would hold, whatever the queries do
        raise FileError(f'there is no expectation in "{path}"', hint=_HINT)
    return found


def parse_toml(text: str, file: str = "expectations") -> list[Expectation]:
    """The expectations of a TOML text.

    >>> parse_toml("[cheap]\\nmin = 3")[0].min
    3
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f'"{file}" is not TOML: {error}') from None
    found = []
    for query, table in tables.items():
        place = f"{file} [{query}]"
        if not isinstance(table, dict):
            raise FileError(f"{place}: this is no table", hint=f'write ["{query}"] above its keys; {_HINT}')
        found.append(_expectation(query, table, place))
    return found


def parse_json_lines(text: str, file: str = "expectations") -> list[Expectation]:
    """The expectations of a text of JSON lines.

    >>> parse_json_lines('{"query": "cheap", "max": 3}')[0].place
    'expectations:1'
    """
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{file}:{number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FileError(f"{place}: this is not JSON: {error}") from None
        if not isinstance(record, dict) or not isinstance(record.get("query"), str):
            hint = '{"query": "cheap", "min": 1}'
            raise FileError(f'{place}: an expectation is an object with "query"', hint=hint)
        query = record.pop("query")
        found.append(_expectation(query, record, place))
    return found


_PARSERS: Final = {".toml": parse_toml, ".jsonl": parse_json_lines, ".ndjson": parse_json_lines}


def _expectation(query: str, record: dict[str, Any], place: str) -> Expectation:
    for key in record:
        if key not in _KEYS:
            close = get_close_matches(key, _KEYS, 1)
            hint = f'did you mean "{close[0]}"?' if close else _HINT
            raise FileError(f'{place}: "{key}" is nothing to expect', hint=hint)
    least, most = (_number(record, key, place) for key in ("min", "max"))
    if least is not None and most is not None and least > most:
        raise FileError(f"{place}: min is {least}, which is more than max, {most}")
    match, no_match = (_rows(record, key, place) for key in ("match", "no_match"))
    if least is None and most is None and not match and not no_match:
        raise FileError(f"{place}: nothing is expected", hint=_HINT)
    if query == EVERY and (match or no_match):
        raise FileError(f'{place}: "{EVERY}" stands for every query, and takes only min and max')
    return Expectation(query, place, least, most, match, no_match)


def _number(record: dict[str, Any], key: str, place: str) -> int | None:
    value = record.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise FileError(f"{place}: {key} is {json.dumps(value, default=str)}, and a number of rows is wanted")
    return value


def _rows(record: dict[str, Any], key: str, place: str) -> tuple[Wanted, ...]:
    value = record.get(key, [])
    rows = value if isinstance(value, list) else [value]
    if not all(isinstance(row, dict | str) for row in rows):
        hint = '{symbol = "A", price = 5.0}, or the row of a file as "history/day.csv:17"'
        raise FileError(f"{place}: {key} is a list of rows", hint=hint)
    return tuple(rows)
