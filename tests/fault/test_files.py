"""Files that are broken in every way: a clear error or a file of rejects, the right exit code, nothing lost."""

from __future__ import annotations

import datetime
import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from eddyline.cli import app
from eddyline.errors import EddylineError, FileError, SchemaError
from eddyline.model.catalog import Stream
from eddyline.model.reject import Reject
from eddyline.runtime.embedded.infer import infer
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sinks import OutputFile
from eddyline.runtime.embedded.sources import read

SCHEMA = pa.schema(
    [
        ("symbol", pa.string()),
        ("price", pa.float64()),
        ("volume", pa.int64()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("amount", pa.decimal128(10, 2)),
        ("open", pa.bool_()),
    ]
)
QUOTES = Stream("quotes", SCHEMA)
ROWS: list[dict[str, Any]] = [
    {
        "symbol": symbol,
        "price": price,
        "volume": number * 100,
        "day": datetime.date(2026, 1, number),
        "at": datetime.datetime(2026, 1, number, 10, 30, tzinfo=datetime.UTC),
        "amount": Decimal(f"{number}.25"),
        "open": number % 2 == 0,
    }
    for number, (symbol, price) in enumerate(
        [("ACME", 9.5), ("ZÜRICH", 50.0), ('a "b", c', -1.5), (None, None), ("two\nlines", 1e300)], start=1
    )
]
TABLE = pa.Table.from_pylist(ROWS, schema=SCHEMA)
TEXT = ["csv", "tsv", "jsonl", "csv.gz", "jsonl.gz"]
BINARY = ["parquet", "arrow", "arrows"]
ENDINGS = [*TEXT, *BINARY]
DDL = (
    "symbol STRING, price DOUBLE, volume BIGINT, day DATE, at TIMESTAMP, amount DECIMAL(10, 2), open BOOLEAN"
)


def write(folder: Path, ending: str, table: pa.Table = TABLE) -> Path:
    path = folder / f"quotes.{ending}"
    with OutputFile(path, table.schema) as writer:
        writer.sink.write(table)
    return path


def rows_of(path: Path | str, stream: Stream = QUOTES) -> tuple[list[dict[str, Any]], list[Reject]]:
    rejected: list[Reject] = []
    rejects = Rejects(on_reject=rejected.append)
    pieces = list(read(str(path), stream, rejects=rejects))
    numbers = [number for piece in pieces for number in piece.rows.tolist()]
    assert sorted([*numbers, *(reject.row - 1 for reject in rejected)]) == list(
        range(len(numbers) + len(rejected))
    )
    assert all(piece.batch.schema == stream.schema for piece in pieces)
    return [row for piece in pieces for row in piece.batch.to_pylist()], rejected


def run(*arguments: str, stdin: bytes | None = None) -> Any:
    return CliRunner().invoke(app, list(arguments), input=stdin)


def rules(folder: Path) -> str:
    path = folder / "rules.sql"
    path.write_text("-- name: cheap\nSELECT symbol, price FROM quotes WHERE price < 10\n")
    return str(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read_again(tmp_path: Path, ending: str) -> None:
    assert rows_of(write(tmp_path, ending)) == (ROWS, [])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_cut_off_anywhere_loses_nothing_unnoticed(tmp_path: Path, ending: str) -> None:
    data = write(tmp_path, ending).read_bytes()
    path = tmp_path / f"cut.{ending}"
    for cut in range(0, len(data), 1 if len(data) < 1_000 else 37):
        path.write_bytes(data[:cut])
        try:
            rows, rejected = rows_of(path)
        except (FileError, SchemaError):
            continue
        assert ending not in ("parquet", "arrow", "csv.gz", "jsonl.gz") or cut == 0, (
            "such a file knows its end"
        )
        assert (
            len(rejected) <= 2
        )  # of CSV: a broken quote ends with its line, and the next line is half a row
        whole = len(rows) - (ending in ("csv", "tsv"))  # the last field of CSV may be cut in the middle
        assert rows[: max(0, whole)] == ROWS[: max(0, whole)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_empty_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"empty.{ending}"
    path.write_bytes(b"")
    if ending.startswith("jsonl"):
        assert rows_of(path) == ([], [])
        return
    with pytest.raises(FileError, match=r"empty|no whole"):
        rows_of(path)
    assert run("match", str(path), "-q", rules(tmp_path), "--schema", DDL).exit_code == 3


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_without_rows(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, ending, TABLE.slice(0, 0))
    assert rows_of(path) == ([], [])
    assert run("match", str(path), "-q", rules(tmp_path), "--schema", DDL).exit_code == 0


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_missing_column_is_an_error_and_null_in_json(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, ending, TABLE.drop_columns(["price"]))
    if ending.startswith("jsonl"):
        rows, rejected = rows_of(path)
        assert not rejected and rows == [row | {"price": None} for row in ROWS]
        return
    with pytest.raises(EddylineError, match='has no column "price", which stream "quotes" has'):
        rows_of(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_more_columns_in_another_order_and_case(tmp_path: Path, ending: str) -> None:
    names = [*reversed(SCHEMA.names), "venue"]
    table = TABLE.append_column("venue", pa.array(["X"] * len(ROWS))).select(names)
    table = table.rename_columns([name.upper() for name in names])
    assert rows_of(write(tmp_path, ending, table)) == (ROWS, [])


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_column_that_is_there_twice_is_an_error(tmp_path: Path, ending: str) -> None:
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "A"])
    path = tmp_path / f"rows.{ending}"
    if ending == "csv":
        path.write_text("a,A\n1,2\n")
    elif ending == "parquet":
        parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(EddylineError, match='has the column "a" twice'):
        rows_of(path, Stream("s", pa.schema([("a", pa.int64())])))


@pytest.mark.parametrize("ending", BINARY)
def test_values_that_do_not_fit_are_rejected_one_by_one(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, ending, pa.table({"a": [1, 300, -129, None, 5]}))
    rows, rejected = rows_of(path, Stream("s", pa.schema([("a", pa.int8())])))
    assert [row["a"] for row in rows] == [1, None, 5]
    assert [(r.row, r.line, r.reason) for r in rejected] == [
        (2, None, "a: 300 is not a tinyint"),
        (3, None, "a: -129 is not a tinyint"),
    ]


@pytest.mark.parametrize("ending", BINARY)
def test_another_sort_of_type_is_an_error(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path, ending, pa.table({"a": ["1", "2"]}))
    with pytest.raises(SchemaError, match=r'column "a" of .* is string, but stream "s" has int8'):
        rows_of(path, Stream("s", pa.schema([("a", pa.int8())])))


@pytest.mark.parametrize("ending", BINARY)
def test_text_that_is_no_utf8_inside_columns(tmp_path: Path, ending: str) -> None:
    column = pa.array([b"good", b"b\xe4d", None, b"fine"], pa.binary()).view(pa.string())
    path = write(tmp_path, ending, pa.table({"a": column}))
    rows, rejected = rows_of(path, Stream("s", pa.schema([("a", pa.string())])))
    assert [row["a"] for row in rows] == ["good", None, "fine"]
    assert [(r.row, r.reason) for r in rejected] == [(2, "a: the byte 0xE4 is not UTF-8")]


def test_columns_in_other_layouts(tmp_path: Path) -> None:
    columns = {
        "runs": pc.run_end_encode(pa.array(["A", "A", None])),
        "view": pa.array(["x", None, "y"], pa.string_view()),
        "list": pa.array([["a"], None, []], pa.list_view(pa.string())),
        "json": pa.array(["{}", None, "[]"], pa.json_()),
    }
    path = write(tmp_path, "arrow", pa.table(columns))
    expected = [
        {"runs": "A", "view": "x", "list": ["a"], "json": "{}"},
        {"runs": "A", "view": None, "list": None, "json": None},
        {"runs": None, "view": "y", "list": [], "json": "[]"},
    ]
    assert rows_of(path, Stream("s", infer(str(path)).schema)) == (expected, [])
    declared = pa.schema([("runs", pa.string()), ("json", pa.large_string())])
    assert [row["runs"] for row in rows_of(path, Stream("s", declared))[0]] == ["A", "A", None]


def damaged(ending: str) -> bytes:
    """Five rows, one of which is broken."""
    if ending == "csv":
        return b"symbol,price\nACME,9.5\nZETA,cheap\nBOLT,5\n"
    return b'{"symbol":"ACME","price":9.5}\n{"symbol":"ZETA","price":"cheap"}\n{"symbol":"BOLT","price":5}\n'


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
class TestCommand:
    schema = "symbol STRING, price DOUBLE"

    def test_rejects_are_kept_where_asked(self, tmp_path: Path, ending: str) -> None:
        data, bad = tmp_path / f"quotes.{ending}", tmp_path / "bad.jsonl"
        data.write_bytes(damaged(ending))
        result = run(
            "match", str(data), "-q", rules(tmp_path), "--schema", self.schema, "--rejects", str(bad)
        )
        assert result.exit_code == 1
        assert [json.loads(line)["row"] for line in result.stdout.splitlines()] == [1, 3]
        assert f"1 row could not be read: see {bad}" in result.stderr
        [reject] = [json.loads(line) for line in bad.read_text().splitlines()]
        assert (reject["file"], reject["row"], reject["line"]) == (str(data), 2, 2 + (ending == "csv"))
        assert reject["reason"] == 'price: "cheap" is not a double' and "ZETA" in reject["text"]

    def test_rejects_stand_beside_the_output(self, tmp_path: Path, ending: str) -> None:
        data, out = tmp_path / f"quotes.{ending}", tmp_path / "out.parquet"
        data.write_bytes(damaged(ending))
        result = run("match", str(data), "-q", rules(tmp_path), "--schema", self.schema, "--out", str(out))
        assert result.exit_code == 1 and parquet.read_table(out).num_rows == 2
        assert len((tmp_path / "out.parquet.rejects.jsonl").read_text().splitlines()) == 1
        data.write_bytes(damaged(ending).replace(b'"cheap"', b"1").replace(b"cheap", b"1"))
        result = run("match", str(data), "-q", rules(tmp_path), "--schema", self.schema, "--out", str(out))
        assert result.exit_code == 0 and not (tmp_path / "out.parquet.rejects.jsonl").exists()

    def test_the_first_rejects_are_shown_without_a_file(self, tmp_path: Path, ending: str) -> None:
        data = tmp_path / f"quotes.{ending}"
        data.write_bytes(damaged(ending))
        result = run("match", str(data), "-q", rules(tmp_path), "--schema", self.schema, "--output", "counts")
        assert result.exit_code == 1 and result.stdout.split() == ["query", "matches", "cheap", "2"]
        line = 2 + (ending == "csv")
        assert f'{data}, line {line}: price: "cheap" is not a double' in result.stderr

    def test_standard_input(self, tmp_path: Path, ending: str) -> None:
        arguments = ["match", "-s", "quotes=-", "-q", rules(tmp_path), "--schema", self.schema]
        for stdin in (damaged(ending), gzip.compress(damaged(ending))):
            result = run(*arguments, stdin=stdin)
            assert result.exit_code == 1 and len(result.stdout.splitlines()) == 2
            assert "standard input, line" in result.stderr

    def test_a_broken_file_leaves_the_old_output(self, tmp_path: Path, ending: str) -> None:
        data, out = tmp_path / f"quotes.{ending}.gz", tmp_path / "out.jsonl"
        out.write_text("old\n")
        data.write_bytes(gzip.compress(damaged(ending) * 100)[:-20])
        result = run("match", str(data), "-q", rules(tmp_path), "--schema", self.schema, "--out", str(out))
        assert result.exit_code == 3 and "ends too early" in result.stderr
        assert (
            out.read_text() == "old\n"
            and sorted(path.name for path in tmp_path.iterdir() if "partial" in path.name) == []
        )


@pytest.mark.parametrize("ending", ["parquet", "arrow", "arrows"])
def test_columns_from_standard_input(tmp_path: Path, ending: str) -> None:
    data = write(tmp_path, ending).read_bytes()
    result = run("match", "-", "-q", rules(tmp_path), "--schema", DDL, stdin=data)
    assert result.exit_code == 0, result.stderr
    assert [json.loads(line)["row"] for line in result.stdout.splitlines()] == [1, 3]
    assert (
        run("match", "-", "-q", rules(tmp_path), "--schema", DDL, stdin=data[: len(data) // 2]).exit_code == 3
    )


def test_a_file_of_a_folder_that_is_no_rows_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder, "csv")
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").touch()
    assert rows_of(folder) == (ROWS, [])
    (folder / "notes.txt").write_text("hello")
    with pytest.raises(FileError, match=r"notes.txt"):
        rows_of(folder)


def test_links_in_a_folder_are_followed_or_named(tmp_path: Path) -> None:
    folder, other = tmp_path / "data", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    write(other, "csv")
    (folder / "link").symlink_to(other)
    assert rows_of(folder) == (ROWS, [])
    (folder / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(FileError, match=r'gone.csv" is neither a file nor a folder'):
        rows_of(folder)
    (folder / "gone.csv").unlink()
    (other / "up").symlink_to(folder)
    with pytest.raises(FileError, match="is inside of itself"):
        rows_of(folder)


def test_folders_that_fit_a_pattern_are_read(tmp_path: Path) -> None:
    for day in ("2026-01-05", "2026-01-06"):
        (tmp_path / day).mkdir()
        write(tmp_path / day, "csv")
    for pattern in ("2026-*", "2026-*/*", "2026-*/**"):
        files = [piece.file for piece in read(str(tmp_path / pattern), QUOTES)]
        assert [Path(file).parent.name for file in files] == ["2026-01-05", "2026-01-06"]
