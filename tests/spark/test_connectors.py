"""Kafka and Delta for real, in one process of their own: a broker of this machine, jars from Maven."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.jars import DELTA_FOR_SPARK, KAFKA_FOR_SPARK, spark_jars
from tests.kafka import broker
from tests.missing import missing

pytestmark = [pytest.mark.spark, pytest.mark.long]
ENDS_WITHIN = 300  # seconds, on a machine that does a lot else


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script found; a text instead of it says why a part was left out."""
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    found: dict[str, Any] = {}
    with ExitStack() as stack:
        jars, servers = [], ""
        try:
            jars.append(spark_jars(*KAFKA_FOR_SPARK))
            servers = stack.enter_context(broker()).servers
        except pytest.skip.Exception as skipped:
            found["kafka"] = str(skipped)
        try:
            jars.append(spark_jars(*DELTA_FOR_SPARK))
        except pytest.skip.Exception as skipped:
            found["delta"] = str(skipped)
        if len(found) < 2:
            found = {**run(",".join(jars), servers, str(tmp_path_factory.mktemp("connectors"))), **found}
    return found


def run(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.connectors_script", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=ENDS_WITHIN,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture
def kafka(results: dict[str, Any]) -> dict[str, Any]:
    return there(results["kafka"])


@pytest.fixture
def delta(results: dict[str, Any]) -> dict[str, Any]:
    return there(results["delta"])


def there(found: dict[str, Any] | str) -> dict[str, Any]:
    if isinstance(found, str):
        missing(found)
    return found


def test_a_topic_out_and_in_again(kafka: dict[str, Any]) -> None:
    messages = [(topic, key, json.loads(value)) for topic, key, value in kafka["messages"]]
    assert [message[:2] for message in messages] == [
        ("by-name", "a"),
        *[("results", "cheap")] * 2,  # at least once: the batch was delivered twice
        *[("results", "ü")] * 2,
    ]
    assert messages[1] == messages[2]
    assert messages[1][2] == {
        "query_id": "cheap",
        "query_revision": 1,
        "version": 3,
        "source": "quotes",
        "batch_id": 7,
        "tuple_key": '{"id":0}',
        "event_time": "2026-03-04T12:00:00.123456Z",
        "payload": {"n": 1.5},
    }
    assert kafka["headers"] == 4 * [
        {
            "eddyline-pipeline": "id-1",
            "eddyline-source": "quotes",
            "eddyline-batch": "7",
            "eddyline-version": "3",
        }
    ]


def test_no_broker_is_a_failed_delivery(kafka: dict[str, Any]) -> None:
    failure = kafka["failure"]
    assert failure.startswith('DeliveryError: sink "out" did not take batch 7 of source "quotes"')


def test_a_table_has_every_batch_once(delta: dict[str, Any]) -> None:
    assert delta["rows"] == [
        [source, number, id]
        for source, number in (("quotes", 0), ("quotes", 1), ("trades", 1))
        for id in ("a", "b")
    ]
    assert delta["values"] == [[1, 2, "2026-03-04"]]
