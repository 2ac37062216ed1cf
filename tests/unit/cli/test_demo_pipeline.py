"""The parts of the demo on Spark that need no Spark: the feed, the people, the check, the picture."""

from __future__ import annotations

import gzip
import json
import threading
import xml.etree.ElementTree
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import eddyline as ed
from eddyline.cli import app
from eddyline.cli.demo import command
from eddyline.cli.demo.pipeline.check import DemoVerdict, check
from eddyline.cli.demo.pipeline.feeder import AHEAD, BROKEN, LEAST, NAME, Feeder, broken_in, write_file
from eddyline.cli.demo.pipeline.people import MadeChange, People, destination_of
from eddyline.cli.demo.pipeline.picture import picture
from eddyline.cli.demo.pipeline.plan import PipelineDemoPlan
from eddyline.cli.demo.pipeline.run import DemoOutcome, _enter_queries
from eddyline.cli.demo.pipeline.telling import tell
from eddyline.cli.output.terminal import Printer
from eddyline.registry import State
from eddyline.runtime.spark.watching import BatchReport
from eddyline.testing.market import QUOTES, Market
from eddyline.testing.market_queries import standing

RUN = CliRunner()


def in_this_process(words: list[str]) -> tuple[int, str]:
    done = RUN.invoke(app, words, catch_exceptions=False)
    return done.exit_code, done.stdout


def feeder(folder: Path, files: int, read: list[int], **options: float) -> Feeder:
    more = {"pace": 1_000.0, "longest": 60.0, **options}
    return Feeder(folder, seed=7, rows=20, files=files, read=lambda: read[0], **more)


def test_files_are_the_market_as_json(tmp_path: Path) -> None:
    fed = feeder(tmp_path, 5, [99])
    fed.start()
    fed._thread.join(30)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [NAME.format(n) for n in range(5)]
    assert (fed.files, fed.rows, fed.broken) == (5, 100, 3)
    market = Market(7)
    for path in sorted(tmp_path.iterdir()):
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        rows = [json.loads(line) for line in lines if line not in BROKEN]
        assert [datetime.fromisoformat(row.pop("at")) for row in rows]
        expected = market.batch(20).drop_columns(["at"]).to_pylist()
        assert rows == expected


def test_the_feeder_waits_for_its_reader(tmp_path: Path) -> None:
    read, waited = [0], threading.Event()
    fed = feeder(tmp_path, 10, read)
    fed.start()
    waited.wait(0.3)
    assert fed.files == 1, "until the first file was read"
    read[0] = 1
    waited.wait(0.5)
    assert fed.files == 1 + AHEAD + 1
    fed.stop()
    assert fed.is_done


def test_the_feeder_ends_on_a_slow_machine(tmp_path: Path) -> None:
    fed = feeder(tmp_path, 1_000, [99_999], longest=-1.0)
    fed.start()
    fed._thread.join(30)
    assert fed.files == LEAST and fed.is_done


def test_people_make_every_kind_of_change(tmp_path: Path) -> None:
    plan = PipelineDemoPlan(1, 60, 7, tmp_path)
    _enter_queries(plan)
    with ed.Registry.open(plan.registry) as registry:
        ids = [entry.id for entry in registry.entries()]
        fresh = standing(7)
        for _ in range(60):
            next(fresh)
        people = People(plan.registry, fresh, lambda: ids, command=in_this_process)
        events = [people.act() for _ in range(7)]
        assert [event.version for event in events] == [2, 3, 3, 4, 5, 6, 7]
        assert registry.entry(ids[0], 3).sql.endswith("AND volume >= 500")  # type: ignore[union-attr]
        assert "no column" in events[2].text
        assert len(registry.entries(4)) == 101 and len(registry.entries(4, tags=["trial"])) == 40
        assert registry.entry(ids[0], 5).state is State.SHADOW  # type: ignore[union-attr]
        assert len(registry.entries(6)) == 98
        assert len(registry.entries(7)) == 61
        destinations = {entry.destination for entry in registry.entries(7)}
    assert destinations == {None, "newsroom"}


@pytest.fixture
def ran(tmp_path: Path) -> PipelineDemoPlan:
    """A run of two files, as it should have ended, written by hand."""
    plan = PipelineDemoPlan(2, 200, 7, tmp_path, rows=2_000)
    plan.write_settings()
    _enter_queries(plan)
    with ed.Registry.open(plan.registry) as registry:
        registry.change([ed.registry.Set("dip-ELNE", state=State.SHADOW)], author="ann")
        market = Market(7)
        for number in range(2):
            version = number + 1
            entries = registry.entries(version, state=State.ENABLED)
            queries = ed.QuerySet.build({one.id: one.sql for one in entries}, streams=[QUOTES])
            lists = queries.match(market.batch(2_000)).query_lists().to_pylist()
            where = {one.id: one.destination for one in entries}
            rows = [
                {
                    "query_id": id,
                    "version": version,
                    "tuple_key": f"file:{plan.incoming}/{NAME.format(number)}#{row}",
                }
                for row, ids in enumerate(lists)
                for id in ids
            ]
            _deliver(plan, number, [row for row in rows if where[str(row["query_id"])] is None])
            news = plan.folder / "newsroom" / "source=quotes" / f"batch={number}"
            news.mkdir(parents=True)
            text = "".join(json.dumps(row) + "\n" for row in rows if where[str(row["query_id"])])
            (news / "part-0.json").write_text(text)
    return plan


