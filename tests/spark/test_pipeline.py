"""Pipelines run: files in, results out, queries changing meanwhile, each row once whatever fails."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddyline.compile import Compiler
from eddyline.errors import FileError, PipelineError
from eddyline.model.catalog import Stream
from eddyline.registry import Put, Registry, Set, State
from eddyline.runtime.spark.base.settings import SinkSettings, SourceSettings
from eddyline.runtime.spark.pipeline.batch import run as batches
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource
from eddyline.runtime.spark.sinks import RefusedResult, RowsRefusedError
from eddyline.runtime.spark.sinks.callback import CallbackSink
from eddyline.runtime.spark.sinks.files import FileSink
from eddyline.runtime.spark.versions import StateFolder, VersionLog
from eddyline.runtime.spark.versions import log as log_module
from eddyline.spark import Pipeline
from tests.spark.pipelines import QUOTES, Place, log_of, quotes, run, with_sinks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("impatient")
CHEAP = "SELECT id, price FROM quotes WHERE price < 2"
ODD = "SELECT id FROM quotes WHERE symbol = 'b'"


def test_files_in_results_out(spark: SparkSession, place: Place) -> None:
    version = place.register(
        [
            Put("cheap", CHEAP),
            Put("all", "SELECT * FROM quotes WHERE id >= 5"),
            Put("quiet", "SELECT id FROM quotes", state=State.SHADOW),
            Put("off", "SELECT id FROM quotes", state=State.DISABLED),
            Put("lost", "SELECT id FROM quotes WHERE id = 1", destination="nowhere"),
        ]
    )
    place.write("a.json", quotes(0), '{"id": "x", "symbol": "late"}', "{broken")
    settings = replace(
        place.settings,
        sinks=(replace(place.settings.sinks[0], partition_by=("date",)),),
        retries=3,  # under Spark Connect the process of the batches has ten seconds to start
    )

    running = run(settings, spark)

    rows = place.results()
    assert [(row["query_id"], row["payload"]) for row in rows] == [
        ("all", '{"id":5,"symbol":"c","price":2.5,"at":"2026-03-02T10:00:00Z"}'),
        ("cheap", '{"id":0,"price":0}'),
        ("cheap", '{"id":1,"price":0.5}'),
        ("cheap", '{"id":2,"price":1}'),
        ("cheap", '{"id":3,"price":1.5}'),
    ]
    assert {row["version"] for row in rows} == {version}
    assert {(row["source"], row["batch"], row["query_revision"]) for row in rows} == {("quotes", 0, 1)}
    assert [row["tuple_key"].rpartition("/")[2] for row in rows][:2] == ["a.json#5", "a.json#0"]
    assert [str(row["date"]) for row in rows][:2] == ["2026-03-02", "2026-03-01"]
    assert [(letter["reason"], letter["text"]) for letter in place.letters()] == [
        ('the destination "nowhere" has no sink', '{"id":1}'),
        ("the row cannot be read as the stream's columns", '{"id": "x", "symbol": "late"}'),
        ("the row cannot be read as the stream's columns", "{broken"),
    ]
    assert place.counters() == {
        "all": {"matches": 1, "deliveries": 1},
        "cheap": {"matches": 4, "deliveries": 4},
        "lost": {"matches": 1, "undelivered": 1},
        "quiet": {"matches": 6, "shadowed": 6},
    }
    (report,) = running.reports()
    assert (report.rows, report.matched_rows, report.matches, report.dropped_rows) == (8, 6, 12, 3)
    assert (report.queries, report.delivered, report.version) == (4, {"results": 5}, version)
    assert not running.is_active and running.exception is None

    assert run(settings, spark).reports() == [], "what was read is not read again"
    assert place.results() == rows


def test_queries_change_between_batches(spark: SparkSession, place: Place) -> None:
    """A change is in force from the next batch on; what served which batch is written down."""
    first = place.register({"one": "SELECT id FROM quotes", "two": "SELECT id FROM quotes"})
    for number in range(3):
        place.write(f"{number}.json", quotes(number, 1))
        time.sleep(0.01)

    def change(table: pa.Table, batch: Any) -> None:
        if batch.batch_id == 0:
            place.register([Put("three", "SELECT id FROM quotes"), Set("two", state=State.SHADOW)])
        if batch.batch_id == 1:
            with Registry.open(place.folder / "registry.db") as registry:
                registry.rollback(first, author="ann")
                registry.change([Set("one", destination="changer")], author="ann")

    sinks = SinkSettings(name="changer", format="callback", callback=change)
    settings = with_sinks(place.settings, sinks)
    place.register([Put("watch", "SELECT id FROM quotes", destination="changer")])
    version = first + 1

    run(settings, spark)

    pins = log_of(settings).pins("quotes")
    assert [(pin.batch_id, pin.version) for pin in pins] == [(0, version), (1, version + 1), (2, version + 3)]
    found = {(row["query_id"], row["batch"], row["version"]) for row in place.results()}
    assert found == {
        ("one", 0, version),
        ("two", 0, version),
        ("one", 1, version + 1),
        ("three", 1, version + 1),
        ("two", 2, version + 3),
    }


def test_columns_change_between_batches(spark: SparkSession, place: Place) -> None:
    """A stream that is declared anew is read with its new columns from the next batch on."""
    place.register({"all": "SELECT * FROM quotes"})
    place.write("0.json", [{**quotes(0, 1)[0], "venue": "x"}])
    time.sleep(0.01)
    place.write("1.json", [{**quotes(1, 1)[0], "venue": "y"}])

    def change(table: pa.Table, batch: Any) -> None:
        if batch.batch_id == 0:
            more = Stream("quotes", QUOTES.schema.append(pa.field("venue", pa.string())), "at")
            with Registry.open(place.folder / "registry.db") as registry:
                registry.declare(more, author="ann", check=Compiler([more]).check)
        found.extend(table["payload"].to_pylist())

    found: list[str] = []
    run(replace(place.settings, sinks=(SinkSettings(name="s", format="callback", callback=change),)), spark)
    assert [sorted(json.loads(text)) for text in found] == [
        ["at", "id", "price", "symbol"],
        ["at", "id", "price", "symbol", "venue"],
    ]


class Crash(Exception):
    pass


STEPS = (
    "before the pin",
    "after the pin",
    "after matching",
    "between sinks",
    "after delivery",
    "after dead letters",
    "after counting",
    "after the commit",
)


def test_crash_at_every_step(spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batch n fails once at step n, and the queries change before it runs again: with the version that it had."""
    place.register([Put("mine", "SELECT id FROM quotes"), Put("yours", ODD, destination="second")])
    for number in range(len(STEPS)):
        place.write(f"{number}.json", quotes(number * 3, 3), f"broken {number}")
        time.sleep(0.01)
    settings = replace(
        with_sinks(
            place.settings, SinkSettings(name="second", format="parquet", path=str(place.folder / "two"))
        ),
        retries=1,
    )
    crashed: list[int] = []

    def crash(step: str, batch_id: int) -> None:
        if STEPS[batch_id] == step and batch_id not in crashed:
            crashed.append(batch_id)
            place.register([Put(f"later{batch_id}", "SELECT id FROM quotes WHERE id < 0")])
            raise Crash(step)

    def after(
        owner: Any, name: str, step: str, batch_of: Callable[..., int], *, before: bool = False
    ) -> None:
        real = getattr(owner, name)

        def wrapped(*args: Any, **named: Any) -> Any:
            if before:
                crash(step, batch_of(*args, **named))
            result = real(*args, **named)
            if not before:
                crash(step, batch_of(*args, **named))
            return result

        monkeypatch.setattr(owner, name, wrapped)

    after(VersionLog, "pin", "before the pin", lambda log, source, batch, *rest: batch, before=True)
    after(VersionLog, "pin", "after the pin", lambda log, source, batch, *rest: batch)
    after(batches, "matched", "after matching", lambda context, plan, source, df, batch, pin: batch.batch_id)
    after(FileSink, "deliver", "between sinks", lambda sink, rows, batch, lists: batch.batch_id)
    after(FileSink, "take", "between sinks", lambda sink, written, batch, lists: batch.batch_id)
    after(batches, "_deliver", "after delivery", lambda context, plan, r, s, batch: batch.batch_id)
    after(
        batches,
        "_write_dead_letters",
        "after dead letters",
        lambda context, r, s, d, batch, pin, spark: batch.batch_id,
    )
    after(Registry, "add_counters", "after counting", lambda registry, counts, once: once[1])
    after(VersionLog, "commit", "after the commit", lambda log, source, batch, account: batch)

    run(settings, spark)

    assert crashed == list(range(len(STEPS)))
    ids = range(len(STEPS) * 3)
    assert place.pairs("out") == sorted(("mine", id) for id in ids)
    assert place.pairs("two") == sorted(("yours", id) for id in ids if id % 3 == 1)
    assert [letter["text"] for letter in place.letters()] == [f"broken {n}" for n in range(len(STEPS))]
    assert place.counters()["mine"] == {"matches": len(ids), "deliveries": len(ids)}
    versions = [pin.version for pin in log_of(settings).pins("quotes")]
    assert versions == [2, 2, 3, 4, 5, 6, 7, 8], (
        "the version that was pinned first, not the one after the change"
    )


