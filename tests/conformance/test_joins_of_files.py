"""Joins over files: the pairs that the reference finds when all rows come by event time, in that order.

Rows stand in files of every format, several of a stream, in whatever order, and may be too many to be kept in memory.
"""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import eddyline as ed
from eddyline import reference
from eddyline.compile import Compiler
from eddyline.delivery.json_text import json_lines
from eddyline.model.event_time import longest
from eddyline.model.query import Query
from eddyline.queryset import join_replay
from eddyline.runtime.embedded.joins import kept_rows
from eddyline.service.files.event_times import TimeOptions
from eddyline.service.jobs.match import MatchForm, MatchRequest, match_files
from eddyline.testing.joins.scripts import (
    JoinScript,
    PushStep,
    asking_for_positions,
    draw_script,
    texts,
)
from eddyline.testing.joins.streams import batch_of
from tests.comparisons import compared
from tests.conftest import blocks, some

Found = tuple[str, str, int, str, int]  # query, and file and row of both sources, counted from 1


@dataclass(frozen=True)
class StreamFiles:
    """The rows of a stream, and where each of them is."""

    stream: ed.Stream
    rows: pa.Table
    places: Sequence[tuple[str, int]]


def write(
    folder: Path, stream: ed.Stream, rows: pa.Table, random_: random.Random, endings: Sequence[str]
) -> StreamFiles:
    """Rows in one to three files, each of another format maybe."""
    home = folder / stream.name
    home.mkdir(parents=True)
    cuts = sorted(random_.randint(0, rows.num_rows) for _ in range(random_.randint(0, 2)))
    places = []
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, rows.num_rows], strict=True)):
        file = home / f"{number}.{random_.choice(endings)}"
        _write(file, rows.slice(start, end - start))
        places += [(str(file), row + 1) for row in range(end - start)]
    return StreamFiles(stream, rows, places)


def _write(file: Path, rows: pa.Table) -> None:
    match file.suffix:
        case ".parquet":
            parquet.write_table(rows, file, row_group_size=7)
        case ".arrow":
            with pa.ipc.new_file(str(file), rows.schema) as writer:
                writer.write_table(rows, max_chunksize=5)
        case ".csv":
            csv.write_csv(rows, file)
        case ".jsonl":
            file.write_text("".join(f"{line}\n" for line in json_lines(rows).to_pylist()))


def expected(joins: Mapping[str, str], files: Sequence[StreamFiles], zone: str) -> Iterator[Found]:
    """What the reference finds if all rows come one by one, by event time and place."""
    coming = [(time, number, row) for number, each in enumerate(files) for row, time in _times(each)]
    places: dict[str, list[tuple[str, int]]] = {each.stream.name: [] for each in files}
    steps = []
    for _, number, row in sorted(coming):
        each = files[number]
        places[each.stream.name].append(each.places[row])
        steps.append((each.stream.name, each.rows.slice(row, 1)))
    streams = [each.stream for each in files]
    compiler = Compiler(streams, time_zone=zone)
    sources = {id: compiler.bind(Query(id, text)).sources for id, text in joins.items()}
    for pair in reference.join(joins, steps, streams=streams, complete=True, time_zone=zone).pairs:
        first, second = sources[pair.query]
        yield (pair.query, *places[first.stream][pair.first], *places[second.stream][pair.second])


def _times(files: StreamFiles) -> Iterator[tuple[int, int]]:
    """Rows that have a time, and that."""
    times = files.stream.times
    assert times is not None
    column = files.rows.column(times.column)
    column = column.cast(pa.int32() if pa.types.is_date(column.type) else pa.int64())
    for row, time in enumerate(column.to_pylist()):
        if time is not None and abs(time) < longest(times.type):
            yield row, time


