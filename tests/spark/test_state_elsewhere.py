"""A pipeline whose state, results and dead letters lie on a file system of Spark's: here Hadoop's viewfs, with a folder behind it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eddyline.errors import DeliveryError, FileError, OwnershipError, SetupError, SinkError
from eddyline.runtime.spark.base import hadoop_storage
from eddyline.runtime.spark.base.hadoop_storage import HadoopStorage
from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.pipeline.batch import dead_letters
from eddyline.runtime.spark.sinks.files import FileSink
from eddyline.runtime.spark.versions import StateFolder
from eddyline.runtime.spark.watching.kept_metrics import metrics_in
from eddyline.spark import BatchProcessor, Pipeline
from eddyline.storage.lease import FOLDER as OWNER
from eddyline.storage.lease import Lease
from tests.spark.pipelines import Place, log_of, quotes, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("impatient")
CHEAP = "SELECT id, price FROM quotes WHERE price < 4"


@dataclass(frozen=True)
class Elsewhere:
    """A file system with one folder; `behind` is what it shows."""

    address: str
    behind: Path


@pytest.fixture
def elsewhere(spark: SparkSession, tmp_path: Path) -> Iterator[Elsewhere]:
    behind = tmp_path / "behind"
    behind.mkdir()
    name = f"t{abs(hash(str(tmp_path)))}"
    context: Any = spark.sparkContext
    key = f"fs.viewfs.mounttable.{name}.link./data"
    context._jsc.hadoopConfiguration().set(key, behind.as_uri())
    yield Elsewhere(f"viewfs://{name}/data", behind)
    context._jsc.hadoopConfiguration().unset(key)


def settings_of(place: Place, elsewhere: Elsewhere) -> PipelineSettings:
    (sink,) = place.settings.sinks
    sinks = (replace(sink, path=f"{elsewhere.address}/out"),)
    return replace(place.settings, checkpoint=f"{elsewhere.address}/state", sinks=sinks)


def results(elsewhere: Elsewhere) -> list[tuple[str, int]]:
    """Query and id of every result, as a reader finds them that goes by the records."""
    import pyarrow.parquet as pq

    out = elsewhere.behind / "out"
    records = sorted((out / "_commits").rglob("[!.]*.json"))
    files = [file for record in records for file in json.loads(record.read_text())["files"]]
    rows = [
        row for file in files if file.endswith(".parquet") for row in pq.read_table(out / file).to_pylist()
    ]
    return sorted((row["query_id"], json.loads(row["payload"])["id"]) for row in rows)


def test_the_whole_way_and_on(spark: SparkSession, place: Place, elsewhere: Elsewhere) -> None:
    settings = settings_of(place, elsewhere)
    place.register({"cheap": CHEAP})
    place.write("a.json", quotes(0), "{broken")
    first = run(settings, spark)
    assert results(elsewhere) == [("cheap", id) for id in range(6)]
    place.register({"odd": "SELECT id, price FROM quotes WHERE symbol = 'b'"})
    place.write("b.json", quotes(6))
    second = run(settings, spark)
    assert results(elsewhere) == [("cheap", id) for id in range(8)] + [("odd", 7), ("odd", 10)]
    assert first.id == second.id
    assert [pin.version for pin in log_of(settings).pins("quotes")] == [1, 2]
    state = elsewhere.behind / "state"
    letters = [path for path in (state / "dead-letters").rglob("*.json") if "batch=0" in str(path.parent)]
    assert any("{broken" in path.read_text() for path in letters)
    for record in elsewhere.behind.rglob("_commits/**/batch=*.json"):
        named = json.loads(record.read_text())["files"]
        assert named and all("/part-" in file for file in named), "no marks of Spark's jobs"
    staged = [path for path in elsewhere.behind.rglob("_staging/**/*") if path.is_file()]
    assert staged == [], "nothing is left"
    assert sorted(path.name for path in (state / "sets" / "versions").iterdir()) == ["2"]
    assert not (place.folder / "state").exists()
    found = StateFolder.find(settings.checkpoint)
    assert metrics_in(place.folder / "copy.jsonl", found.storage).totals.count("rows") == 13
    assert StateFolder.is_running(settings.checkpoint) is None


def test_a_plan_changes_nothing(spark: SparkSession, place: Place, elsewhere: Elsewhere) -> None:
    settings = settings_of(place, elsewhere)
    place.register({"cheap": CHEAP})
    place.write("a.json", quotes(0))
    assert Pipeline(settings).plan(spark).goes_on is False
    assert list(elsewhere.behind.iterdir()) == []


def test_a_second_start_is_refused_and_changes_nothing(
    spark: SparkSession, place: Place, elsewhere: Elsewhere
) -> None:
    settings = settings_of(place, elsewhere)
    place.register({"cheap": CHEAP})
    place.write("a.json", quotes(0))
    run(settings, spark)
    state = StateFolder.open(settings.checkpoint, name="market", sources=["quotes"])
    more = (*settings.sources, place.source("more", "json", stream="quotes"))
    with Lease(state.storage, "it", hint="wait", renewed=0.1):
        before = contents(elsewhere)
        with pytest.raises(FileError, match=r"the state in viewfs://.* is used by process \d+"):
            Pipeline(replace(settings, sources=more)).start(spark)
        with pytest.raises(FileError, match=r"the state in viewfs://.* is used by process \d+"):
            BatchProcessor(settings, spark)
        assert contents(elsewhere) == before
    run(settings, spark)


def contents(elsewhere: Elsewhere) -> dict[str, bytes]:
    """All files but the lease, which is renewed meanwhile."""
    files = [path for path in elsewhere.behind.rglob("*") if path.is_file() and path.parent.name != OWNER]
    return {str(path): path.read_bytes() for path in files}


def take_over(settings: PipelineSettings) -> None:
    """Have another process own the state from now on; the owner has not heard of it, and not renewed for 20 seconds."""
    files = StateFolder.find(settings.checkpoint).storage
    (last,) = files.list(OWNER)
    files.put(f"{OWNER}/{int(last.removesuffix('.json')) + 1:012d}.json", files.read(f"{OWNER}/{last}"))
    for thread in threading.enumerate():
        if thread.name == "eddyline-lease":
            thread._target.__self__._heard -= 20  # type: ignore[attr-defined]


def test_the_lease_is_lost_in_the_middle_of_a_delivery(
    spark: SparkSession, place: Place, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next attempt delivers nothing, and nothing of the next owner's is written over."""
    settings = settings_of(place, elsewhere)
    place.register({"cheap": CHEAP})
    place.write("a.json", quotes(0), "{broken")
    before: list[dict[str, bytes]] = []

    def fail(self: FileSink, *arguments: Any) -> None:
        assert not before, "it was asked again"
        take_over(settings)
        before.append(contents(elsewhere))
        raise DeliveryError("not now")

    monkeypatch.setattr(FileSink, "deliver", fail)
    with pytest.raises(OwnershipError, match="was taken over by another process"):
        run(settings, spark)
    assert contents(elsewhere) == before[0]


