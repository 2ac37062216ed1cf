"""Queries on a cluster whose workers see nothing of the driver: run by tests/spark/test_cluster_runs.py, each case in a process.

Called as `python -m tests.spark.cluster_script CASE FOLDER`; what came of it is written to FOLDER/found.json.

    FOLDER/driver       registry, checkpoint, home, temporary files: hidden from the workers
    FOLDER/storage      inputs and results: all see it
    FOLDER/one, two     what belongs to a worker; the second cannot write to its home
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import eddyline as ed
from eddyline.errors import EddylineError
from eddyline.runtime.spark.base.settings import AVAILABLE_NOW, PipelineSettings
from eddyline.runtime.spark.histories.writing import write
from eddyline.runtime.spark.transport import shipping
from eddyline.spark import Pipeline, count, match, session
from tests.cluster import HostFolder, Worker, master, worker_apart
from tests.spark.pipelines import QUOTES, Place, quotes, run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from eddyline.runtime.spark.pipeline.running import RunningPipeline

PATIENCE = 240.0  # seconds in which something must happen
CHEAP = "SELECT id, price FROM quotes WHERE price < 4"
ODD = "SELECT id, price FROM quotes WHERE symbol = 'b' AND hold(id) = id"
SESSION = {
    "spark.executor.memory": "600m",
    "spark.driver.memory": "600m",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}


@dataclass
class Cluster:
    """A cluster with its driver's session, and a pipeline's place."""

    folder: Path
    address: str
    running: ExitStack
    workers: dict[str, Worker] = field(default_factory=dict)
    spark: SparkSession = field(init=False)
    hold: Hold = field(init=False)

    @property
    def place(self) -> Place:
        return Place(self.folder / "driver", self.folder / "storage")

    @property
    def settings(self) -> PipelineSettings:
        """Of a pipeline that runs until it is stopped; its queries may call `hold`."""
        return replace(self.place.settings, trigger="50 milliseconds", functions=("hold",))

    def add(self, name: str, *also_hidden: Path, kernels: bool = True, wait: bool = True) -> None:
        """Start a worker; the second one cannot write to its home."""
        hidden = (self.folder / "driver", *also_hidden)
        own = worker_apart(
            self.folder / name,
            self.address,
            *hidden,
            read_only_home=name == "two",
            kernels=kernels,
            wait=wait,
        )
        self.workers[name] = self.running.enter_context(own)


class Hold:
    """Lets a batch wait in the middle, on the workers: in the function `hold`, which queries may call."""

    def __init__(self, storage: Path, spark: SparkSession) -> None:
        self._closed, self._waiting = storage / "closed", storage / "waiting"
        self._waiting.mkdir()
        spark.udf.register("hold", holding(str(self._closed), str(self._waiting)), "bigint")

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Whoever comes to the function waits until this ends, or it is opened."""
        for file in self._waiting.iterdir():
            file.unlink()
        self._closed.touch()
        try:
            yield
        finally:
            self.open()

    def open(self) -> None:
        """Let all go on."""
        self._closed.unlink(missing_ok=True)

    def at(self) -> set[str]:
        """The workers on which somebody waits or has waited."""
        return {file.name for file in self._waiting.iterdir()}


def holding(closed: str, waiting: str) -> Callable[[int], int]:
    def hold(value: int) -> int:
        import os
        import time
        from pathlib import Path

        while os.path.exists(closed):  # noqa: PTH110
            Path(waiting, Path(os.environ["HOME"]).parent.name).touch()
            time.sleep(0.02)
        return value

    return hold


@contextmanager
def cluster(
    folder: Path, *names: str, kernels: bool = True, hidden: Sequence[Path] = ()
) -> Iterator[Cluster]:
    """A cluster with these workers, which start while the driver's session does; the second does not see what is `hidden`."""
    storage = folder / "storage"
    storage.mkdir(exist_ok=True)
    with ExitStack() as running:
        on = Cluster(folder, running.enter_context(master(folder)), running)
        for name in names:
            on.add(name, *hidden if name == "two" else (), kernels=kernels, wait=False)
        whole = {  # no job begins before all of these workers are there
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.cores.max": str(len(names)),
        }
        more = whole if len(names) > 1 else {}
        on.spark = session("eddyline-cluster-tests", config={"spark.master": on.address, **SESSION, **more})
        running.callback(on.spark.stop)
        on.hold = Hold(storage, on.spark)
        yield on


