"""Commands whose files are pipes: named ones and those of <(...), which are there to be read once."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from eddyline.cli import app

CSV = b"symbol,price\nA,20\nB,5\n"
JSON = b'{"symbol": "A", "price": 20}\n'
TABLE = pa.table({"symbol": ["A", "B"], "price": [20, 5]})
RULES = "-- name: q\nSELECT symbol FROM quotes WHERE price > 10;\n"
DECLARED = ("--schema", "symbol STRING, price BIGINT")
COMMAND = Path(sys.executable).parent / "eddyline"
PATIENCE = 120  # seconds, of which a command that hangs takes all


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.sql"
    path.write_text(RULES)
    return path


def pipe(folder: Path, content: bytes, name: str = "quotes.csv") -> Path:
    """A named pipe with somebody who writes to it, once."""
    path = folder / name
    os.mkfifo(path)

    def write() -> None:
        with suppress(BrokenPipeError):  # nobody wanted more
            path.write_bytes(content)

    threading.Thread(target=write, daemon=True).start()
    return path


def run(*words: object) -> Any:
    """The command in a thread, so that the test fails where it would wait forever."""
    found: list[Any] = []
    thread = threading.Thread(
        target=lambda: found.append(CliRunner().invoke(app, [str(word) for word in words])), daemon=True
    )
    thread.start()
    thread.join(PATIENCE)
    assert found, f"it hangs: eddyline {' '.join(map(str, words))}"
    return found[0]


def arrow_stream() -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write(TABLE)
    return bytes(sink.getvalue())


def parquet_file() -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(TABLE, sink)
    return bytes(sink.getvalue())


@pytest.mark.parametrize(
    ("content", "name", "options"),
    [
        (CSV, "quotes.csv", ()),
        (CSV, "quotes", ()),
        (CSV, "quotes.csv", DECLARED),
        (gzip.compress(CSV, mtime=0), "quotes.csv.gz", ()),
        (gzip.compress(CSV, mtime=0), "quotes", ()),
        (JSON, "quotes.jsonl", ()),
        (JSON, "63", ()),
        (arrow_stream(), "quotes.arrows", ()),
        (arrow_stream(), "63", ()),
        (parquet_file(), "quotes.parquet", DECLARED),
        (b"symbol,price\n" + b"A,20\n" + b"B,5\n" * 300_000, "quotes.csv", ()),  # more than is looked at
    ],
)
def test_rows(tmp_path: Path, rules: Path, content: bytes, name: str, options: tuple[str, ...]) -> None:
    result = run(
        "match", pipe(tmp_path, content, name), "--queries", rules, *options, "--output", "counts", "--json"
    )
    assert result.exit_code == 0, result.output
    assert '"q": 1' in result.stdout or '"matches": 1' in result.stdout


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"", 3, "is empty"),
        (gzip.compress(CSV * 1000, mtime=0)[:-20], 3, "ends too early"),
        (parquet_file(), 3, "cannot be seen before it is read"),
    ],
)
def test_trouble(tmp_path: Path, rules: Path, content: bytes, code: int, words: str) -> None:
    result = run("match", pipe(tmp_path, content, "quotes"), "--queries", rules)
    assert result.exit_code == code
    assert words in result.stderr


@pytest.mark.parametrize(
    "content", [CSV, JSON, b"[" + JSON + b"]", arrow_stream(), parquet_file(), b"symbol STRING, price DOUBLE"]
)
def test_schemas(tmp_path: Path, rules: Path, content: bytes) -> None:
    result = run("query", "check", rules, "--schema", f"quotes={pipe(tmp_path, content, '63')}")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "words",
    [
        ("query", "why", "q", "--queries", "RULES", "--row", "PIPE:1"),
        ("query", "why", "q", "--queries", "RULES", "--rows", "PIPE", "--summary"),
        ("query", "cost", "--queries", "RULES", "--stream", "quotes=PIPE"),
        ("backtest", "RULES", "--stream", "quotes=PIPE"),
    ],
)
def test_other_commands(tmp_path: Path, rules: Path, words: tuple[str, ...]) -> None:
    path = str(pipe(tmp_path, CSV))
    result = run(*(word.replace("PIPE", path).replace("RULES", str(rules)) for word in words))
    assert result.exit_code == 0, result.output


def test_queries(tmp_path: Path) -> None:
    rows = tmp_path / "quotes.csv"
    rows.write_bytes(CSV)
    result = run("match", rows, "--queries", pipe(tmp_path, RULES.encode(), "63"), "--output", "counts")
    assert result.exit_code == 0, result.output


def test_what_is_read_twice_is_refused(tmp_path: Path, rules: Path) -> None:
    path = pipe(tmp_path, CSV)
    result = run("match", "--stream", f"quotes={path}", "--stream", f"other={path}", "--queries", rules)
    assert result.exit_code == 3
    assert "is a pipe, which can be read only once" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("source", ["<(cat rows)", "/dev/stdin < rows"])
def test_shell(tmp_path: Path, rules: Path, source: str) -> None:
    (tmp_path / "rows").write_bytes(CSV)
    result = subprocess.run(
        ["bash", "-c", f"{COMMAND} match --queries rules.sql {source}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert result.returncode == 0, result.stderr
    assert '"symbol":"A"' in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("match - --queries rules.sql <&-", 3, "standard input is empty"),
        ("match rows.csv --queries - <&-", 1, ""),
        ("match rows.csv --queries rules.sql >&-", 0, ""),
        ("match rows.csv --queries rules.sql 2>&-", 0, ""),
    ],
)
def test_closed_streams(tmp_path: Path, rules: Path, words: str, code: int, told: str) -> None:
    (tmp_path / "rows.csv").write_bytes(CSV)
    result = subprocess.run(
        ["bash", "-c", f"{COMMAND} {words}"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.returncode == code, result.stderr
    assert told in result.stderr and "internal error" not in result.stderr