def _deliver(plan: PipelineDemoPlan, batch: int, rows: list[dict[str, object]], part: str = "part-0") -> Path:
    folder = plan.folder / "results" / "source=quotes" / f"batch={batch}"
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / f"{part}.parquet")
    return folder / f"{part}.parquet"


def test_an_exact_run_is_found_exact(ran: PipelineDemoPlan) -> None:
    verdict = check(ran, 2)
    assert verdict.is_exact and verdict.results == verdict.expected > 10
    assert verdict.versions == (1, 2)
    assert sum(verdict.kinds, Counter()).total() == verdict.results == verdict.queries.total()


def test_what_is_wrong_is_found(ran: PipelineDemoPlan) -> None:
    path = ran.folder / "results" / "source=quotes" / "batch=1" / "part-0.parquet"
    rows = pq.ParquetFile(path).read().to_pylist()
    _deliver(ran, 1, rows[1:])
    assert (check(ran, 2).missing, check(ran, 2).too_many) == (1, 0)
    _deliver(ran, 1, [*rows, rows[0]])
    assert (check(ran, 2).missing, check(ran, 2).too_many) == (0, 1)
    _deliver(ran, 1, rows)
    again = _deliver(ran, 2, rows[:3])
    assert (check(ran, 2).missing, check(ran, 2).too_many) == (0, 3)
    again.unlink()
    _deliver(ran, 1, [{**rows[0], "version": 1}, *rows[1:]])
    assert not check(ran, 2).is_exact
    _deliver(ran, 1, rows)
    _deliver(ran, 0, rows, "_part-hidden")
    assert check(ran, 2).is_exact


def outcome(plan: PipelineDemoPlan, *, exact: bool = True) -> DemoOutcome:
    at = datetime(2026, 1, 5, 12, tzinfo=UTC)
    reports = [
        BatchReport(
            source="quotes",
            batch_id=n,
            version=1 + n // 2,
            queries=1_000 + n,
            rows=100,
            matches=9,
            at=at,
            seconds={"total": 20.0 if n < 2 else 0.5},
        )
        for n in range(4)
    ]
    kinds = tuple(Counter({"dip": 5 + n, "late": 1}) for n in range(4))
    verdict = DemoVerdict(
        30, 30, 0, 0 if exact else 2, kinds, Counter({"dip-ELNE": 26, "late-x": 4}), (1, 1, 2, 2)
    )
    events = (MadeChange(2, "chen adds dip-<x>", "eddyline query add dip-<x> ..."),)
    return DemoOutcome(plan, tuple(reports), events, verdict, 4, 0, 9.0, 11.5, 12.0)


def test_the_summary_and_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = PipelineDemoPlan(4, 1_000, 7, tmp_path)
    tell(outcome(plan), Printer(), "demo.svg")
    said = capsys.readouterr().out
    assert "400 rows in 4 files" in said and "Exactly once" in said and "eddyline query history" in said
    drawn = picture(outcome(plan))
    xml.etree.ElementTree.fromstring(drawn)
    assert "v2" in drawn and "chen adds dip-&lt;x&gt;" in drawn and "results, each once" in drawn
    tell(outcome(plan, exact=False), Printer(), "demo.svg")
    assert "NOT exactly once" in capsys.readouterr().out
    assert json.dumps(outcome(plan).as_json())


def test_the_start_is_told_apart_from_steady_batches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = PipelineDemoPlan(4, 1_000, 7, tmp_path)
    found = outcome(plan)
    assert (found.rows_per_second, found.batch_seconds) == (200.0, 0.5), "the first two took 20 s each"
    tell(found, Printer(), "demo.svg")
    said = " ".join(capsys.readouterr().out.split())
    assert "the first batch was done after 11.5 s" in said and "200 rows in a second of work" in said
    drawn = picture(found)
    assert all(text in drawn for text in (">200<", ">0.50 s<", ">11.5 s<"))
    assert found.as_json()["steady_rows_per_second"] == 200


def test_where_spark_is_missing_the_embedded_demo_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_has_spark", lambda: False)
    done = RUN.invoke(app, ["demo", "--seconds", "1", "--queries", "20", "--out", str(tmp_path)])
    assert done.exit_code == 0 and "Spark is not installed: the embedded demo runs" in done.stderr
    assert (tmp_path / "deliveries").exists()


def test_broken_lines_are_rare() -> None:
    assert [broken_in(number) for number in range(6)] == [0, 0, 0, 3, 0, 0]


def test_queries_about_news_go_to_the_newsroom() -> None:
    queries = standing(7)
    found = {destination_of(next(queries)) for _ in range(50)}
    assert found == {None, "newsroom"}


def test_a_file_is_hidden_until_it_is_whole(tmp_path: Path) -> None:
    write_file(tmp_path / "x.json", Market(1).batch(3))
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