def until(holds: Callable[[], object], running: RunningPipeline) -> None:
    """Wait for something while a pipeline runs; one that fails raises why."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "it has not happened"
        assert not running.await_termination(0.05), "the pipeline goes on"


def rows_of(spark: SparkSession, count: int) -> DataFrame:
    """Rows of quotes, in two parts."""
    rows = [{**row, "at": None} for row in quotes(0, count)]
    return spark.createDataFrame(pa.Table.from_pylist(rows, QUOTES.schema)).repartition(2)


def matches(on: Cluster) -> dict[str, Any]:
    """What `match` and `count` find, and which workers have opened the set."""
    queries = ed.QuerySet.build(
        {"cheap": CHEAP, "odd": "SELECT id FROM quotes WHERE symbol = 'b'"}, streams=[QUOTES]
    )
    rows = rows_of(on.spark, 40)
    matched = rows.transform(match(queries, explode=True)).collect()
    counted = rows.transform(count(queries)).collect()
    return {
        "match": sorted([row["query_id"], row["id"]] for row in matched),
        "count": {row["query_id"]: row["matches"] for row in counted},
        "took part": sorted(
            name for name in on.workers if list(HostFolder(on.folder / name).temporary.glob("*/unpacked/*"))
        ),
    }


def outcome(place: Place, format: str = "parquet") -> dict[str, Any]:
    """What a pipeline has delivered."""
    return {
        "pairs": [list(pair) for pair in place.pairs(format=format)],
        "letters": [letter["text"] for letter in place.letters()],
        "counters": {id: numbers["matches"] for id, numbers in place.counters().items()},
    }


def changed(on: Cluster, kills: Sequence[Callable[[Worker], None]]) -> dict[str, Any]:
    """A pipeline that runs while queries come; in each batch but the first something is killed in the middle."""
    place = on.place
    place.register({"cheap": CHEAP})
    place.write("0.json", quotes(0), "{broken")
    with Pipeline(on.settings).start(on.spark) as running:
        until(lambda: len(running.reports()) == 1, running)
        for number, kill in enumerate(kills, 1):
            place.register({f"odd {number}": ODD})
            with on.hold.closed():
                place.write(f"{number}.json", quotes(6 * number))
                until(on.hold.at, running)
                (where,) = on.hold.at()
                kill(on.workers[where])
            until(lambda wanted=number + 1: len(running.reports()) == wanted, running)
    return outcome(place)


def short(folder: Path) -> dict[str, Any]:
    with cluster(folder, "one", "two") as on:
        return {**matches(on), **changed(on, [Worker.kill_python])}


def cold(folder: Path) -> dict[str, Any]:
    """On hosts where nothing has been compiled; more is killed."""
    with cluster(folder, "one", "two", kernels=False) as on:
        kills = [Worker.kill_python, Worker.kill_executors, Worker.kill_python]
        return {**matches(on), **changed(on, kills)}


def both(on: Cluster) -> PipelineSettings:
    """Settings of a pipeline whose batches have two files, and so two tasks."""
    source = on.place.source("quotes", "json", maxFilesPerTrigger="2")
    return replace(on.settings, sources=(source,))


def lost(folder: Path) -> dict[str, Any]:
    """A worker fails with all that it has, in the middle of a batch of which both have a part."""
    with cluster(folder, "one", "two") as on:
        two_files(on)
        with Pipeline(both(on)).start(on.spark) as running, on.hold.closed():
            until(lambda: len(on.hold.at()) == 2, running)
            on.workers["two"].kill()
            on.hold.open()
            until(lambda: len(running.reports()) == 1, running)
        return outcome(on.place)


def late(folder: Path) -> dict[str, Any]:
    """A worker comes when a batch is running on the only one that there was, and gets its second task."""
    with cluster(folder, "one") as on:
        two_files(on)
        with Pipeline(both(on)).start(on.spark) as running, on.hold.closed():
            until(on.hold.at, running)
            on.add("two")
            until(lambda: len(on.hold.at()) == 2, running)
            on.hold.open()
            until(lambda: len(running.reports()) == 1, running)
        return outcome(on.place)


def two_files(on: Cluster) -> None:
    """A query, and two files that wait."""
    on.place.register({"odd": ODD})
    on.place.write("0.json", quotes(0), "{broken")
    on.place.write("1.json", quotes(6))


def blind(folder: Path) -> dict[str, Any]:
    """The only worker does not see where rows come from; afterwards one does."""
    with cluster(folder, "two", hidden=[folder / "storage" / "quotes"]) as on:
        two_files(on)
        settings = replace(both(on), trigger=AVAILABLE_NOW)
        found = {"said": said(settings, on), "meanwhile": outcome(on.place)}
        on.workers["two"].kill()
        on.add("one")
        return {**found, "then": said(settings, on), **outcome(on.place)}


def split(folder: Path, format: str) -> dict[str, Any]:
    """One of two workers has a disk of its own where results should go; afterwards it is gone."""
    hidden = [folder / "storage" / name for name in ("out", "files")]
    with cluster(folder, "one", "two", hidden=hidden) as on:
        two_files(on)
        settings = replace(both(on), trigger=AVAILABLE_NOW)
        settings = replace(settings, sinks=(replace(settings.sinks[0], format=format),))
        found = {"said": said(settings, on), "meanwhile": outcome(on.place, format)}
        try:
            write([rows_of(on.spark, 40)], str(folder / "storage" / "files" / "all"), format)
        except EddylineError as error:
            found["written"] = str(error)
        on.workers["two"].kill()
        return {**found, "then": said(settings, on), **outcome(on.place, format)}


def large(folder: Path) -> dict[str, Any]:
    """A set of many more bytes than its archive has, and sets whose archive is too large, for which the limit is lowered."""
    texts = {f"q{number}": f"SELECT id FROM quotes WHERE price > {number}.25" for number in range(6000)}
    with cluster(folder, "one", "two") as on:
        queries, place = ed.QuerySet.build(texts, streams=[QUOTES]), on.place
        queries.save(folder / "driver" / "saved")
        found: dict[str, Any] = {
            "bytes": sum(path.stat().st_size for path in (folder / "driver" / "saved").rglob("*")),
            "inside": counts_of(on, queries),
            "shared": counts_of(on, queries, folder=folder / "storage" / "sets"),
            # another set: the one above is open in the workers, wherever it is said to be
            "hidden": counts_of(on, queries.remove("q0"), folder=folder / "driver" / "sets"),
        }
        place.register(texts)
        place.write("0.json", quotes(0, 20))
        found |= ran("first", place.folder / "first", on)
        shipping.MAX_ARCHIVE = 1000
        # likewise, a version that no worker has open
        place.register({"none": "SELECT id FROM quotes WHERE price > 100000"})
        found["refused"] = counts_of(on, queries.remove("q1"))
        return found | ran("second", place.folder / "second", on) | ran("third", place.storage / "state", on)


def counts_of(on: Cluster, queries: ed.QuerySet, **options: Any) -> Any:
    """How many rows each query matches, those without any left out; or what stands in the way."""
    try:
        found = rows_of(on.spark, 40).transform(match(queries, explode=True, **options))
        return {row["query_id"]: row["count"] for row in found.groupBy("query_id").count().collect()}
    except Exception as error:
        return str(error)


def ran(name: str, checkpoint: Path, on: Cluster) -> dict[str, Any]:
    """What a pipeline with a checkpoint of its own says, and what it delivers into a folder of its own."""
    (sink,) = on.settings.sinks
    sinks = (replace(sink, path=str(on.folder / "storage" / name)),)
    settings = replace(on.settings, checkpoint=str(checkpoint), sinks=sinks, trigger=AVAILABLE_NOW)
    return {f"{name} said": said(settings, on), name: on.place.pairs(name)}


def said(settings: PipelineSettings, on: Cluster) -> str:
    """What a pipeline ended with, empty where it ended well."""
    try:
        run(settings, on.spark)
        return ""
    except EddylineError as error:
        return f"{type(error).__name__}: {error}"


CASES: dict[str, Callable[[Path], dict[str, Any]]] = {
    **{case.__name__: case for case in (short, cold, lost, late, blind, large)},
    **{f"split {format}": partial(split, format=format) for format in ("parquet", "csv")},
}

if __name__ == "__main__":
    case, folder = CASES[sys.argv[1]], Path(sys.argv[2])
    (folder / "found.json").write_text(json.dumps(case(folder)))