def found(
    folder: Path,
    joins: Mapping[str, str],
    files: Sequence[StreamFiles],
    zone: str,
    form: MatchForm,
    ending: str,
) -> tuple[list[Found], dict[str, int]]:
    """What the command writes, and its counts."""
    rules, schemas = folder / "rules.jsonl", folder / "schemas"
    rules.write_text("".join(json.dumps({"id": id, "sql": text}) + "\n" for id, text in joins.items()))
    schemas.mkdir()
    for each in files:
        parquet.write_table(each.stream.schema.empty_table(), schemas / f"{each.stream.name}.parquet")
    out = folder / f"out.{ending}"
    outcome = match_files(
        MatchRequest(
            queries=[str(rules)],
            streams=[f"{each.stream.name}={folder / each.stream.name}/" for each in files],
            schemas=[f"{each.stream.name}={schemas / each.stream.name}.parquet" for each in files],
            times=TimeOptions(event_time=[f"{each.stream.name}={each.stream.event_time}" for each in files]),
            form=form,
            out=str(out),
            time_zone=zone,
        )
    )
    assert outcome.chosen.findings == [] and outcome.rejects.count == 0
    names = ("query", "file", "row", "with_file", "with_row")
    if form is MatchForm.COUNTS:
        return [], dict(outcome.counts)
    if ending == "jsonl":
        lines = map(json.loads, out.read_text().splitlines())
        return [tuple(line[name] for name in names) for line in lines], dict(outcome.counts)
    table = parquet.read_table(out) if ending == "parquet" else csv.read_csv(out)
    columns = [table.column(name).to_pylist() for name in names]
    return list(zip(*columns, strict=True)), dict(outcome.counts)


def compare(
    folder: Path,
    joins: Mapping[str, str],
    files: Sequence[StreamFiles],
    zone: str,
    random_: random.Random,
    is_ordered: bool,
) -> int:
    """Match files as one of the forms; gives how many pairs there are."""
    theirs = list(expected(joins, files, zone))
    form = random_.choice(list(MatchForm))
    ending = "jsonl" if form is MatchForm.ROWS else random_.choice(("jsonl", "parquet", "csv"))
    ours, counts = found(folder, joins, files, zone, form, ending)
    if form is not MatchForm.COUNTS:
        assert ours == theirs if is_ordered else sorted(ours) == sorted(theirs)
    assert counts == {id: sum(pair[0] == id for pair in theirs) for id in joins}
    compared("reference: joins of files", len(joins))
    return len(theirs)