def test_the_lease_is_lost_before_the_dead_letters(
    spark: SparkSession, place: Place, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(place, elsewhere)
    place.register({"cheap": CHEAP})
    place.write("a.json", quotes(0), "{broken")
    real = FileSink.deliver

    def deliver(self: FileSink, *arguments: Any) -> int | None:
        count = real(self, *arguments)
        take_over(settings)
        return count

    monkeypatch.setattr(FileSink, "deliver", deliver)
    with pytest.raises(OwnershipError, match="was taken over by another process"):
        run(settings, spark)
    letters = elsewhere.behind / "state" / "dead-letters"
    assert not list(letters.rglob("batch=*")) and not log_of(settings).committed("quotes", 0)


def test_a_query_of_somebodys_own_loses_the_lease(
    spark: SparkSession, place: Place, elsewhere: Elsewhere
) -> None:
    settings = settings_of(place, elsewhere)
    place.register({"cheap": CHEAP})
    df = spark.createDataFrame([(0, "a", 0.0, None)], "id long, symbol string, price double, at timestamp")
    with BatchProcessor(settings, spark) as processor:
        processor.process_batch(df, 0)
        take_over(settings)
        before = contents(elsewhere)
        with pytest.raises(OwnershipError, match="was taken over by another process"):
            processor.process_batch(df, 1)
    assert contents(elsewhere) == before


def test_the_session_is_stopped_under_a_pipeline(
    spark: SparkSession, place: Place, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing, which cannot reach the state any more, does not say something else than what happened."""
    settings = replace(settings_of(place, elsewhere), trigger="100 milliseconds")
    place.register({"cheap": CHEAP})
    place.write("a.json", quotes(0))
    ended: list[int] = []
    with monkeypatch.context() as patch:
        running = Pipeline(settings).start(spark)
        running.at_end(lambda: ended.append(1))
        while not running.reports():
            running.await_termination(0.1)
        patch.setattr(hadoop_storage, "_context", lambda: None)
        running.stop()
    assert ended == [1]


def test_what_belongs_to_others(spark: SparkSession, place: Place, elsewhere: Elsewhere) -> None:
    settings = settings_of(place, elsewhere)
    place.register({"cheap": CHEAP})
    (elsewhere.behind / "out").mkdir()
    (elsewhere.behind / "out" / "mine.txt").touch()
    with pytest.raises(SinkError, match="is not empty, and nothing in it says that a pipeline wrote it"):
        run(settings, spark)
    (elsewhere.behind / "out" / "mine.txt").unlink()
    (elsewhere.behind / "other").mkdir()
    (elsewhere.behind / "other" / "mine.txt").touch()
    with pytest.raises(
        FileError, match=r'is not empty and not the state of a pipeline: there is "mine\.txt"'
    ):
        run(replace(settings, checkpoint=f"{elsewhere.address}/other"), spark)


def test_a_file_system_that_spark_does_not_have(spark: SparkSession, place: Place) -> None:
    place.register({"cheap": CHEAP})
    with pytest.raises(SetupError, match="Spark has no file system for s3a://bucket/state") as caught:
        run(replace(place.settings, checkpoint="s3a://bucket/state"), spark)
    assert "org.apache.hadoop:hadoop-aws:" in (caught.value.hint or "")


def test_a_host_that_is_not_there(spark: SparkSession, place: Place) -> None:
    place.register({"cheap": CHEAP})
    with pytest.raises(FileError, match=r"hdfs://nohost\.invalid:9000/state.*UnknownHostException"):
        run(replace(place.settings, checkpoint="hdfs://nohost.invalid:9000/state"), spark)


def test_a_storage_like_any_other(elsewhere: Elsewhere) -> None:
    """What every storage does; objects are put whole, and larger ones go by a file."""
    files = HadoopStorage(elsewhere.address)
    assert files.list("") == files.folders("none") == [] and not files.exists("a/b")
    files.put("a/b", b"one")
    files.put("a/b", [b"t", b"wo"])
    assert (files.read("a/b"), files.put_if_absent("a/b", b"three"), files.read("a/b")) == (
        b"two",
        False,
        b"two",
    )
    assert (
        files.put_if_absent("a/c", b"three") and files.list("a") == ["b", "c"] and files.folders("") == ["a"]
    )
    files.put("large", b"x" * 3_000_000)
    assert bytes(files.map("large")) == b"x" * 3_000_000 and bytes(files.map("a/b")) == b"two"
    files.put("empty", b"")
    assert bytes(files.map("empty")) == files.read("empty") == b""
    files.move_folder("a", "moved/to")
    assert files.walk("moved") == [("to/b", 3), ("to/c", 5)] and files.walk("a") is None
    files.delete("moved/to/b")
    files.delete("moved/to/b")
    files.delete_folder("moved")
    assert files.folders("") == []
    with pytest.raises(FileNotFoundError):
        files.read("a/b")


def test_dead_letters_that_workers_could_not_write(
    spark: SparkSession, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a cluster the checkpoint may be a folder of the driver alone."""
    place.register({"cheap": CHEAP})
    place.write("a.json", quotes(0), "{broken", '{"id": "\\u00e9"}')
    run(place.settings, spark)
    wanted = place.letters()
    other = Place(place.folder / "other")
    other.folder.mkdir()
    other.register({"cheap": CHEAP})
    other.write("a.json", quotes(0), "{broken", '{"id": "\\u00e9"}')
    monkeypatch.setattr(dead_letters, "is_local", lambda spark: False)
    run(other.settings, spark)
    without_path = [{**letter, "tuple_key": letter["tuple_key"].rpartition("#")[2]} for letter in wanted]
    assert [
        {**one, "tuple_key": one["tuple_key"].rpartition("#")[2]} for one in other.letters()
    ] == without_path
    assert len(wanted) == 2
