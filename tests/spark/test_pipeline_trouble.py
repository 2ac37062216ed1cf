"""Pipelines whose surroundings fail: a clear error, or it goes on when they are mended."""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eddyline.errors import EddylineError, FileError, RegistryError, SetupError
from eddyline.runtime.spark.base.settings import SourceSettings
from eddyline.runtime.spark.pipeline.batch import batch_context, counting
from eddyline.runtime.spark.pipeline.batch import run as batches
from eddyline.runtime.spark.sinks.storage import LocalOutput
from eddyline.runtime.spark.versions import StateFolder, VersionLog, versions
from eddyline.spark import Pipeline
from tests.spark.pipelines import Place, quotes, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("impatient")
ALL = {"all": "SELECT id FROM quotes"}


@pytest.fixture(autouse=True)
def asks_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be reached is given up and asked again within a test."""
    monkeypatch.setattr(batch_context, "PATIENCE", 0.1)
    monkeypatch.setattr(counting, "AGAIN", 0.1)
    monkeypatch.setattr(versions, "AGAIN", 0.1)


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)


def test_queries_that_spark_rejects(spark: SparkSession, place: Place) -> None:
    """They are named and left out; the others run."""
    place.register(
        {
            "few": "SELECT id FROM quotes WHERE levenshtein(symbol) = 1",
            "kind": "SELECT id FROM quotes WHERE exists(symbol, x -> x > 1)",
            "fine": "SELECT id FROM quotes WHERE levenshtein(symbol, 'ab') = 1 AND id = 0",
        }
    )
    place.write("a.json", quotes(0))
    assert set(Pipeline(place.settings).plan(spark).left_out) == {"few", "kind"}
    running = run(place.settings, spark)
    assert set(running.problems) == {"few", "kind"}
    assert all("Spark refuses it" in reason for reason in running.problems.values())
    assert place.pairs() == [("fine", 0)]


def test_a_folder_that_disappears(
    spark: SparkSession, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told, and when the folder is back it is read on."""
    place.register(ALL)
    place.write("a.json", quotes(0, 1))
    with Pipeline(replace(place.settings, trigger="100 milliseconds")).start(spark) as running:
        until(running.reports)
        shutil.rmtree(place.folder / "quotes")
        until(lambda: running.status["trouble"])
        assert running.status["trouble"] == f"source quotes: there is no folder {place.folder / 'quotes'}"
        assert running.status["trouble"] in caplog.messages
        place.write("b.json", quotes(1, 1))
        until(lambda: len(running.reports()) == 2)
        until(lambda: running.status["trouble"] is None)
    assert place.pairs() == [("all", 0), ("all", 1)]


def test_a_file_that_disappears(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The batch fails with the file's name; Spark runs it again without the file, and goes on."""
    place.register(ALL)
    place.write("a.json", quotes(0, 1))
    time.sleep(0.01)
    place.write("b.json", quotes(1, 1))
    real = batches.matched

    def matched(*args: Any) -> Any:
        (place.folder / "quotes" / "a.json").unlink(missing_ok=True)
        return real(*args)

    monkeypatch.setattr(batches, "matched", matched)
    running = run(replace(place.settings, retries=1), spark)
    assert [report.rows for report in running.reports()] == [0, 1]
    (told,) = [text for text in caplog.messages if "started again" in text]
    assert "quotes/a.json" in told and "does not exist" in told


def test_sources_that_spark_refuses(spark: SparkSession, place: Place) -> None:
    place.register(ALL)
    for source, message in (
        (SourceSettings(name="quotes", format="no.such"), r"Failed to find the data source: no\.such"),
        (SourceSettings(name="quotes", format="rate", options={"rowsPerSecond": "x"}), "input string"),
    ):
        for attempt in (Pipeline.start, Pipeline.plan):
            with pytest.raises(SetupError, match=f'source "quotes" cannot be opened: .*{message}') as failure:
                attempt(Pipeline(replace(place.settings, sources=(source,))), spark)
            assert "\n" not in failure.value.message
    assert StateFolder.is_running(place.settings.checkpoint) is None


def test_a_registry_that_is_locked(spark: SparkSession, place: Place) -> None:
    """Batches go on with the version that they had; counters and changes come when it is free again."""
    place.register(ALL)
    with Pipeline(replace(place.settings, trigger="100 milliseconds")).start(spark) as running:
        with closing(sqlite3.connect(place.folder / "registry.db")) as other:
            other.execute("BEGIN EXCLUSIVE")
            place.write("a.json", quotes(0, 1))
            until(running.reports)
            (report,) = running.reports()
            assert any("wait for the registry" in problem for problem in report.problems)
            other.rollback()
        assert place.counters() == {}
        place.register({"more": "SELECT id FROM quotes"})
        time.sleep(0.2)
        place.write("b.json", quotes(1, 1))
        until(lambda: len(running.reports()) == 2)
    assert place.pairs() == [("all", 0), ("all", 1), ("more", 1)]
    assert place.counters()["all"] == {"matches": 2, "deliveries": 2}


def test_a_registry_that_is_damaged(spark: SparkSession, place: Place) -> None:
    place.register(ALL)
    registry = place.folder / "registry.db"
    for content in (b"not a registry at all" * 100, registry.read_bytes()[:5000]):
        registry.write_bytes(content)
        for attempt in (Pipeline.start, Pipeline.plan):
            with pytest.raises(RegistryError):
                attempt(Pipeline(place.settings), spark)
        assert StateFolder.is_running(place.settings.checkpoint) is None


def test_a_checkpoint_that_does_not_fit(spark: SparkSession, place: Place) -> None:
    """That of another pipeline, of another format, or one whose batches Spark has forgotten."""
    place.register(ALL)
    place.write("a.json", quotes(0, 1))
    run(place.settings, spark)
    state = Path(place.settings.checkpoint)
    identity = state / "eddyline.json"
    said = json.loads(identity.read_text())

    def refused(message: str) -> None:
        for attempt in (Pipeline.plan, Pipeline.start):
            with pytest.raises(FileError, match=message):
                attempt(Pipeline(place.settings), spark)

    identity.write_text(json.dumps({**said, "name": "other"}))
    refused('is that of pipeline "other", not of "market"')
    identity.write_text(json.dumps({**said, "format": 2}))
    refused("has format 2, not 1")
    identity.write_text(json.dumps(said))
    shutil.rmtree(state / "spark")
    refused(r'source "quotes": 1 batch was served, and its checkpoint .* is missing')
    assert place.pairs() == [("all", 0)]


@pytest.mark.parametrize(
    ("owner", "name"), [(LocalOutput, "adopt"), (VersionLog, "pin"), (VersionLog, "commit")]
)
def test_a_full_disk(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    """Nothing half written counts; as long as there is no room it fails with that reason, afterwards it goes on."""
    place.register(ALL)
    place.write("a.json", quotes(0, 2))
    room: list[int] = []
    real = getattr(owner, name)

    def write(*args: Any) -> Any:
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*args)

    monkeypatch.setattr(owner, name, write)
    running = Pipeline(place.settings).start(spark)
    with pytest.raises(EddylineError, match=r"no room left|No space left on device"):
        running.await_termination(60)
    room.append(1)
    run(place.settings, spark)
    assert place.pairs() == [("all", 0), ("all", 1)]
    assert place.counters() == {"all": {"matches": 2, "deliveries": 2}}
