"""Sinks that deliver at least once: what arrives, and what a second delivery of a batch looks like."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from eddyline.errors import DeliveryError
from eddyline.runtime.spark.base.secrets import Secret
from eddyline.runtime.spark.base.values import PipelineIdentity
from eddyline.runtime.spark.sinks import RowsRefusedError, make_sink
from eddyline.runtime.spark.sinks.console import ConsoleSink
from tests.spark.sink_rows import US, batch_of, rows_of, settings_of
from tests.web_server import Receiver, receiver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


@pytest.fixture
def us(tmp_path: Path) -> PipelineIdentity:
    return replace(US, checkpoint=str(tmp_path / "state"))


def test_callback(spark: SparkSession) -> None:
    calls: list[Any] = []
    sink = make_sink(settings_of("callback", callback=lambda *call: calls.append(call)), folder=Path())
    sink.open(US)
    assert sink.deliver(rows_of(spark, ["a", "b"]), batch_of(7)) == 2
    assert sink.deliver(rows_of(spark, ["a"]).where("false"), batch_of(8)) == 0
    ((table, batch),) = calls
    assert isinstance(table, pa.Table) and table["query_id"].to_pylist() == ["a", "b"]
    assert table["batch_id"].to_pylist() == [0, 0] and (batch.batch_id, batch.source) == (7, "quotes")


def test_a_callback_that_fails(spark: SparkSession) -> None:
    sink = make_sink(settings_of("callback", callback="operator:truediv"), folder=Path())
    sink.open(US)
    with pytest.raises(
        DeliveryError, match='sink "out" did not take batch 0 of source "quotes": unsupported'
    ):
        sink.deliver(rows_of(spark, ["a"]), batch_of())


def test_console(spark: SparkSession) -> None:
    out = io.StringIO()
    sink = ConsoleSink(settings_of("console", options={"rows": "2"}), out)
    assert sink.deliver(rows_of(spark, ["b", "a", "c"], payload=["{}", "x" * 99, None]), batch_of(7)) == 3
    assert out.getvalue().splitlines() == [
        'out: batch 7 of source "quotes", version 3: 3 results',
        f'  a  {{"id":1}}  {"x" * 57}...',
        '  b  {"id":0}  {}',
        "  and 1 more",
    ]


def test_webhook(spark: SparkSession, server: Receiver, us: PipelineIdentity) -> None:
    options = {"rows": "2", "header.X-Key": Secret("hunter2")}
    sink = make_sink(settings_of("webhook", url=f"{server.address}/hook", options=options), folder=Path())
    sink.open(us)
    rows = rows_of(spark, ["b", "a", "c"], tuple_key=["2", "1", "3"], payload=['{"n":1.5}', None, "{}"])
    for _ in range(2):
        assert sink.deliver(rows, batch_of(7)) == 3  # a second time nothing is sent
    # another process knows nothing of what was answered, and sends what was written down, whatever it would make of it
    other = rows_of(spark, ["b", "a", "c"], tuple_key=["x", "y", "z"])
    settings = settings_of("webhook", url=f"{server.address}/hook", options={**options, "rows": "3"})
    again = make_sink(settings, folder=Path())
    again.open(us)
    assert again.deliver(other, batch_of(7)) == 3
    first, second, *repeated = server.received
    assert [(one.body, one.headers["Idempotency-Key"]) for one in repeated] == [
        (first.body, "id-1/out/quotes/7/0"),
        (second.body, "id-1/out/quotes/7/1"),
    ]
    assert first.headers["X-Key"] == "hunter2" and first.path == "/hook"
    document = first.document
    assert {name: document[name] for name in document if name != "results"} == {
        "pipeline": "id-1",
        "sink": "out",
        "source": "quotes",
        "batch": 7,
        "version": 3,
        "chunk": 0,
    }
    assert document["results"][0] == {
        "query_id": "b",
        "query_revision": 1,
        "version": 3,
        "source": "quotes",
        "batch_id": 0,
        "tuple_key": "2",
        "event_time": "2026-03-04T12:00:00.123456Z",
        "payload": {"n": 1.5},
    }
    assert [one["query_id"] for one in second.document["results"]] == ["c"]
    assert again.deliver(other, batch_of(8)) == 3
    kept = [str(path.relative_to(us.checkpoint)) for path in Path(us.checkpoint).rglob("*.*")]
    assert kept == ["documents/out/quotes/8.jsonl"]


def test_a_webhook_goes_where_queries_say_if_it_may(
    spark: SparkSession, server: Receiver, us: PipelineIdentity
) -> None:
    sink = make_sink(settings_of("webhook", allow=(f"{server.address}/hooks",)), folder=Path())
    sink.open(us)
    ids = ["a", "b", "c", "d"]
    to = [f"{server.address}/hooks/1", f"{server.address}/hooks/2", f"{server.address}/admin", "out"]
    with pytest.raises(RowsRefusedError) as refusal:
        sink.deliver(rows_of(spark, ids, destination=to), batch_of())
    assert {one.path: one.document["results"][0]["query_id"] for one in server.received} == {
        "/hooks/1": "a",
        "/hooks/2": "b",
    }
    assert refusal.value.delivered == 2
    assert {(one.query_id, one.payload): one.reason for one in refusal.value.refused} == {
        ("c", '{"n":2}'): f"no webhook is allowed to go to this address at {server.address}",
        ("d", '{"n":3}'): 'the sink "out" has no address of its own',
    }


def test_what_a_receiver_refuses_and_what_it_refuses_for_a_while(
    spark: SparkSession, server: Receiver, us: PipelineIdentity
) -> None:
    url = Secret(f"{server.address}/hook?key=hunter2")
    options = {"rows": "1", "attempts": "2", "first_pause": "0.001"}
    sink = make_sink(settings_of("webhook", url=url, options=options), folder=Path())
    sink.open(us)
    rows = rows_of(spark, ["a", "b"])
    server.answers.extend([503, 204, (422, {}, b"no hunter2 here")])
    with pytest.raises(RowsRefusedError) as refusal:
        sink.deliver(rows, batch_of())
    assert [one.query_id for one in refusal.value.refused] == ["b"] and refusal.value.delivered == 1
    server.answers.extend([204, 500, 500])
    with pytest.raises(DeliveryError, match="answered 500") as failure:
        sink.deliver(rows, batch_of(1))
    server.received.clear()
    assert sink.deliver(rows, batch_of(1)) == 2
    assert [one.document["chunk"] for one in server.received] == [1]  # goes on where it failed
    assert "hunter2" not in f"{refusal.value} {refusal.value.refused} {failure.value}"


def test_json_of_whole_results(spark: SparkSession) -> None:
    from eddyline.runtime.spark.sinks.shape import as_json

    rows = rows_of(spark, ["a}}", "b"], event_time=[None, None], payload=['{"x":{"y":{}}}', None])
    found = [json.loads(row[0]) for row in rows.select(as_json()).collect()]
    assert [(one["query_id"], one["event_time"], one["payload"]) for one in found] == [
        ("a}}", None, {"x": {"y": {}}}),
        ("b", None, None),
    ]


def test_any_other_format(spark: SparkSession, tmp_path: Path) -> None:
    sink = make_sink(settings_of("xml", "more", options={"rowTag": "result"}), folder=tmp_path)
    sink.open(US)
    for number in (0, 1, 1):
        sink.deliver(rows_of(spark, ["a"], batch_of(number)), batch_of(number))
    found = spark.read.format("xml").option("rowTag", "result").load(str(tmp_path / "more"))
    assert sorted(row.batch_id for row in found.collect()) == [0, 1, 1]  # at least once


def test_a_format_that_spark_does_not_have(spark: SparkSession) -> None:
    sink = make_sink(settings_of("no.such.format", options={"key": Secret("hunter2")}), folder=Path())
    sink.open(US)
    with pytest.raises(DeliveryError, match=r"no\.such\.format") as failure:
        sink.deliver(rows_of(spark, ["a"]), batch_of())
    assert "hunter2" not in str(failure.value)
