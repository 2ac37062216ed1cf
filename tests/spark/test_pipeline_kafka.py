"""A pipeline on Kafka for real: topic in, topics and files out, queries changed live, the broker killed in the middle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.jars import KAFKA_FOR_SPARK, spark_jars
from tests.kafka import Broker, broker

pytestmark = [pytest.mark.spark, pytest.mark.long]
ENDS_WITHIN = 400  # seconds, on a machine that does a lot else
MARK = "hush-hunter2"
CORRUPT = {10: "{broken", 11: '{"id": "x"}', 12: ""}  # offsets and texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kafka")


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Any]:
    """What the script found; skipped, with the reason, where there is no Java, no Maven or no broker."""
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    jars = spark_jars(*KAFKA_FOR_SPARK)
    with broker() as running:
        return run(running, jars, folder)


def run(broker: Broker, jars: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.spark.kafka_pipeline_script", jars, str(broker.port), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HUSH": MARK}
    with (
        (folder / "errors").open("w+") as errors,
        subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as script,
    ):
        timer = Timer(ENDS_WITHIN, script.kill)
        timer.start()
        try:
            last = conducted(script, broker)
        finally:
            timer.cancel()
        errors.seek(0)
        assert script.wait() == 0, errors.read()[-5000:]
    found: dict[str, Any] = json.loads(last)
    return found


def conducted(script: subprocess.Popen[str], broker: Broker) -> str:
    """Do to the broker what the script asks for; its last line."""
    line = ""
    assert script.stdout is not None
    for line in script.stdout:
        if line == "kill\n":
            broker.stop(kill=True)
        elif line == "start\n":
            try:
                broker.start()
            except pytest.skip.Exception as skipped:
                pytest.fail(f"the broker was there and is gone: {skipped}")
    return line


def key_of(id: int) -> str:
    """Where message `id` lies: three that cannot be read came after the first ten."""
    return f"incoming/0/{id if id < 10 else id + 3}"


def wanted(query: str, ids: range) -> set[tuple[str, str]]:
    return {(query, key_of(id)) for id in ids}


def test_nothing_is_lost(found: dict[str, Any]) -> None:
    """Every result of every query is in its topic; "late" was disabled while the broker was away, and its batch kept it."""
    values = [(topic, key, value) for topic, key, value, _ in found["messages"]]
    assert all(key == value["query_id"] and value["source"] == "quotes" for _, key, value in values)
    topics = {
        topic: {(value["query_id"], value["tuple_key"]) for to, _, value in values if to == topic}
        for topic in ("alerts", "watched")
    }
    assert topics["alerts"] == wanted("low", range(20))
    odd = wanted("odd", range(1, 10, 2)) | wanted("odd", range(21, 35, 2))
    assert topics["watched"] == odd | wanted("late", range(12, 20))


def test_what_comes_twice_is_the_same(found: dict[str, Any]) -> None:
    """At least once: the topic that had its rows before the broker died got them again, the same in everything."""
    texts = {json.dumps(message, sort_keys=True) for message in found["messages"]}
    results = Counter((value["query_id"], value["tuple_key"]) for _, _, value, _ in found["messages"])
    assert len(texts) == len(results)
    assert {result for result, times in results.items() if times > 1} == wanted("low", range(10, 20))
    assert all(
        headers["eddyline-batch"] == str(value["batch_id"])
        and headers["eddyline-version"] == str(value["version"])
        for _, _, value, headers in found["messages"]
    )


def test_files_have_every_result_once(found: dict[str, Any]) -> None:
    files = Counter((query, key) for query, key, _ in found["files"])
    assert set(files) == wanted("all", range(35)) | wanted("past", range(30, 35, 5))
    assert max(files.values()) == 1


def test_every_batch_kept_its_version(found: dict[str, Any]) -> None:
    first, second, third, fourth = found["versions"]
    versions = {key: version for query, key, version in found["files"] if query == "all"}
    assert {versions[key_of(id)] for id in range(10)} == {first}
    assert {versions[key_of(id)] for id in range(10, 20)} == {second}
    assert {versions[key_of(id)] for id in range(20, 30)} == {fourth}
    assert third not in found["pins"] and found["pins"] == sorted(found["pins"])
    assert found["between"] == 2, "once before the broker died, once when the batch was run again"


def test_messages_that_cannot_be_read(found: dict[str, Any]) -> None:
    assert sorted((text, key) for text, key in found["letters"]) == sorted(
        (text, f"incoming/0/{offset}") for offset, text in CORRUPT.items()
    )


def test_every_match_counts_once(found: dict[str, Any]) -> None:
    counters = found["counters"]
    assert counters["all"] == {"matches": 35, "deliveries": 35}
    assert counters["late"] == {"matches": 8, "deliveries": 8}
    assert counters["odd"] == {"matches": 17, "deliveries": 12, "shadowed": 5}


def test_enabled_with_what_it_missed(found: dict[str, Any]) -> None:
    assert sorted(found["before"]) == sorted(key for _, key in wanted("past", range(0, 30, 5)))
    assert found["caught up"]["matches"] == 6


def test_failures_are_told_without_secrets(found: dict[str, Any], folder: Path) -> None:
    told = [line for line in (folder / "errors").read_text().splitlines() if "it is started again" in line]
    assert 'sink "watch" did not take batch' in told[0]
    assert all("STREAM_FAILED" not in line for line in told)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert [path for path in files if MARK.encode() in path.read_bytes()] == []
    assert MARK not in json.dumps(found)