def test_several_sources(spark: SparkSession, place: Place) -> None:
    """CSV with a key, JSON in lines of text, Parquet by file and row; two streams, two sinks."""
    trades = Stream("trades", pa.schema([("n", pa.int32()), ("name", pa.string())]))
    place.register(
        [
            Put("cheap", CHEAP),
            Put("named", "SELECT n FROM trades WHERE name LIKE 'x%'", destination="other"),
        ],
        QUOTES,
        trades,
    )
    other = SinkSettings(name="other", format="parquet", path=str(place.folder / "two"))
    settings = replace(
        with_sinks(place.settings, other),
        sources=(
            place.source("csv", "csv", key=("id", "symbol"), stream="quotes", header="true"),
            place.source("lines", "text", stream="quotes"),
            place.source("trades", "parquet"),
        ),
    )
    (place.folder / "csv" / "a.csv").write_text("id,symbol,price,at\n1,a,1.5,\nx,b,1,\n3,c\n")
    (place.folder / "lines" / "a.txt").write_text('{"id": 9, "price": 1}\n[]\n{"id": 4}\nnothing\n')
    table = pa.table({"n": pa.array([1, 2, 3], pa.int32()), "name": ["xa", "y", "xb"]})
    pq.write_table(table, place.folder / "trades" / "a.parquet")

    running = run(settings, spark)

    lines, csv = place.results()
    assert (csv["source"], csv["tuple_key"], csv["event_time"]) == ("csv", '{"id":1,"symbol":"a"}', None)
    assert (lines["source"], lines["id"]) == ("lines", 9)
    assert lines["tuple_key"].endswith("lines/a.txt#0")
    assert [letter["text"] for letter in place.letters()] == ["3,c", "[]", "nothing", "x,b,1,"]
    others = place.results("two")
    assert [(row["n"], row["tuple_key"].rpartition("/")[2]) for row in others] == [
        (1, "a.parquet#0"),
        (3, "a.parquet#2"),
    ]
    assert {report.source: report.rows for report in running.reports()} == {"csv": 3, "lines": 4, "trades": 3}


