"""`eddyline match` with joins: what it writes, in every form and format, and what it says where it cannot."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from eddyline.cli import app
from eddyline.runtime.embedded.joins import kept_rows

RULES = """\
-- name: spread
SELECT q.symbol, q.price, t.price AS paid FROM quotes q JOIN trades t ON q.symbol = t.symbol
WHERE t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS AND t.price > q.price
-- name: again
SELECT * FROM quotes a JOIN quotes b USING (symbol) WHERE b.ts > a.ts AND b.ts <= a.ts + INTERVAL 10 SECONDS
-- name: cheap
SELECT symbol, price FROM quotes WHERE price < 10
-- name: never
SELECT * FROM trades t JOIN quotes q ON q.symbol = t.symbol AND q.ts = t.ts AND q.price < 0
"""
# neither sorted by time, nor all of it good
QUOTES = """\
symbol,ts,price
ACME,2026-01-05 09:30:08,9.0
ACME,2026-01-05 09:30:00,9.5
ZETA,2026-01-05 09:30:01,240
ACME,,9
ACME,soon,9
"""
TRADES = {
    "a.jsonl": '{"symbol": "ACME", "ts": "2026-01-05 09:30:09", "price": 9.6}\n'
    '{"symbol": "ZETA", "ts": "2026-01-05 09:30:01", "price": 239}\n',
    "b.csv": "symbol,ts,price\nACME,2026-01-05 09:30:05,9.6\n",
    "c.csv": "symbol,ts,price\n",
}
SCHEMA = "symbol STRING, ts TIMESTAMP, price DOUBLE"
PAIRS = [
    ("spread", "quotes.csv", 2, "trades/b.csv", 1),
    ("again", "quotes.csv", 2, "quotes.csv", 1),
    ("spread", "quotes.csv", 1, "trades/a.jsonl", 1),
]
SELECTED = """\
{"query":"cheap","file":"quotes.csv","row":1,"symbol":"ACME","price":9}
{"query":"cheap","file":"quotes.csv","row":2,"symbol":"ACME","price":9.5}
{"query":"cheap","file":"quotes.csv","row":4,"symbol":"ACME","price":9}
{"query":"spread","file":"quotes.csv","row":2,"with_file":"trades/b.csv","with_row":1,"symbol":"ACME","price":9.5,\
"paid":9.6}
{"query":"again","file":"quotes.csv","row":2,"with_file":"quotes.csv","with_row":1,"symbol":"ACME",\
"a_ts":"2026-01-05T09:30:00Z","a_price":9.5,"b_ts":"2026-01-05T09:30:08Z","b_price":9}
{"query":"spread","file":"quotes.csv","row":1,"with_file":"trades/a.jsonl","with_row":1,"symbol":"ACME","price":9,\
"paid":9.6}
"""
SUMMARY = "7 rows, 6 matches of 4 queries (3 pairs of 3 joins)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rules.sql").write_text(RULES)
    (tmp_path / "quotes.csv").write_text(QUOTES)
    (tmp_path / "trades").mkdir()
    for name, text in TRADES.items():
        (tmp_path / "trades" / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: object, stdin: bytes | None = None) -> Any:
    return CliRunner().invoke(app, ["match", *map(str, arguments)], input=stdin)


def run_all(*arguments: object) -> Any:
    streams = ("-s", "quotes=quotes.csv", "-s", "trades=trades/")
    schemas = ("--schema", f"quotes={SCHEMA}", "--schema", f"trades={SCHEMA}", "--event-time", "ts")
    return run("-q", "rules.sql", *streams, *schemas, *arguments)


@pytest.mark.parametrize("memory", [1, 1 << 27])
def test_rows(memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "IN_MEMORY", memory)
    result = run_all()
    assert result.stdout == SELECTED
    assert result.stderr == (
        f"{SUMMARY}\n1 row of quotes left out of joins: the event time is NULL\n"
        "1 row could not be read; --rejects FILE keeps them all. The first:\n"
        '  quotes.csv, line 6: ts: "soon" is not a timestamp: ACME,soon,9\n'
    )
    assert result.exit_code == 1


def test_pairs_as_json_lines_say_with_which_row_only_for_joins() -> None:
    found = [json.loads(line) for line in run_all("--output", "pairs").stdout.splitlines()]
    assert found[:3] == [{"query": "cheap", "file": "quotes.csv", "row": row} for row in (1, 2, 4)]
    assert [tuple(line.values()) for line in found[3:]] == PAIRS
    assert list(found[3]) == ["query", "file", "row", "with_file", "with_row"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "tsv"])
def test_pairs_in_a_table(ending: str) -> None:
    for threads in (1, 2):
        result = run_all("--output", "pairs", "--out", f"pairs.{ending}", "--threads", threads)
        assert f"{SUMMARY}, written to pairs.{ending}" in result.stderr
        match ending:
            case "parquet":
                table = parquet.read_table("pairs.parquet")
            case "arrow":
                with pa.ipc.open_file("pairs.arrow") as file:
                    table = file.read_all()
            case _:
                separated = csv.ParseOptions(delimiter="," if ending == "csv" else "\t")
                as_null = csv.ConvertOptions(strings_can_be_null=True)
                table = csv.read_csv(f"pairs.{ending}", parse_options=separated, convert_options=as_null)
        rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        assert rows == [*(("cheap", "quotes.csv", row, None, None) for row in (1, 2, 4)), *PAIRS]


def test_counts() -> None:
    result = run_all("--output", "counts")
    assert result.stdout.split() == [
        "query",
        "matches",
        "cheap",
        "3",
        "spread",
        "2",
        "again",
        "1",
        "never",
        "0",
    ]
    result = run_all("--output", "counts", "--out", "counts.csv")
    assert csv.read_csv("counts.csv")["matches"].to_pylist() == [2, 1, 3, 0]


def test_summary_as_json() -> None:
    found = json.loads(run_all("--json").stdout)
    assert found["counts"] == {"spread": 2, "again": 1, "cheap": 3, "never": 0}
    assert (found["rows"], found["matches"], found["pairs"], found["rejected"]) == (7, 6, 3, 1)
    assert found["joins"] == ["spread", "again", "never"]
    assert found["left_out_of_joins"] == {"quotes": {"no time": 1}}


def test_a_folder_has_a_file_for_each_select_list() -> None:
    assert run_all("--out", "out/").exit_code == 1
    names = ["again.parquet", "cheap.parquet", "never.parquet", "spread.parquet"]
    assert sorted(path.name for path in Path("out").iterdir()) == names
    assert parquet.read_table("out/cheap.parquet").schema.names == ["query", "file", "row", "symbol", "price"]
    spread = parquet.read_table("out/spread.parquet")
    assert spread.schema.names == ["query", "file", "row", "with_file", "with_row", "symbol", "price", "paid"]
    assert spread["paid"].to_pylist() == [9.6, 9.6]
    assert parquet.read_table("out/never.parquet").num_rows == 0


def test_one_table_holds_one_select_list() -> None:
    result = run_all("--out", "out.csv")
    assert result.exit_code == 3 and "4 different SELECT lists" in result.stderr
    Path("rules.sql").write_text(RULES[: RULES.index("-- name: again")])
    result = run_all("--out", "out.csv")
    assert (
        Path("out.csv").read_text().splitlines()[1]
        == '"spread","quotes.csv",2,"trades/b.csv",1,"ACME",9.5,9.6'
    )


def test_without_an_event_time_it_says_what_to_write() -> None:
    streams = ("-s", "quotes=quotes.csv", "-s", "trades=trades/b.csv")
    result = run("-q", "rules.sql", *streams, "--schema", f"quotes={SCHEMA}", "--output", "counts")
    assert result.exit_code == 1
    assert 'query "spread": stream "quotes" has no event time' in result.stderr
    assert "hint: say which column it is: --event-time quotes=ts" in result.stderr
    assert result.stdout.split() == ["query", "matches", "cheap", "3"]
    result = run("-q", "rules.sql", *streams, "--schema", f"quotes={SCHEMA}", "--event-time", "quotes=ts")
    assert "hint: say which column it is: --event-time trades=ts" in result.stderr


def test_a_stream_is_joined_with_itself_from_a_pipe() -> None:
    Path("rules.sql").write_text(RULES[RULES.index("-- name: again") : RULES.index("-- name: cheap")])
    result = run(
        "-", "-q", "rules.sql", "--schema", f"{SCHEMA} WITH (event_time = ts)", stdin=QUOTES.encode()
    )
    assert [tuple(json.loads(line).values())[:5] for line in result.stdout.splitlines()] == [
        ("again", "-", 2, "-", 1)
    ]


def test_joins_of_a_registry() -> None:
    settings = "WITH (event_time = ts, lateness = '10 seconds')"
    for name in ("quotes", "trades"):
        Path(f"{name}.ddl").write_text(f"{SCHEMA} {settings}")
    declared = ("--schema", "quotes=quotes.ddl", "--schema", "trades=trades.ddl")
    added = CliRunner().invoke(app, ["query", "import", "rules.sql", "--registry", "rules.db", *declared])
    assert added.exit_code == 0, added.output
    shadowed = CliRunner().invoke(app, ["query", "shadow", "again", "--registry", "rules.db"])
    assert shadowed.exit_code == 0
    streams = ("-s", "quotes=quotes.csv", "-s", "trades=trades/")
    result = run("--registry", "rules.db", *streams, "--output", "pairs")
    assert [json.loads(line)["query"] for line in result.stdout.splitlines()][3:] == ["spread", "spread"]
    assert SUMMARY in result.stderr
    result = run("--registry", "rules.db", "-s", "quotes=quotes.csv", "--json")
    found = json.loads(result.stdout)
    assert found["counts"] == {"again": 1, "cheap": 3}
    assert [(each["query"], each["message"], each["hint"]) for each in found["findings"]] == [
        (id, 'it joins stream "trades", of which there are no rows', "give them: --stream trades=SOURCE")
        for id in ("spread", "never")
    ]


def test_a_stream_that_no_query_reads_is_named() -> None:
    result = run_all("-s", "tades=quotes.csv", "--schema", f"tades={SCHEMA}", "--output", "counts")
    said = 'no query reads stream "tades", whose rows are in quotes.csv'
    assert [line for line in result.stderr.splitlines() if "no query" in line] == [said]


def test_a_join_of_which_no_stream_has_rows_matches_nothing() -> None:
    Path("other.csv").write_text("price\n5\n")
    Path("quotes.ddl").write_text(f"{SCHEMA} WITH (event_time = ts, lateness = '10 seconds')")
    Path("rules.sql").write_text(RULES[RULES.index("-- name: again") : RULES.index("-- name: cheap")])
    arguments = ["query", "import", "rules.sql", "--registry", "rules.db", "--schema", "quotes=quotes.ddl"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    result = run("--registry", "rules.db", "-s", "other=other.csv", "--json")
    assert result.exit_code == 0 and json.loads(result.stdout)["counts"] == {"again": 0}


def test_files_without_rows() -> None:
    Path("quotes.csv").write_text("symbol,ts,price\n")
    result = run_all("--output", "counts")
    assert result.exit_code == 0 and "3 rows, 0 matches of 4 queries (0 pairs of 3 joins)" in result.stderr
    assert run_all("--out", "out.jsonl").exit_code == 0 and Path("out.jsonl").read_text() == ""


def test_rows_that_find_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "IN_MEMORY", 1)
    Path("file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", "file/folder")
    result = run_all("--out", "out.jsonl")
    assert result.exit_code == 3 and not Path("out.jsonl").exists()
    assert 'rows that are kept for joins cannot be written to "file/folder"' in result.stderr
    assert "hint: have TMPDIR name a folder with more room" in result.stderr