@pytest.fixture(params=["as usual", "tiny", "crowded"])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Tiny: slices of a few rows, and runs in files. Crowded: more pairs than are held together."""
    if request.param == "tiny":
        monkeypatch.setattr(join_replay, "ROWS", 4)
        monkeypatch.setattr(join_replay, "MOST_ROWS", 4)
        monkeypatch.setattr(join_replay, "FEWEST_ROWS", 1)
        monkeypatch.setattr(kept_rows, "IN_MEMORY", 2_000)
    elif request.param == "crowded":
        monkeypatch.setattr(join_replay, "MOST_PAIRS", 2)
    return str(request.param)


@pytest.mark.parametrize("seed", blocks(20, quick=range(2)))
def test_joins_of_every_kind(seed: int, sizes: str, tmp_path: Path) -> None:
    random_ = random.Random(seed)
    pairs = 0
    for number in range(5):
        script = _draw(random_)
        while not _accepted(script):  # joins without a bound, which want a window of their surroundings
            script = _draw(random_)
        files = [
            write(
                tmp_path / str(number),
                stream,
                _rows_of(script, stream.name, random_),
                random_,
                ("parquet", "arrow"),
            )
            for stream in script.streams.both
        ]
        zone, joins = script.streams.zone, _accepted(script)
        pairs += compare(tmp_path / str(number), joins, files, zone, random_, sizes != "crowded")
        _check_values(tmp_path / str(number) / "out.jsonl", joins, files)
    assert pairs


def _check_values(out: Path, joins: Mapping[str, str], files: Sequence[StreamFiles]) -> None:
    """Rows that were selected are those that the line names; their numbers count the rows of a stream."""
    streams = {each.stream.name: each for each in files}
    compiler = Compiler([each.stream for each in files])
    for line in map(json.loads, out.read_text().splitlines()) if out.exists() else ():
        if "one" in line:
            first, second = compiler.bind(Query("", joins[line["query"]])).sources
            assert streams[first.stream].places[line["one"]] == (line["file"], line["row"])
            assert streams[second.stream].places[line["other"]] == (line["with_file"], line["with_row"])


def _draw(random_: random.Random) -> JoinScript:
    return asking_for_positions(draw_script(random_, rows=40, joins=5, changes=False))


def _rows_of(script: JoinScript, stream: str, random_: random.Random) -> pa.Table:
    """All rows of a stream, sometimes in another order."""
    steps = [step for step in script.steps if isinstance(step, PushStep) and step.stream == stream]
    rows = [row for step in steps for row in step.rows]
    if random_.random() < 0.5:
        random_.shuffle(rows)
    return pa.Table.from_batches([batch_of(rows, range(len(rows)))])


def _accepted(script: JoinScript) -> dict[str, str]:
    queries = texts(script.joins)
    built = ed.QuerySet.build(
        queries, streams=script.streams.both, time_zone=script.streams.zone, on_error="collect"
    )
    return {query.id: query.sql for query in queries if query.id in built}


START = dt.datetime(2026, 1, 5, 9, 30)
KINDS = {
    "timestamp": (
        pa.timestamp("us", "UTC"),
        lambda n: START.replace(tzinfo=dt.UTC) + dt.timedelta(seconds=n),
    ),
    "timestamp_ntz": (pa.timestamp("us"), lambda n: START + dt.timedelta(seconds=n)),
    "date": (pa.date32(), lambda n: START.date() + dt.timedelta(days=n)),
    "bigint": (pa.int64(), lambda n: n),
    "smallint": (pa.int16(), lambda n: n),
}
JOINS = {
    "soon": "SELECT q.n, t.n AS m FROM quotes q JOIN trades t ON q.symbol = t.symbol "
    "WHERE t.ts BETWEEN q.ts AND q.ts + {three}",
    "dear": "SELECT t.symbol FROM trades t JOIN quotes q ON q.symbol = t.symbol AND t.n > q.n "
    "AND q.ts >= t.ts - {three} AND q.ts <= t.ts + {three} AND q.n < 30",
    "again": "SELECT * FROM quotes a, quotes b WHERE a.symbol = b.symbol AND b.ts - a.ts BETWEEN {none} AND {three}",
    "nobody": "SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol AND t.ts = q.ts AND q.n < 0",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", some(["csv", "jsonl", "parquet", "arrow", "mixed"], quick=["mixed"]))
def test_event_times_of_every_kind(kind: str, ending: str, sizes: str, tmp_path: Path) -> None:
    random_ = random.Random(f"{kind} {ending}")
    arrow, time_of = KINDS[kind]
    lengths = {"three": "3", "none": "0"}
    if kind == "date":
        lengths = {"three": "INTERVAL 3 DAYS", "none": "INTERVAL 0 DAYS"}
    elif kind.startswith("timestamp"):
        lengths = {"three": "INTERVAL 3 SECONDS", "none": "INTERVAL 0 SECONDS"}
    joins = {id: text.format(**lengths) for id, text in JOINS.items()}
    schema = pa.schema([("n", pa.int64()), ("symbol", pa.string()), ("ts", arrow)])
    files = []
    for name in ("quotes", "trades"):
        numbers = range(random_.choice([0, 40, 40, 40]))
        rows = {
            "n": list(numbers),
            "symbol": [random_.choice(["A", "B", "", None]) for _ in numbers],
            "ts": [None if random_.random() < 0.1 else time_of(random_.randint(0, 20)) for _ in numbers],
        }
        table = pa.table(rows, schema=schema)
        endings = ("csv", "jsonl", "parquet", "arrow") if ending == "mixed" else (ending,)
        files.append(write(tmp_path, ed.Stream(name, schema, "ts"), table, random_, endings))
    compare(tmp_path, joins, files, "UTC", random_, sizes != "crowded")
