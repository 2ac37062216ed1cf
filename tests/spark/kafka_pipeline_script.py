"""A pipeline between topics of Kafka, in a process of its own: jars can only be given when Spark starts.

Called as `python -m tests.spark.kafka_pipeline_script JARS PORT FOLDER`, with HUSH in the environment. It writes `kill` and `start` on standard output
when the broker is to be killed and started again, and in the last line, as JSON, what it found in the end.

    messages 0-9      "low" and "odd" deliver to topics, "all" to files
    messages 10-19    "late" is new, "odd" is in shadow; the broker dies while this batch is delivered
    (no broker)       "late" is disabled: the batch, when it is run again, has the version that it had
    messages 20-29    "low" is gone, "odd" delivers again
    (stands still)    "past", which never ran, is enabled, and what it missed is looked up
    messages 30-34
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from eddyline.cli import app
from eddyline.delivery.retry import Patience
from eddyline.registry import Drop, Put, Registry, Set, State
from eddyline.runtime.spark.base.settings import AVAILABLE_NOW, SinkSettings, read_settings
from eddyline.runtime.spark.pipeline.batch import run as batches
from eddyline.runtime.spark.versions import StateFolder, VersionLog
from eddyline.spark import Pipeline, session
from tests.conftest import SPARK_SETTINGS
from tests.spark.pipelines import Place, quotes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eddyline.runtime.spark.pipeline.running import RunningPipeline

SOON = 120  # seconds
CORRUPT = ["{broken", '{"id": "x"}', ""]
SETTINGS = """
[pipeline]
name = "market"
registry = "registry.db"
checkpoint = "state"
trigger = "100 milliseconds"
retries = 50

[[source]]
name = "quotes"
format = "kafka"
[source.options]
subscribe = "incoming"
startingOffsets = "earliest"
kafkaConsumer.pollTimeoutMs = 1000
kafka.bootstrap.servers = "{servers}"
kafka.default.api.timeout.ms = 2000
kafka.request.timeout.ms = 1000
kafka.ssl.key.password = "${{env:HUSH}}"
kafka.plain = "x-${{env:HUSH}}"

[[sink]]
name = "results"
format = "parquet"
path = "out"
default = true

[[sink]]
name = "alerts"
format = "kafka"
options = {{ {to} }}

[[sink]]
name = "watch"
format = "kafka"
options = {{ topic = "watched", {to} }}
"""
TO = """kafka.bootstrap.servers = "{servers}", kafka.max.block.ms = 500, kafka.request.timeout.ms = 500, \
kafka.delivery.timeout.ms = 1000, kafka.ssl.key.password = "${{env:HUSH}}", kafka.plain = "x-${{env:HUSH}}\""""


def say(word: str) -> None:
    """Ask the test for something."""
    print(word, flush=True)  # noqa: T201


