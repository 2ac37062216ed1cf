"""Reports on disk: lines that survive what happens to processes and disks, and sums that survive the lines."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from eddyline.errors import FileError, OwnershipError, SetupError
from eddyline.runtime.spark.watching import BatchReport, Metrics, PipelineTotals, Tail
from eddyline.runtime.spark.watching import totals as sums
from eddyline.runtime.spark.watching.kept_metrics import NAME, KeptMetrics, metrics_in
from eddyline.runtime.spark.watching.totals import BOUNDS, total_of
from eddyline.runtime.spark.watching.values import LONGEST_PROBLEM, MOST_PROBLEMS, MOST_TOP
from eddyline.storage.local import LocalStorage
from tests.unit.spark.owners import Owner

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def report(number: int, source: str = "quotes") -> BatchReport:
    return BatchReport(
        source=source,
        batch_id=number,
        version=1 + number // 3,
        queries=1_000,
        rows=100,
        matched_rows=7,
        dropped_rows=number % 2,
        dropped_files=1,
        matches=9,
        failures=1,
        delivered={"results": 8},
        seconds={"pin": 0.01, "match": 0.2, "deliver": 0.1, "commit": 0.02, "total": 0.35},
        top=(("cheap", 5), ("dear", 4)),
        failing=(("divides", 1),),
        newest_event=NOON,
        at=NOON + timedelta(seconds=number),
        problems=("a column is missing",) if number == 2 else (),
    )


def test_a_report_is_json_and_back() -> None:
    one = report(2)
    assert BatchReport.from_json(json.loads(json.dumps(one.to_json()))) == one
    assert pickle.loads(pickle.dumps(one)) == one


def test_reports_of_other_releases_are_read() -> None:
    known = {"source": "s", "batch_id": 1, "version": 1, "queries": 2, "rows": 3, "at": NOON.isoformat()}
    assert BatchReport.from_json({**known, "mood": "fine"}).rows == 3


def test_a_report_has_a_bounded_length() -> None:
    many = replace(report(1), problems=("x" * 10_000,) * 10_000, top=(("q", 1),) * 10_000)
    assert len(many.problems) == MOST_PROBLEMS and len(many.problems[0]) == LONGEST_PROBLEM
    assert len(many.top) == MOST_TOP


def test_lines_and_sums(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    metrics = Metrics(path)
    for number in range(4):
        metrics.batch(report(number))
    metrics.batch(report(0, "trades"))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["batch_id"] for line in lines] == [0, 1, 2, 3, 0]
    totals = Metrics(path).totals
    assert totals.count("rows") == 500 and totals.delivered == {"results": 40}
    quotes = totals.sources["quotes"]
    assert (quotes.batches, quotes.dropped_rows, quotes.dropped_files, quotes.problems) == (4, 2, 4, 1)
    assert quotes.seconds["match"] == pytest.approx(0.8)
    assert quotes.buckets[BOUNDS.index(0.5)] == 4 == sum(quotes.buckets)
    assert totals.queries == {"cheap": 25, "dear": 20}
    assert totals.failing == {"divides": 5} and totals.most_failing(3) == ["divides"]
    assert totals.newest == report(3)


def test_a_replayed_batch_counts_once() -> None:
    assert total_of([report(0), report(1), report(1), report(0)]) == total_of([report(0), report(1)])


def test_sums_are_json_and_back() -> None:
    totals = total_of([report(0), report(1, "trades")])
    assert PipelineTotals.from_json(json.loads(json.dumps(totals.to_json()))) == totals
    assert PipelineTotals().newest is None


def test_queries_in_the_sums_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "MOST_QUERIES", 10)
    reports = [replace(report(n), top=(("always", 5), (f"q{n}", 1))) for n in range(100)]
    totals = total_of(reports)
    assert len(totals.queries) <= 10 and totals.queries["always"] == 500


@pytest.mark.parametrize(
    "rest", ['{"batch_id": 7, "sou', "null", '{"totals": 3}', '{"totals": {}}', "\x00\x00"]
)
def test_a_half_line_is_passed_over(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "metrics.jsonl"
    Metrics(path).batch(report(0))
    with path.open("a") as file:
        file.write(rest)
    tail = Tail(path)
    assert tail.read() == [report(0)]
    Metrics(path).batch(report(1))
    assert tail.read() == [report(1)]
    assert Metrics(path).totals == total_of([report(0), report(1)])


@pytest.mark.parametrize("line", ['{"format":2,"mood":"fine"}', '{"format":0,"totals":{}}'])
def test_another_format_is_refused_by_name(tmp_path: Path, line: str) -> None:
    path = tmp_path / "metrics.jsonl"
    Metrics(path).batch(report(0))
    assert json.loads(path.read_text())["format"] == 1
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(
        FileError, match=r"metrics.jsonl has reports of format [02], .* reads format 1"
    ) as failure:
        Tail(path).read()
    assert "move the file away" in str(failure.value.hint)


def test_rotation_keeps_sums_and_bounds_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    metrics, tail, seen = Metrics(path, most_bytes=4_000), Tail(path), []
    for number in range(100):
        metrics.batch(report(number))
        if number % 3 == 0:
            seen += tail.read()
    seen += tail.read()
    assert [one.batch_id for one in seen] == list(range(100))
    assert {file.name for file in tmp_path.iterdir()} == {"metrics.jsonl", "metrics.jsonl.1"}
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 2 * 4_000 + 2_000
    expected = total_of(report(number) for number in range(100))
    assert metrics.totals.count("rows") == expected.count("rows") == tail.totals.count("rows")
    assert metrics.totals.sources["quotes"].buckets == expected.sources["quotes"].buckets


def test_a_full_disk_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics("/dev/full")
    metrics.batch(report(0))
    assert metrics.lost == 1 and "the report of batch 0 of quotes is lost" in "\n".join(caplog.messages)


def test_a_folder_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "gone" / "metrics.jsonl")
    metrics.batch(report(0))
    assert metrics.lost == 1 and metrics.totals == PipelineTotals()


def _write(path: Path, source: str) -> None:
    metrics = Metrics(path, most_bytes=20_000)
    for number in range(150):
        metrics.batch(report(number, source))


@pytest.mark.slow
def test_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(path, f"source {n}")) for n in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert Metrics(path).totals.count("batches") == 300


def test_a_copy_is_kept_of_what_an_owner_reports(tmp_path: Path) -> None:
    kept, owner = LocalStorage(tmp_path / "kept"), Owner()
    first = KeptMetrics(tmp_path / "1", kept, owner)
    first.close()
    assert not kept.exists(NAME), "nothing was reported"
    first.batch(report(0))
    first.close()
    assert metrics_in(tmp_path / "2", kept).totals.count("batches") == 1
    refused = KeptMetrics(tmp_path / "3", kept, owner)
    first.batch(report(1))
    first.close()
    refused.close()  # it has reported nothing
    assert metrics_in(tmp_path / "4", kept).totals.count("batches") == 2


@pytest.mark.parametrize(
    "error", [OwnershipError("taken over"), SetupError("no driver"), RuntimeError("gone")]
)
def test_a_copy_that_cannot_be_kept(
    tmp_path: Path, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """The next owner's stays as it is; why the pipeline ends is what counts."""
    kept, owner = LocalStorage(tmp_path / "kept"), Owner()
    metrics = KeptMetrics(tmp_path / "1", kept, owner)
    metrics.batch(report(0))
    kept.put(NAME, b"of the next owner")
    owner.error = error
    metrics.close()
    assert kept.read(NAME) == b"of the next owner" and str(error) in caplog.text