def test_messages_of_kafka(spark: SparkSession) -> None:
    """What a message says is taken apart, its place is kept; tombstones and what is no object are unreadable."""
    from pyspark.sql import functions as F

    source = PipelineSource(SourceSettings(name="k", format="kafka", stream="quotes"), QUOTES)
    texts = ['{"id": 7, "symbol": "a", "more": 1}', "nonsense", None, '{"id": "x"}', ""]
    messages = [(None, text, "t", 2, offset) for offset, text in enumerate(texts)]
    kind = "key binary, value string, topic string, partition int, offset long"
    df = spark.createDataFrame(messages, kind).withColumn("value", F.col("value").cast("binary"))
    rows = source._selected(source._parsed(df))
    assert rows.columns == list(source.columns)
    found = [tuple(row) for row in rows.collect()]
    assert found[0] == (7, "a", None, None, None, "t", 2, 0)
    assert [row[4] for row in found] == [None, "nonsense", "", '{"id": "x"}', ""]
    assert source.identity.columns == ("__eddyline_topic", "__eddyline_partition", "__eddyline_offset")


def test_functions_that_fail(spark: SparkSession, place: Place) -> None:
    """What only Spark has counts as NULL where it fails, and its query is disabled; the others go on."""
    place.register(
        {
            "bad": "SELECT id FROM quotes WHERE sequence(id, 3, 1)[0] = 1",
            "good": "SELECT id, soundex(symbol) AS sound FROM quotes WHERE levenshtein(symbol, 'ba') = 1",
        }
    )
    place.write("a.json", quotes(0))
    place.write("b.json", quotes(6, 3))

    running = run(place.settings, spark)

    assert place.pairs() == [("good", 0), ("good", 1), ("good", 3), ("good", 4), ("good", 6), ("good", 7)]
    with Registry.open(place.folder / "registry.db") as registry:
        entry = registry.entry("bad")
        (*_, step) = registry.history("bad")
    assert entry is not None and entry.state == State.DISABLED
    assert step.version.author == "eddyline" and "sequence(id, 3" in step.version.reason
    assert any('query "bad" is disabled' in problem for problem in running.reports()[0].problems)
    pins = log_of(place.settings).pins("quotes")
    assert [bool(pin.nulled) for pin in pins] == [True, False], (
        "what nobody asks for any more is not computed"
    )
    assert running.reports()[1].problems == ()
    assert running.reports()[0].failures == 6, "one for every row"
    assert place.counters()["bad"] == {"failures": 6}


def test_a_sink_that_fails_for_a_while(spark: SparkSession, place: Place) -> None:
    place.register({"all": "SELECT id FROM quotes"})
    place.write("a.json", quotes(0, 2))
    calls: list[int] = []

    def receive(table: pa.Table, batch: Any) -> None:
        calls.append(table.num_rows)
        if len(calls) < 5:  # more often than a batch asks: the source is started again once
            raise OSError("not now")

    sink = SinkSettings(name="hook", format="callback", callback=receive)
    run(replace(place.settings, sinks=(sink,), retries=1), spark)
    assert calls == [2] * 5