class Outage:
    """A sink between the others; with its first row the broker dies."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.calls = 0

    def __call__(self, table: Any, batch: Any) -> None:
        self.calls += 1
        if self.calls == 1:
            say("kill")
            until(lambda: not self._answers())

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False


class Market:
    """The pipeline and the topic that it reads."""

    def __init__(self, spark: SparkSession, port: int, folder: Path) -> None:
        self.spark, self.place, self.outage = spark, Place(folder), Outage(port)
        self.servers = f"127.0.0.1:{port}"
        self.toml = folder / "market.toml"
        self.toml.write_text(SETTINGS.format(servers=self.servers, to=TO.format(servers=self.servers)))
        settings = read_settings(self.toml)
        outage = SinkSettings(name="between", format="callback", callback=self.outage)
        self.settings = replace(settings, sinks=(*settings.sinks, outage))

    def send(self, first: int, count: int, *others: str) -> None:
        values = [*map(json.dumps, quotes(first, count)), *others]
        rows = self.spark.createDataFrame([(value,) for value in values], "value string").coalesce(1)
        writer = rows.write.format("kafka").option("kafka.bootstrap.servers", self.servers)
        writer.option("topic", "incoming").option("kafka.linger.ms", "200").save()

    def received(self, topics: str) -> list[list[Any]]:
        """Everything that lies in some topics: topic, key, value, and the batch that its headers name."""
        reader = self.spark.read.format("kafka").option("kafka.bootstrap.servers", self.servers)
        rows = reader.option("subscribe", topics).option("includeHeaders", "true").load().collect()
        found = []
        for row in rows:
            headers = {one.key: bytes(one.value).decode() for one in row.headers}
            value = json.loads(bytes(row.value))
            found.append([row.topic, bytes(row.key).decode(), value, headers])
        return found

    def processed(self, running: RunningPipeline, rows: int) -> Callable[[], bool]:
        def done() -> bool:
            assert running.exception is None, running.exception
            return sum(report.rows for report in running.reports()) >= rows

        return done


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)


def run(market: Market) -> dict[str, Any]:
    """All phases; gives the versions of the registry."""
    place = market.place  # sinks get their rows in the order in which queries first named them
    everything = "SELECT id FROM quotes"
    versions = [
        place.register(
            [
                Put("low", f"{everything} WHERE price < 50", destination="alerts"),
                Put("all", everything),
                Put("between", f"{everything} WHERE id = 19", destination="between"),
                Put("odd", f"{everything} WHERE id % 2 = 1", destination="watch"),
                Put("past", f"{everything} WHERE id % 5 = 0", state=State.DISABLED),
            ]
        )
    ]
    market.send(0, 10, *CORRUPT)
    with Pipeline(market.settings).start(market.spark) as running:
        until(market.processed(running, 13))
        late = Put("late", f"{everything} WHERE id >= 12", destination="watch")
        versions.append(place.register([late, Set("odd", state=State.SHADOW)]))
        market.send(10, 10)
        until(lambda: running.status["sources"]["quotes"]["failures_in_a_row"] > 0)
        versions.append(place.register([Set("late", state=State.DISABLED)]))
        say("start")
        until(market.processed(running, 23))
        versions.append(place.register([Drop("low"), Set("odd", state=State.ENABLED)]))
        market.send(20, 10)
        until(market.processed(running, 33))
    return {"versions": versions, "between": market.outage.calls}


def catch_up(market: Market) -> dict[str, Any]:
    """A query enabled together with what it missed, and the batch after it."""
    out = market.place.folder / "before"
    command = ["query", "enable", "past", "--from-backtest", str(market.toml), "--out", str(out), "--json"]
    told = CliRunner().invoke(app, command, catch_exceptions=False)
    assert told.exit_code == 0, told.output
    market.send(30, 5)
    Pipeline(replace(market.settings, trigger=AVAILABLE_NOW)).run(market.spark)
    found = json.loads(told.stdout)
    return {"sources": found["sources"], "matches": found["matches"]}


def main(jars: str, port: str, folder: str) -> None:
    batches.PATIENCE = Patience(attempts=2, first=0.1, longest=0.2)  # type: ignore[misc]
    spark = session("kafka", cores=1, config={**SPARK_SETTINGS, "spark.jars": jars})
    try:
        market = Market(spark, int(port), Path(folder))
        place = market.place
        found = {**run(market), "caught up": catch_up(market)}
        with Registry.open(place.folder / "registry.db") as registry:
            counters = registry.counters()
        pins = VersionLog(StateFolder.find(market.settings.checkpoint).batches).pins("quotes")
        found |= {
            "messages": market.received("alerts,watched"),
            "files": [[row["query_id"], row["tuple_key"], row["version"]] for row in place.results()],
            "before": [row["tuple_key"] for row in place.results("before")],
            "letters": [[letter["text"], letter["tuple_key"]] for letter in place.letters()],
            "counters": counters,
            "pins": [pin.version for pin in pins],
        }
        say(json.dumps(found))
    finally:
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
