"""What queries of a running pipeline cannot do: read the environment, call what is refused, post where nobody allowed it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eddyline.registry import Put
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.spark import Pipeline
from tests.spark.pipelines import Place, quotes, with_sinks
from tests.web_server import Receiver, receiver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eddyline.runtime.spark.base.settings import PipelineSettings
    from eddyline.runtime.spark.pipeline.running import RunningPipeline

TRAP = "${env:PATH}"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "quotes").mkdir()
    return Place(tmp_path)


@pytest.fixture
def substituting(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with the setting that users have by default."""
    spark.conf.set("spark.sql.variable.substitute", "true")
    try:
        assert spark.sql(f"SELECT '{TRAP}'").collect()[0][0] == os.environ["PATH"], "Spark itself replaces it"
        yield spark
    finally:
        spark.conf.set("spark.sql.variable.substitute", "false")


def run(settings: PipelineSettings, spark: SparkSession) -> RunningPipeline:
    running = Pipeline(settings).start(spark)
    try:
        assert running.await_termination(120)
    finally:
        running.stop(now=True)
    return running


def test_nothing_is_replaced_in_what_spark_gets(substituting: SparkSession, place: Place) -> None:
    """Constants, names of columns, ids, destinations; evaluated by us and by Spark; as text and as typed columns."""
    place.register(
        [
            Put(TRAP, f"SELECT id, '{TRAP}' AS text FROM quotes WHERE symbol <> '{TRAP}' AND id = 1"),
            Put(
                "spark",
                f"SELECT id, soundex('{TRAP}') AS s, concat_ws('', '{TRAP}', symbol) AS text FROM quotes",
            ),
            Put(
                "condition",
                f"SELECT id FROM quotes WHERE levenshtein('{TRAP}', concat('$', '{{env:PATH}}')) = 0",
            ),
            Put("name", f"SELECT id AS `{TRAP}`, symbol FROM quotes", destination="typed"),
            Put("lost", "SELECT id FROM quotes", destination=TRAP),
        ]
    )
    place.write("a.json", quotes(1, 1), TRAP)
    typed = SinkSettings(name="typed", format="parquet", path=str(place.folder / "two"), columns="typed")
    settings = with_sinks(place.settings, typed)
    plan = Pipeline(settings).plan(substituting)
    running = run(settings, substituting)

    assert running.problems == {} and plan.left_out == {}
    assert {row["query_id"]: row["payload"] for row in place.results()} == {
        TRAP: f'{{"id":1,"text":"{TRAP}"}}',
        "spark": f'{{"id":1,"s":"{TRAP}","text":"{TRAP}b"}}',
        "condition": '{"id":1}',
    }
    (named,) = place.results("two")
    assert named[TRAP] == 1 and named["symbol"] == "b"
    assert [letter["text"] for letter in place.letters()] == ['{"id":1}', TRAP]
    found = [file.read_bytes() for file in place.folder.rglob("*") if file.is_file()]
    assert not any(os.environ["PATH"].encode() in content for content in [*found, str(plan).encode()])


def test_what_is_refused_by_name(spark: SparkSession, place: Place) -> None:
    """Such queries are left out, each with the name in the reason; nothing of them is computed."""
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION eddyline_mine(x BIGINT) RETURNS BIGINT RETURN x + 1")
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION eddyline_other(x BIGINT) RETURNS BIGINT RETURN x + 1")
    refused = {
        "reflect": "reflect('java.lang.System', 'getProperty', 'user.home') = symbol",
        "java_method": "java_method('java.lang.System', 'getProperty', 'user.home') = symbol",
        "try_reflect": "try_reflect('java.lang.System', 'getProperty', 'user.home') = symbol",
        "input_file_name": "input_file_name() = symbol",
        "input_file_block_start": "input_file_block_start() = id",
        "_metadata": "_metadata.file_path = symbol",
        "current_user": "current_user() = symbol",
        "eddyline_other": "eddyline_other(id) = 2",
    }
    queries = {name: f"SELECT id FROM quotes WHERE {condition}" for name, condition in refused.items()}
    selected = {f"{name} selected": f"SELECT {text} AS x FROM quotes" for name, text in refused.items()}
    place.register({**queries, **selected, "mine": "SELECT id FROM quotes WHERE eddyline_mine(id) = 2"})
    place.write("a.json", quotes(0))
    try:
        running = run(replace(place.settings, functions=("eddyline_mine",)), spark)
    finally:
        spark.sql("DROP TEMPORARY FUNCTION eddyline_mine")
        spark.sql("DROP TEMPORARY FUNCTION eddyline_other")
    assert place.pairs() == [("mine", 1)]
    assert set(running.problems) == {*queries, *selected}
    for name, reason in running.problems.items():
        assert name.removesuffix(" selected") in reason, reason


def test_webhooks_go_where_the_operator_allows(spark: SparkSession, place: Place) -> None:
    def addressed(id: str, destination: str) -> Put:
        return Put(id, "SELECT id FROM quotes", destination=destination)

    place.write("a.json", quotes(0, 1))
    with receiver() as server, receiver() as other:
        place.register(
            [
                addressed("allowed", f"{server.address}/hooks/7"),
                addressed("path", f"{server.address}/admin"),
                addressed("steps", f"{server.address}/hooks/../admin"),
                addressed("port", f"{other.address}/hooks/7"),
                addressed("user", f"http://x@127.0.0.1:{server.port}/hooks/7"),
                addressed("kind", "file:///etc/passwd"),
            ]
        )
        hook = SinkSettings(name="hook", format="webhook", allow=(f"{server.address}/hooks",))
        running = run(with_sinks(place.settings, hook), spark)
        assert _paths(server) == ["/hooks/7"] and _paths(other) == []
    letters = {letter["query_id"]: letter["reason"] for letter in place.letters()}
    assert set(letters) == {"path", "steps", "port", "user", "kind"}
    assert running.reports()[0].delivered == {"hook": 1}


def _paths(server: Receiver) -> list[str]:
    return [one.path for one in server.received]
