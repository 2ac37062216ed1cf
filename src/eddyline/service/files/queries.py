"""Files of queries: `.sql` with `-- name: id` heads, `.jsonl`, `.json`, `.csv`; every problem named, the rest read.

What a file says beside id and text (state, tags, owner, destination, metadata, and in JSON and CSV anything else) is
kept as it stands there: in a `.sql` file, as lines such as `-- tags: fx, eu` right under the name.

An entry knows where its text stands in the file, so that a problem found later in the text is shown there:

    -- name: cheap                                      rules.sql:2:32
    SELECT * FROM quotes WHERE prise < 10
                               ^^^^^
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from eddyline.errors import FileError, QueryError, Span
from eddyline.model.query import Query
from eddyline.runtime.embedded.pipes import STANDARD_INPUT, is_pipe
from eddyline.service.files.text import TextFile, read_text
from eddyline.service.findings import ERROR, Finding
from eddyline.sql.grammar.tokens import tokenize

ATTRIBUTES: Final = ("state", "tags", "owner", "destination", "metadata")
_HEAD = re.compile(r"^[ \t]*--[ \t]*name[ \t]*:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE | re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rf"\n[ \t]*--[ \t]*({'|'.join(ATTRIBUTES)})[ \t]*:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A query and its place; `offset` is where its text starts in `source`, None where the file only quotes it.

    `attributes` is what the file says beside id and text.
    """

    query: Query
    file: str
    line: int
    source: str | None = None
    offset: int = 0
    attributes: Mapping[str, object] = field(default_factory=dict)

    def finding(self, severity: str, error: QueryError) -> Finding:
        """An error of the query at its place in the file."""
        text, span, line, column = error.sql, error.span, self.line, None
        if span is not None and self.source is not None:
            text, span = self.source, Span(span.start + self.offset, span.end + self.offset)
            placed = QueryError("", sql=text, span=span)
            line, column = placed.line or line, placed.column
        return Finding(
            severity, error.message, self.file, line, column, self.query.id, error.hint, text, span
        )


@dataclass(slots=True)
class QueryFile:
    """What was found in one file."""

    name: str
    entries: list[FileEntry] = field(default_factory=list)
    problems: list[Finding] = field(default_factory=list)

    def problem(
        self, message: str, line: int | None = None, *, hint: str | None = None, query: str | None = None
    ) -> None:
        """Note that something at a line is no query."""
        self.problems.append(Finding(ERROR, message, self.name, line, query=query, hint=hint))


def read_queries(path: str) -> QueryFile:
    """All queries of a file and all problems with its form; `FileError` where it cannot be read at all."""
    nameless = path != STANDARD_INPUT and is_pipe(path) and not Path(path).suffix
    known = None if nameless else _reader(path)
    text = read_text(path)
    read = known or _READERS[_guess_suffix(text.text)]
    found = QueryFile(text.name)
    for position, description in text.unreadable:
        found.problem(description, text.line_of(position), hint="save the file as UTF-8 text")
    if not text.text.strip():
        found.problem("the file is empty", hint=_FORMATS)
        return found
    read(text, found)
    if not found.entries and not found.problems:
        found.problem("the file holds no query", hint=_FORMATS)
    found.problems.sort(key=lambda problem: problem.line or 0)
    return found


def _reader(path: str) -> Callable[[TextFile, QueryFile], None]:
    suffix = ".jsonl" if path == STANDARD_INPUT else Path(path).suffix.lower()
    if suffix not in _READERS:
        raise FileError(f'the ending of "{path}" does not say in which form its queries are', hint=_FORMATS)
    return _READERS[suffix]


def _guess_suffix(text: str) -> str:
    """The ending that a pipe would have: a shell gives it a name without one."""
    return {"{": ".jsonl", "[": ".json"}.get(text.lstrip()[:1], ".sql")


def is_query_file(text: str) -> bool:
    """Whether a command's argument names a file of queries rather than being SQL text."""
    named = Path(text).suffix.lower() in _READERS and not re.match(r"\s*select\s", text, re.IGNORECASE)
    return is_pipe(text) or named or _is_file(text)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL byte
        return False


def _read_sql(file: TextFile, found: QueryFile) -> None:
    heads = list(_HEAD.finditer(file.text))
    before = file.text[: heads[0].start()] if heads else file.text
    if _holds_words(before):
        found.problem(
            "the query has no name",
            file.line_of(len(before) - len(before.lstrip())),
            hint='write a line such as "-- name: cheap" above it',
        )
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(file.text)
        _read_sql_entry(file, found, head, end)


def _read_sql_entry(file: TextFile, found: QueryFile, head: re.Match[str], end: int) -> None:
    line = file.line_of(head.start())
    if not head[1]:
        found.problem("the name is missing", line, hint='write it after the colon: "-- name: cheap"')
        return
    attributes, start = _sql_attributes(file.text, head.end(), end)
    body = file.text[start:end]
    sql = body.strip()
    offset = start + len(body) - len(body.lstrip())
    if _is_unreadable(file.text[head.start() : end]):
        return
    second = _second_statement(sql)
    if second is not None:
        found.problem(
            "a second query stands under one name",
            file.line_of(offset + second),
            hint='give it a line "-- name: ..." of its own, or take the ";" away',
            query=head[1],
        )
        return
    found.entries.append(FileEntry(Query(head[1], sql), file.name, line, file.text, offset, attributes))


def _sql_attributes(text: str, start: int, end: int) -> tuple[dict[str, object], int]:
    """What the lines right under a name say, and where they end."""
    attributes: dict[str, object] = {}
    while (line := _ATTRIBUTE.match(text, start, end)) is not None:
        attributes[line[1].lower()] = line[2]
        start = line.end()
    return attributes, start


