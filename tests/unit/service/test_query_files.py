"""Files of queries: each form, its mistakes, and bytes that are no text."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.errors import FileError
from eddyline.service.files.queries import QueryFile, read_queries


def read(folder: Path, name: str, data: str | bytes) -> QueryFile:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_queries(str(path))


def problems(file: QueryFile) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.message) for problem in file.problems]


def texts(file: QueryFile) -> dict[str, str]:
    return {entry.query.id: entry.query.sql for entry in file.entries}


def test_sql(tmp_path: Path) -> None:
    file = read(
        tmp_path,
        "rules.sql",
        "/* head */\n\n-- name: a\nSELECT 1;\n--NAME:b c \r\n-- why\nSELECT\n 2 -- end\n\n",
    )
    assert texts(file) == {"a": "SELECT 1;", "b c": "-- why\nSELECT\n 2 -- end"}
    assert [entry.line for entry in file.entries] == [3, 5]
    assert not file.problems


def test_sql_mistakes(tmp_path: Path) -> None:
    text = "\nSELECT 0;\n-- name:\nSELECT 1\n-- name: two\nSELECT 2;\nSELECT 3;\n-- name: fine\nSELECT 4;;"
    file = read(tmp_path, "rules.sql", text)
    assert problems(file) == [
        (2, "the query has no name"),
        (3, "the name is missing"),
        (7, "a second query stands under one name"),
        (9, "a second query stands under one name"),
    ]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    file = read(tmp_path, "rules.sql", b"\xef\xbb\xbf-- name: a\nSELECT 1")
    assert texts(file) == {"a": "SELECT 1"}


def test_a_bad_byte_costs_only_its_entry(tmp_path: Path) -> None:
    data = (
        "-- name: ä\nSELECT 1\n-- name: b\nSELECT ".encode()
        + b"'\xe9'\n-- name: c\nSELECT '\x00'\n-- name: d\nSELECT 4"
    )
    file = read(tmp_path, "rules.sql", data)
    assert list(texts(file)) == ["ä", "d"]
    assert problems(file) == [
        (4, f"the byte 0xE9 at byte {data.index(0xE9)} is not UTF-8"),
        (6, f"there is a NUL byte at byte {data.index(0)}"),
    ]


def test_a_bad_byte_after_a_byte_order_mark_is_counted_from_the_start(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"id": "a", "sql": "\xff"}\n{"id": "b", "sql": "SELECT 1"}\n'
    file = read(tmp_path, "rules.jsonl", data)
    assert problems(file) == [(1, f"the byte 0xFF at byte {data.index(0xFF)} is not UTF-8")]
    assert list(texts(file)) == ["b"]


def test_json(tmp_path: Path) -> None:
    file = read(
        tmp_path, "rules.json", '[\n{"id": "a", "sql": "SELECT 1", "owner": {}},\n\n {"id": "b"}\n]\n'
    )
    assert texts(file) == {"a": "SELECT 1"}
    assert problems(file) == [(4, '"sql" is missing')]
    assert file.entries[0].line == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"id": "a", "sql": "SELECT 1"}', (1, 'the file is no JSON array of {"id": "...", "sql": "..."}')),
        ('[\n{"id": "a" "sql": "x"}]', (2, "this is not JSON: expecting ',' delimiter (column 12)")),
        ('[{"id": "a", "sql": "x"}\n{"id"', (2, "a comma is missing")),
        ('[{"id": "a", "sql": "x"}\n', (2, "the JSON array is never closed")),
        ('[{"id": "a", "sql": "x"}]\n]', (2, "something stands after the JSON array")),
        (
            '[{"id": "a", "id": "b", "sql": "x"}]',
            (1, 'this is not JSON that can be read: the key "id" stands twice in one object'),
        ),
        ("[]", (None, "the file holds no query")),
        ("[" * 200_000, (1, "this is not JSON that can be read: nested too deep")),
    ],
    ids=lambda value: str(value)[:40],
)
def test_json_mistakes(tmp_path: Path, text: str, expected: tuple[int | None, str]) -> None:
    assert problems(read(tmp_path, "rules.json", text)) == [expected]


def test_csv(tmp_path: Path) -> None:
    file = read(
        tmp_path,
        "rules.csv",
        'ID,note,sql\r\na,,"SELECT\r\n""x"", 1"\r\n\r\nb,,SELECT 1, 2\r\n,,SELECT 3\r\nc,,\r\n',
    )
    assert texts(file) == {"a": 'SELECT\r\n"x", 1'}
    assert problems(file) == [
        (5, "the line has 4 fields, and the first line names 3"),
        (6, '"id" is missing'),
        (7, '"sql" is missing'),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n", (1, 'the first line has to name the columns "id" and "sql"')),
        ('id,sql\na,"SELECT 1\n', (2, "this is not CSV: unexpected end of data")),
        ("id,sql\n", (None, "the file holds no query")),
    ],
)
def test_csv_mistakes(tmp_path: Path, text: str, expected: tuple[int | None, str]) -> None:
    assert problems(read(tmp_path, "rules.csv", text)) == [expected]


def test_csv_takes_long_queries(tmp_path: Path) -> None:
    sql = "SELECT '" + "x" * 200_000 + "'"
    assert texts(read(tmp_path, "rules.csv", f'id,sql\na,"{sql}"\n')) == {"a": sql}


@pytest.mark.parametrize("name", ["rules.sql", "rules.jsonl", "rules.json", "rules.csv"])
@pytest.mark.parametrize("data", [b"", b" \n", b"\xef\xbb\xbf"])
def test_empty(tmp_path: Path, name: str, data: bytes) -> None:
    assert problems(read(tmp_path, name, data)) == [(None, "the file is empty")]


def test_only_comments(tmp_path: Path) -> None:
    assert problems(read(tmp_path, "rules.sql", "-- nothing here\n")) == [(None, "the file holds no query")]


@pytest.mark.parametrize("path", ["missing.sql", "no/such/folder.sql", "rules", "a\0b.sql"])
def test_unreadable(path: str) -> None:
    with pytest.raises(FileError):
        read_queries(path)
