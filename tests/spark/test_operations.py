"""How a running pipeline is, as those see it who operate it: endpoint, gauges, stops."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eddyline.errors import FileError, SetupError
from eddyline.runtime.spark.pipeline import pipeline as starting
from eddyline.runtime.spark.pipeline import supervision
from eddyline.runtime.spark.pipeline.batch import run as batches
from eddyline.runtime.spark.pipeline.source_watch import SourceWatch
from eddyline.runtime.spark.watching import Metrics
from eddyline.spark import Pipeline
from tests.spark.pipelines import Place, quotes, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eddyline.runtime.spark.pipeline.running import RunningPipeline

ALL = {"all": "SELECT id FROM quotes", "odd": "SELECT id / (id - id) AS x FROM quotes WHERE id % 2 = 1"}


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)


def asked(url: str, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url.replace("/metrics", path), timeout=5) as found:
            return found.status, found.read().decode().strip()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode().strip()


def gauges(running: RunningPipeline) -> dict[str, float]:
    assert running.endpoint is not None
    lines = asked(running.endpoint.url, "/metrics")[1].splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Batches that hang while the list has something in it."""
    holding: list[int] = []
    real = batches.matched

    def matched(*args: Any) -> Any:
        until(lambda: not holding)
        return real(*args)

    monkeypatch.setattr(batches, "matched", matched)
    try:
        yield holding
    finally:
        holding.clear()


def test_the_endpoint_is_there_before_spark_is_asked_anything(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that the pipeline starts; a start that fails gives the port back."""
    place.register(ALL)
    port = _free_port()
    settings = replace(place.settings, prometheus=f"127.0.0.1:{port}")
    url, seen = f"http://127.0.0.1:{port}/metrics", {}

    def check(*args: object, **more: object) -> None:
        seen.update({path: asked(url, path) for path in ("/healthz", "/readyz", "/metrics")})
        raise SetupError("the session does not fit")

    monkeypatch.setattr(starting.session_checks, "check", check)
    for _ in range(2):
        with pytest.raises(SetupError, match="does not fit"):
            Pipeline(settings).start(spark)
    assert seen["/healthz"] == (200, "ok") and seen["/readyz"] == (503, "starting")
    assert "eddyline_ready{} 0" in seen["/metrics"][1]


def _free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_how_it_is_while_it_runs_idles_and_hangs(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.register(ALL)
    for number in range(2):
        place.write(f"{number}.json", quotes(number * 6))
    settings = replace(place.settings, trigger="100 milliseconds", prometheus="127.0.0.1:0")
    passed = [0.0]
    monkeypatch.setattr(
        supervision, "SourceWatch", partial(SourceWatch, lambda: time.monotonic() + passed[0])
    )
    with held(monkeypatch) as holding, Pipeline(settings).start(spark) as running:
        assert running.endpoint is not None
        url = running.endpoint.url
        until(lambda: len(running.reports()) == 2)
        until(lambda: gauges(running)['eddyline_idle{source="quotes"}'] == 1)
        assert asked(url, "/healthz") == (200, "ok") and asked(url, "/readyz") == (200, "ready")
        found = gauges(running)
        assert found['eddyline_backlog_files{source="quotes"}'] == 0
        assert found["eddyline_newest_version{}"] == 1 and found["eddyline_queries_left_out{}"] == 0
        assert found['eddyline_query_failures_total{query="odd"}'] == 6, "0 / 0 in what was selected"
        assert found['eddyline_event_time_lag_seconds{source="quotes"}'] > 0
        assert running.reports()[0].newest_event is not None
        assert f"{running.reports()[0].newest_event:%Y-%m-%d %H}" == "2026-03-02 10"

        holding.append(1)
        place.write("2.json", quotes(12))
        place.write("3.json", quotes(18))
        supervisor: Any = running._supervisors[0]
        until(
            lambda: supervisor._function.busy and supervisor._watch.last.mark[0] == supervisor._function.calls
        )
        assert asked(url, "/healthz") == (200, "ok")
        passed[0] += settings.stalled_after
        assert asked(url, "/healthz")[0] == 503 and "its batch has run for" in asked(url, "/healthz")[1]
        assert asked(url, "/readyz")[0] == 503 and not running.status["sources"]["quotes"]["idle"]
        until(lambda: gauges(running)['eddyline_backlog_files{source="quotes"}'] == 1)
        assert gauges(running)["eddyline_healthy{}"] == 0
        holding.clear()
        until(lambda: asked(url, "/healthz")[0] == 200)
        until(lambda: len(running.reports()) == 4)
    assert len(place.results()) == 36


def test_reports_of_another_format_are_refused_at_the_start(spark: SparkSession, place: Place) -> None:
    place.register(ALL)
    run(place.settings, spark)
    path = Path(place.settings.checkpoint, "metrics.jsonl")
    path.write_text('{"format":9}\n')
    with pytest.raises(FileError, match="has reports of format 9"):
        Pipeline(place.settings).start(spark)
    path.unlink()
    run(place.settings, spark)
    assert Metrics(path).totals.count("rows") == 0