def fits_sql_file(sql: str) -> bool:
    """Whether a text comes back from a `.sql` file: it has no name's line in it, and no second statement."""
    return _HEAD.search(sql) is None and _second_statement(sql) is None


def _holds_words(text: str) -> bool:
    """Whether anything but comments and blanks stands in a text."""
    try:
        return len(tokenize(text)) > 1
    except QueryError:
        return True


def _second_statement(sql: str) -> int | None:
    """Where the text goes on after a semicolon."""
    if sql.find(";", 0, -1) < 0:
        return None
    try:
        tokens = tokenize(sql)
    except QueryError:  # shown where the query is bound
        return None
    places = [number for number, token in enumerate(tokens) if token.text == ";" and token.kind == "symbol"]
    after = places[0] + 1 if places else len(tokens)
    return tokens[after].start if after < len(tokens) - 1 else None


def _is_unreadable(text: str) -> bool:
    return re.search("[\x00\udc80-\udcff]", text) is not None


def _read_json_lines(file: TextFile, found: QueryFile) -> None:
    for number, line in enumerate(file.text.split("\n"), start=1):
        if line.strip() and not _is_unreadable(line):
            try:
                record = _JSON.decode(line)
            except (ValueError, RecursionError) as error:
                found.problem(_bad_json(error), number, hint='a line is {"id": "...", "sql": "..."}')
                continue
            _take(record, file.name, number, found)


def _read_json(file: TextFile, found: QueryFile) -> None:
    if found.problems:  # unreadable characters: a JSON text is whole or nothing
        return
    for position, record in _array_items(file, found):
        _take(record, file.name, file.line_of(position), found)


def _array_items(file: TextFile, found: QueryFile) -> Iterator[tuple[int, object]]:
    """The items of a JSON array with their positions; what comes after a mistake in the form cannot be read."""
    text, at = file.text, _skip(file.text, 0)
    if text[at] != "[":
        found.problem(
            'the file is no JSON array of {"id": "...", "sql": "..."}',
            file.line_of(at),
            hint="with one object per line, call it .jsonl",
        )
        return
    at = _skip(text, at + 1)
    while at < len(text) and text[at] != "]":
        try:
            record, end = _JSON.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            line = error.lineno if isinstance(error, json.JSONDecodeError) else file.line_of(at)
            found.problem(_bad_json(error), line, hint="what follows in the file was not read")
            return
        yield at, record
        at = _skip(text, end)
        if at < len(text) and text[at] == ",":
            at = _skip(text, at + 1)
        elif at < len(text) and text[at] != "]":
            found.problem(
                "a comma is missing", file.line_of(at), hint="what follows in the file was not read"
            )
            return
    if at >= len(text):
        found.problem("the JSON array is never closed", file.line_of(at), hint='close it with "]"')
    elif text[at + 1 :].strip():
        found.problem("something stands after the JSON array", file.line_of(_skip(text, at + 1)))


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _bad_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"this is not JSON: {error.msg[0].lower() + error.msg[1:]} (column {error.colno})"
    return f"this is not JSON that can be read: {'nested too deep' if isinstance(error, RecursionError) else error}"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    repeated = (
        next((name for name in names if names.count(name) > 1), None)
        if len(set(names)) < len(names)
        else None
    )
    if repeated is not None:
        raise ValueError(f'the key "{repeated}" stands twice in one object')
    return dict(pairs)


_JSON: Final = json.JSONDecoder(object_pairs_hook=_object)


def _read_csv(file: TextFile, found: QueryFile) -> None:
    csv.field_size_limit(sys.maxsize)  # a query may be longer than the module's 128 KiB
    reader = csv.reader(io.StringIO(file.text, newline=""), strict=True)
    head: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            found.problem(
                f"this is not CSV: {error}",
                line,
                hint="put the text in double quotes, and double those inside",
            )
            continue
        if head is None:
            head = [name.strip().lower() for name in row]
            if not {"id", "sql"} <= set(head):
                found.problem('the first line has to name the columns "id" and "sql"', line, hint="id,sql")
                return
        elif row and not _is_unreadable("".join(row)):
            _take_row(head, row, file.name, line, found)


def _take_row(head: list[str], row: list[str], file: str, line: int, found: QueryFile) -> None:
    if len(row) != len(head):
        found.problem(
            f"the line has {len(row)} fields, and the first line names {len(head)}",
            line,
            hint="put SQL text with commas in double quotes",
        )
        return
    _take(dict(zip(head, row, strict=True)), file, line, found)


def _take(record: object, file: str, line: int, found: QueryFile) -> None:
    """Enter what a record says, or say what it lacks."""
    if not isinstance(record, dict):
        found.problem("an entry is an object with id and sql", line, hint='{"id": "...", "sql": "..."}')
        return
    id, sql = record.get("id"), record.get("sql")
    name = id if isinstance(id, str) and id else None
    for key, value in (("id", id), ("sql", sql)):
        if value is None or value == "":
            found.problem(f'"{key}" is missing', line, query=name)
        elif not isinstance(value, str):
            found.problem(f'"{key}" is not text', line, query=name, hint="put it in double quotes")
    if isinstance(sql, str) and sql and name is not None:
        attributes = {key: value for key, value in record.items() if key not in ("id", "sql")}
        found.entries.append(FileEntry(Query(name, sql), file, line, attributes=attributes))


_FORMATS: Final = (
    'files of queries are .sql with "-- name: id" above each query, .jsonl or .json with {"id", "sql"}, '
    "and .csv with the columns id and sql"
)
_READERS: Final[dict[str, Callable[[TextFile, QueryFile], None]]] = {
    ".sql": _read_sql,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
    ".csv": _read_csv,
}
