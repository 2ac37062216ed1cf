"""Lines of text that are broken in every way: what is read, what is refused, and at which line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from eddyline.errors import FileError
from eddyline.model.catalog import Stream
from eddyline.runtime.embedded import blocks
from eddyline.runtime.embedded.csv_text import BROKEN_QUOTES
from tests.fault.test_files import rows_of

SMALL = Stream("small", pa.schema([("a", pa.int64()), ("b", pa.string())]))
Row = tuple[int | None, str | None]


def small(tmp_path: Path, ending: str, data: bytes) -> tuple[list[Row], list[tuple[int | None, int, str]]]:
    path = tmp_path / f"small.{ending}"
    path.write_bytes(data)
    rows, rejected = rows_of(path, SMALL)
    return [(row["a"], row["b"]) for row in rows], [(r.line, r.row, r.reason) for r in rejected]


@pytest.mark.parametrize(
    ("data", "rows", "rejected"),
    [
        pytest.param(b"a,b\r\n1,x\r\nz,y\r\n", [(1, "x")], [(3, 2, 'a: "z" is not a bigint')], id="crlf"),
        pytest.param(b"a,b\r1,x\rz,y\r", [(1, "x")], [(3, 2, 'a: "z" is not a bigint')], id="cr"),
        pytest.param(b"\xef\xbb\xbfa,b\n1,x\n", [(1, "x")], [], id="byte order mark"),
        pytest.param(
            b"\n\na,b\n\n1,x\n\n\nz,y\n", [(1, "x")], [(8, 2, 'a: "z" is not a bigint')], id="empty lines"
        ),
        pytest.param(
            b'a,b\n1,"x\n\ny"\nz,y\n', [(1, "x\n\ny")], [(5, 2, 'a: "z" is not a bigint')], id="quoted breaks"
        ),
        pytest.param(
            b"a,b\n1\n1,2,3\n2,x\n",
            [(2, "x")],
            [
                (2, 1, "the row has 1 field, and the first line names 2"),
                (3, 2, "the row has 3 fields, and the first line names 2"),
            ],
            id="too few and too many fields",
        ),
        pytest.param(
            b"a,b\n1,caf\xe9\n2,x\n", [(2, "x")], [(2, 1, "the byte 0xE9 is not UTF-8")], id="latin-1"
        ),
        pytest.param(
            b'a,b\n1,"x\n2,y\n3,z\n',
            [(2, "y"), (3, "z")],
            [(2, 1, BROKEN_QUOTES)],
            id="open quote",
        ),
        pytest.param(
            b'a,b\n1,"x\n2,"y"\n3,z\n',
            [(2, "y"), (3, "z")],
            [(2, 1, BROKEN_QUOTES)],
            id="open quote before another",
        ),
        pytest.param(b'a,b\n1,5" pipe\n', [(1, '5" pipe')], [], id="quote inside"),
        pytest.param(b'a,b\n1,""\n2,\n', [(1, ""), (2, None)], [], id="empty text and NULL"),
        pytest.param(
            b"a,b\n0x10,x\n+7, y\n99999999999999999999,z\n",
            [(7, " y")],
            [(2, 1, 'a: "0x10" is not a bigint'), (4, 3, 'a: "99999999999999999999" is not a bigint')],
            id="odd numbers",
        ),
        pytest.param(b"a,b\n1,x", [(1, "x")], [], id="no break at the end"),
        pytest.param(b"a,b\n1,x\x00y\n", [(1, "x\x00y")], [], id="NUL"),
    ],
)
def test_csv(
    tmp_path: Path,
    data: bytes,
    rows: list[Row],
    rejected: list[tuple[int, int, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert small(tmp_path, "csv", data) == (rows, rejected)
    assert small(tmp_path, "tsv", data.replace(b",", b"\t")) == (rows, rejected)
    for size in (4, 5, 7):
        monkeypatch.setattr(blocks, "BLOCK", size)
        assert small(tmp_path, "csv", data) == (rows, rejected)


NOT_JSON = "this is not JSON: "


@pytest.mark.parametrize(
    ("data", "rows", "rejected"),
    [
        pytest.param(
            b'{"a":1,"b":"x"}\r\n{"a":"z"}\r\n', [(1, "x")], [(2, 2, 'a: "z" is not a bigint')], id="crlf"
        ),
        pytest.param(b'\xef\xbb\xbf{"a":1,"b":"x"}\n', [(1, "x")], [], id="byte order mark"),
        pytest.param(
            b'\n{"a":1}\n  \n{"a":1.5}\n', [(1, None)], [(4, 2, "a: 1.5 is not a bigint")], id="empty lines"
        ),
        pytest.param(b'{"a":1}\nnull\n', [(1, None)], [(2, 2, "the line is no object")], id="null"),
        pytest.param(b"null\n", [], [(1, 1, "the line is no object")], id="nothing but null"),
        pytest.param(
            b'{"a":1}{"a":2}\n', [], [(1, 1, NOT_JSON + "extra data (column 8)")], id="two in a line"
        ),
        pytest.param(
            b'{"a":\n1}\n',
            [],
            [(1, 1, NOT_JSON + "expecting value (column 6)"), (2, 2, NOT_JSON + "extra data (column 2)")],
            id="one in two lines",
        ),
        pytest.param(
            b'{"b":"caf\xe9"}\n{"a":1}\n', [(1, None)], [(1, 1, "the byte 0xE9 is not UTF-8")], id="latin-1"
        ),
        pytest.param(
            b'{"c":"\xff"}\n', [], [(1, 1, "the byte 0xFF is not UTF-8")], id="not UTF-8, ignored field"
        ),
        pytest.param(b'{"b":7}\n', [], [(1, 1, "b: 7 is not a string")], id="number for text"),
        pytest.param(b'{"a":true}\n', [], [(1, 1, "a: true is not a bigint")], id="truth for number"),
        pytest.param(
            b'{"a":1,"a":2}\n',
            [],
            [(1, 1, 'this is not JSON that can be read: the key "a" stands twice in one object')],
            id="twice",
        ),
        pytest.param(
            b'{"b":"\\ud800"}\n', [], [(1, 1, "b: half a surrogate pair is no text")], id="half a pair"
        ),
        pytest.param(
            b'{"c":{"d":[1]},"a":3}\n{}\n', [(3, None), (None, None)], [], id="more and missing fields"
        ),
        pytest.param(
            b'{"c":' + b"[" * 100_000 + b"\n",
            [],
            [(1, 1, "this is not JSON that can be read: nested too deep")],
            id="deep",
        ),
        pytest.param(
            b'{"a":9223372036854775808}\n',
            [],
            [(1, 1, "a: 9223372036854775808 is not a bigint")],
            id="too large",
        ),
        pytest.param(b'{"a":1}', [(1, None)], [], id="no break at the end"),
        pytest.param(
            b'{"A":1,"b":"x"}\n{"a":2,"B":"y"}\n', [(1, "x"), (2, "y")], [], id="names in another case"
        ),
    ],
)
def test_json_lines(
    tmp_path: Path,
    data: bytes,
    rows: list[Row],
    rejected: list[tuple[int, int, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert small(tmp_path, "jsonl", data) == (rows, rejected)
    for size in (4, 5, 7) if len(data) < 1_000 else ():
        monkeypatch.setattr(blocks, "BLOCK", size)
        assert small(tmp_path, "jsonl", data) == (rows, rejected)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("a,b\n1,x\n".encode("utf-16"), "is UTF-16 text"),
        (b"PAR1....", "is a Parquet file"),
        (b"PK\x03\x04...", "is a zip archive"),
    ],
)
def test_other_things_under_the_name_of_text(tmp_path: Path, ending: str, data: bytes, said: str) -> None:
    with pytest.raises(FileError, match=said):
        small(tmp_path, ending, data)


def test_a_json_array_is_no_json_lines(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="JSON array"):
        small(tmp_path, "json", b'[{"a": 1}]')


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_lines_of_ten_megabytes(tmp_path: Path, ending: str) -> None:
    long = b"x" * 10_000_000
    lines = (
        [b"1,y", b"2," + long, b"z," + long, b"4,y"]
        if ending == "csv"
        else [
            b'{"a":1,"b":"y"}',
            b'{"a":2,"b":"' + long + b'"}',
            b'{"a":"z","b":"' + long + b'"}',
            b'{"a":4,"b":"y"}',
        ]
    )
    rows, rejected = small(tmp_path, ending, b"\n".join([b"a,b", *lines] if ending == "csv" else lines))
    assert [a for a, _ in rows] == [1, 2, 4] and rows[1][1] == long.decode()
    assert [(row, reason) for _, row, reason in rejected] == [(3, 'a: "z" is not a bigint')]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("size", [16, 64, 1_000])
def test_a_line_that_is_too_long_is_left_out(
    tmp_path: Path, ending: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "LONGEST", 100)
    monkeypatch.setattr(blocks, "BLOCK", size)
    lines = (
        [b"1,y", b"2," + b"x" * 5_000, b"z,y", b"4,y"]
        if ending == "csv"
        else [b'{"a":1,"b":"y"}', b'{"a":2,"b":"' + b"x" * 5_000 + b'"}', b'{"a":"z"}', b'{"a":4,"b":"y"}']
    )
    rows, rejected = small(tmp_path, ending, b"\n".join([b"a,b", *lines] if ending == "csv" else lines))
    header = ending == "csv"
    assert rows == [(1, "y"), (4, "y")]
    assert [(line, row) for line, row, _ in rejected] == [(2 + header, 2), (3 + header, 3)]
    assert "bytes, more than" in rejected[0][2]


def test_a_quote_that_is_never_closed_costs_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LONGEST", 200)
    monkeypatch.setattr(blocks, "BLOCK", 64)
    lines = [b"a,b", b'0,"open', *(b"%d,y" % number for number in range(1, 200))]
    rows, rejected = small(tmp_path, "csv", b"\n".join(lines))
    assert [a for a, _ in rows] == list(range(1, 200))
    assert rejected == [(2, 1, BROKEN_QUOTES)]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_text_under_the_name_of_columns(tmp_path: Path, ending: str) -> None:
    with pytest.raises(FileError, match="is no whole"):
        small(tmp_path, ending, b"a,b\n1,x\n" * 10)
