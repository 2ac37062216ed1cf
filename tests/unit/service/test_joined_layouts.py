"""Joins over columns of every layout that Arrow has: selected values are those of the files, wherever rows are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline.delivery.json_text import json_lines
from eddyline.queryset import join_replay
from eddyline.runtime.embedded.joins import kept_rows
from eddyline.service.files.event_times import TimeOptions
from eddyline.service.jobs.backtest import BacktestRequest, backtest
from eddyline.service.jobs.match import MatchForm, MatchRequest, match_files

ROWS = 12
JOIN = "SELECT a.*, b.n AS other FROM quotes a JOIN quotes b ON a.word = b.word AND b.ts BETWEEN a.ts AND a.ts + 3"
COLUMNS = {
    "n": pa.array(range(ROWS)),
    "ts": pa.array([row * 5 % 12 for row in range(ROWS)]),
    "word": pa.array([f"w{row % 3}" for row in range(ROWS)]).dictionary_encode(),
    "words": pa.array(
        [["x", f"y{row}"] for row in range(ROWS)], pa.list_(pa.dictionary(pa.int32(), pa.string()))
    ),
    "struct": pa.array([{"a": row, "b": "q"} for row in range(ROWS)]),
    "map": pa.array([[("a", row)] for row in range(ROWS)], pa.map_(pa.string(), pa.int64())),
    "large": pa.array([f"large {row}" for row in range(ROWS)], pa.large_string()),
    "view": pa.array([f"a view of something {row}" for row in range(ROWS)], pa.string_view()),
    "decimal": pa.array(range(ROWS), pa.decimal128(38, 3)),
    "unsigned": pa.array(range(ROWS), pa.uint64()),
    "half": pa.array([row / 2 for row in range(ROWS)], pa.float16()),
    "nothing": pa.nulls(ROWS),
    "bytes": pa.array([bytes([255, row]) for row in range(ROWS)]),
    "fixed": pa.array([bytes([row, 1]) for row in range(ROWS)], pa.binary(2)),
    "two": pa.array([[row, 2] for row in range(ROWS)], pa.list_(pa.int8(), 2)),
    "length": pa.array(range(ROWS), pa.duration("s")),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([5, ROWS], pa.int32()), pa.array(["r", "s"])),
    "day": pa.array([row * 86_400_000 for row in range(ROWS)], pa.date64()),
    "clock": pa.array(range(ROWS), pa.time32("s")),  # no type of Spark's
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quotes").mkdir()
    table = pa.table(COLUMNS)
    for number, (start, end) in enumerate(((0, 5), (5, ROWS))):
        part = table.slice(start, end - start)
        own = part.column("word").cast(pa.string()).dictionary_encode()  # another dictionary in each file
        part = part.set_column(part.schema.get_field_index("word"), "word", own)
        with pa.ipc.new_file(f"quotes/{number}.arrow", part.schema) as writer:
            writer.write_table(part, max_chunksize=3)
    Path("join.sql").write_text(f"-- name: near\n{JOIN}\n")


@pytest.mark.parametrize("is_tiny", [False, True])
def test_every_layout(is_tiny: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_tiny:
        monkeypatch.setattr(kept_rows, "IN_MEMORY", 500)
        monkeypatch.setattr(join_replay, "ROWS", 2)
        monkeypatch.setattr(join_replay, "MOST_ROWS", 2)
    times = TimeOptions(event_time=["ts"])
    request = MatchRequest(
        queries=["join.sql"], streams=["quotes=quotes/"], times=times, form=MatchForm.ROWS, out="out.jsonl"
    )
    outcome = match_files(request)
    assert outcome.chosen.findings == []
    given = [json.loads(line) for line in json_lines(pa.table(COLUMNS)).to_pylist()]
    expected = {
        (a["n"], b["n"])
        for a in given
        for b in given
        if a["word"] == b["word"] and 0 <= b["ts"] - a["ts"] <= 3
    }
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert {(line["n"], line["other"]) for line in lines} == expected and len(lines) == len(expected) > ROWS
    for line in lines:
        assert {name: line[name] for name in COLUMNS} == given[line["n"]]
    [near] = backtest(BacktestRequest(files=["join.sql"], streams=["quotes=quotes/"], times=times)).queries
    assert near.matches == len(expected)