def test_gives_up_with_the_reason(spark: SparkSession, place: Place) -> None:
    place.register({"all": "SELECT id FROM quotes"})
    place.write("a.json", quotes(0, 2))

    def refuse(table: pa.Table, batch: Any) -> None:
        raise OSError("the door is shut")

    sink = SinkSettings(name="hook", format="callback", callback=refuse)
    running = Pipeline(replace(place.settings, sinks=(sink,), retries=1)).start(spark)
    with pytest.raises(PipelineError, match=r"failed 2 times in a row.*the door is shut"):
        running.await_termination(60)
    assert isinstance(running.exception, PipelineError)
    assert StateFolder.is_running(place.settings.checkpoint) is None


def test_rows_that_a_sink_refuses(spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """All others count as delivered; these are dead letters, with the sink's reason."""
    place.register({"all": "SELECT id FROM quotes"})
    place.write("a.json", quotes(0, 3))

    def deliver(self: object, rows: Any, batch: Any, lists: Any = None) -> None:
        raise RowsRefusedError(
            "one", (RefusedResult("s", "all", 1, batch.version, "k", '{"id":1}', "too odd"),), 2
        )

    monkeypatch.setattr(CallbackSink, "deliver", deliver)
    sink = SinkSettings(name="s", format="callback", callback=print)
    running = run(replace(place.settings, sinks=(sink,)), spark)
    (letter,) = place.letters()
    assert (letter["reason"], letter["text"], letter["query_id"]) == ("too odd", '{"id":1}', "all")
    assert place.counters() == {"all": {"matches": 3, "deliveries": 2, "undelivered": 1}}
    assert running.reports()[0].delivered == {"s": 2}


def test_stop_and_go_on(spark: SparkSession, place: Place) -> None:
    place.register({"all": "SELECT id FROM quotes"})
    settings = replace(place.settings, trigger="100 milliseconds", prometheus=0)
    for first in (0, 10):
        with Pipeline(settings).start(spark) as running:
            with pytest.raises(FileError, match="is used by process"):
                Pipeline(settings).start(spark)
            place.write(f"{first}.json", quotes(first, 2))
            deadline = time.monotonic() + 60
            while not running.reports():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert running.endpoint is not None and running.status["active"]
        assert running.status["sources"]["quotes"]["state"] == "stopped"
    assert place.pairs() == [("all", 0), ("all", 1), ("all", 10), ("all", 11)]


def test_operations_that_fail(spark: SparkSession, place: Place) -> None:
    """They give NULL, and are counted for every query that has them, in conditions for every row."""
    place.register(
        {
            "divides": "SELECT id FROM quotes WHERE id / price = 2 AND id < 3",
            "divides too": "SELECT id, 1 / (id - 2) AS part FROM quotes WHERE id / price = 2 AND id = 2",
            "plain": "SELECT id FROM quotes WHERE id < 1",
        }
    )
    place.write("a.json", quotes(0))

    running = run(place.settings, spark)

    assert place.pairs() == [("divides", 1), ("divides", 2), ("divides too", 2), ("plain", 0)]
    (report,) = running.reports()
    assert report.failures == 3 and report.problems == ()
    counters = place.counters()
    assert [counters[id].get("failures", 0) for id in ("divides", "divides too", "plain")] == [1, 1 + 1, 0]


def test_records_of_old_batches_are_deleted(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When they are older than `keep_days`; those that may run again stay, and so does what was delivered."""
    monkeypatch.setattr(log_module, "BATCHES", 1)  # in one file: only whole files are deleted
    place.register({"all": "SELECT id FROM quotes"})
    for number in range(4):
        place.write(f"{number}.json", quotes(number, 1))
    run(replace(place.settings, keep_days=2), spark)
    assert [pin.batch_id for pin in log_of(place.settings).pins("quotes")] == [0, 1, 2, 3]
    records = sorted((place.folder / "state" / "batches" / "quotes").iterdir())
    for days, record in zip((5, 3, 1, 1), records, strict=True):
        at = datetime.now(UTC) - timedelta(days=days)
        lines = [json.loads(line) for line in record.read_text().splitlines()]
        aged = [{**line, "at": at.isoformat()} if "at" in line else line for line in lines]
        record.write_text("".join(json.dumps(line) + "\n" for line in aged))
    place.write("4.json", quotes(4, 1))
    run(replace(place.settings, keep_days=2), spark)
    assert [pin.batch_id for pin in log_of(place.settings).pins("quotes")] == [2, 3, 4]
    assert place.pairs() == [("all", id) for id in range(5)]
