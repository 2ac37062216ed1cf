"""`query enable --from-backtest`: what a query missed and what a pipeline delivers from then on are every match once."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from click.testing import Result
from pyarrow import parquet
from typer.testing import CliRunner

from eddyline import Stream
from eddyline.cli import app
from eddyline.delivery.json_text import json_lines
from eddyline.model.query_state import State
from eddyline.registry import Put, Registry, Set
from eddyline.runtime.spark.pipeline.pipeline import Pipeline
from eddyline.runtime.spark.versions import VersionLog
from eddyline.storage.local import LocalStorage
from tests.spark.pipelines import read_in_blocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
LATE = "SELECT symbol, price * 2 AS twice FROM quotes WHERE price >= 3"
FILES = 6

TOML = """
[pipeline]
name = "market"
registry = "registry.db"
checkpoint = "state"
trigger = "{trigger}"

[[source]]
name = "ticks"
stream = "quotes"
format = "{format}"
path = "in"
options = {{ maxFilesPerTrigger = 1 }}

[[sink]]
name = "results"
format = "parquet"
path = "out"
columns = "payload"
"""


class Place:
    """A pipeline over files, and a query that is not enabled yet."""

    def __init__(self, folder: Path, *, format: str, trigger: str = "available now") -> None:
        self.folder, self.format = folder, format
        (folder / "in").mkdir()
        self.toml = folder / "market.toml"
        self.toml.write_text(TOML.format(format=format, trigger=trigger))
        with Registry.open(folder / "registry.db") as registry:
            early = Put("early", "SELECT * FROM quotes WHERE price < 4")
            registry.change([early, Put("late", LATE, state=State.DISABLED)], streams=[QUOTES])

    def arrive(self, *numbers: int) -> None:
        for number in numbers:
            prices = [float(number + n) for n in range(4)]
            table = pa.table({"symbol": [f"{number}-{n}" for n in range(4)], "price": prices})
            path = self.folder / "in" / f"day {number} [x]%20.{self.format}"
            draft = path.with_name(f"_{number}")
            if self.format == "parquet":
                parquet.write_table(table, draft)
            else:
                draft.write_text(
                    "not a row\n" + "".join(f"{line}\n" for line in json_lines(table).to_pylist())
                )
            draft.rename(path)
            time.sleep(0.01)  # Spark takes files by their times

    def run(self, spark: SparkSession) -> None:
        Pipeline(self.toml).run(spark)

    def set(self, state: State) -> None:
        with Registry.open(self.folder / "registry.db") as registry:
            registry.change([Set("late", state=state)])

    def enable(self, out: str, *options: str, exit_code: int = 0) -> Result:
        command = [
            "query",
            "enable",
            "late",
            "--from-backtest",
            str(self.toml),
            "--out",
            str(self.folder / out),
        ]
        result = CliRunner().invoke(app, [*command, *options], catch_exceptions=False)
        assert result.exit_code == exit_code, result.output
        return result

    def delivered(self, folder: str) -> Counter[tuple[str, str]]:
        table = ds.dataset(self.folder / folder, format="parquet", partitioning="hive").to_table()
        found: list[dict[str, Any]] = [row for row in table.to_pylist() if row["query_id"] == "late"]
        assert all(row["query_revision"] == 1 and row["source"] == "ticks" for row in found)
        return Counter((row["tuple_key"], row["payload"]) for row in found)

    @property
    def last_batch(self) -> int:
        pin = VersionLog(LocalStorage(self.folder / "state" / "batches")).last("ticks")
        return -1 if pin is None else pin.batch_id


def payloads(found: Counter[tuple[str, str]]) -> Counter[tuple[str, float]]:
    rows = [json.loads(payload) for _, payload in found.elements()]
    return Counter((row["symbol"], row["twice"]) for row in rows)


EXPECTED = Counter(
    {(f"{number}-{n}", 2.0 * (number + n)): 1 for number in range(FILES) for n in range(4) if number + n >= 3}
)


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.1)


@pytest.mark.long
def test_a_pipeline_that_stands_still(spark: SparkSession, tmp_path: Path) -> None:
    place = Place(tmp_path, format="json")
    place.arrive(0, 1, 2)
    place.run(spark)
    told = json.loads(place.enable("before", "--json").stdout)
    assert told["sources"] == {"ticks": {"first": None, "missed": [[0, 2]]}} and told["changed"] == 1
    place.arrive(3, 4, 5)
    place.run(spark)
    before, since = place.delivered("before"), place.delivered("out")
    assert payloads(before) + payloads(since) == EXPECTED
    assert not before & since and max((before + since).values()) == 1 and told["matches"] == before.total()
    # asked once more, now that the batches have gone on, of files that are cut elsewhere
    with read_in_blocks(spark, 50):
        again = json.loads(place.enable("again", "--json").stdout)
    assert again["sources"] == {"ticks": {"first": 3, "missed": [[0, 2]]}} and again["changed"] == 0
    assert place.delivered("again") == before
    assert "is there already" in place.enable("again", exit_code=3).stderr


def test_a_pipeline_that_runs(spark: SparkSession, tmp_path: Path) -> None:
    place = Place(tmp_path, format="parquet", trigger="100 milliseconds")
    place.arrive(0, 1, 2)
    with Pipeline(place.toml).start(spark) as running:
        until(lambda: place.last_batch == 2)
        assert "no batch of ticks began" in place.enable("none", "--timeout", "0.3", exit_code=3).stderr
        more = Timer(0.5, place.arrive, [3, 4])
        more.start()
        told = json.loads(place.enable("before", "--json").stdout)
        more.join()
        place.arrive(5)
        until(lambda: place.last_batch == 5)
    assert running.exception is None
    assert told["sources"]["ticks"] == {"first": 3, "missed": [[0, 2]]}
    before, since = place.delivered("before"), place.delivered("out")
    assert payloads(before) + payloads(since) == EXPECTED and not before & since


def test_what_was_delivered_once_is_not_found_again(spark: SparkSession, tmp_path: Path) -> None:
    place = Place(tmp_path, format="parquet")
    for number, state in enumerate(
        (State.SHADOW, State.ENABLED, State.ENABLED, State.DISABLED, State.SHADOW)
    ):
        place.set(state)
        place.arrive(number)
        place.run(spark)
    told = json.loads(place.enable("before", "--json").stdout)
    assert told["sources"]["ticks"] == {"first": None, "missed": [[0, 0], [3, 4]]}
    place.arrive(5)
    place.run(spark)
    before, since = place.delivered("before"), place.delivered("out")
    assert payloads(before) + payloads(since) == EXPECTED and not before & since


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--tag", "x"), "one query"), (("--registry", "other.db"), "leave out --registry")],
)
def test_refused(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    place = Place(tmp_path, format="parquet")
    assert message in " ".join(place.enable("out", *options, exit_code=2).stderr.replace("│", " ").split())


def test_a_source_that_cannot_be_read_again_is_refused_before_anything_changes(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = Place(tmp_path, format="rate")
    assert "format rate cannot be read again" in place.enable("before", exit_code=3).stderr
    with Registry.open(tmp_path / "registry.db") as registry:
        found = registry.entry("late")
    assert found is not None and found.state is State.DISABLED
