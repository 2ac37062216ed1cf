"""`eddyline run` and `eddyline pipeline`: the plan, the run, and what is known of it afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from eddyline.cli import app
from eddyline.registry import Put
from tests.spark.pipelines import Place, quotes

if TYPE_CHECKING:
    from click.testing import Result
    from pyspark.sql import SparkSession

SETTINGS = """
[pipeline]
name = "market"
registry = "registry.db"
checkpoint = "state"

[session]
"spark.hadoop.some.secret.key" = "${env:HUSH}"

[[source]]
name = "quotes"
format = "json"
path = "quotes"
options = { maxFilesPerTrigger = 1, apiToken = "hush-token" }

[[sink]]
name = "results"
format = "parquet"
path = "out"
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("HUSH", "hush-environment")
    place = Place(tmp_path)
    place.register(
        [
            Put("cheap", "SELECT id FROM quotes WHERE price < 1"),
            Put("lost", "SELECT id FROM quotes WHERE price < 1", destination="reslts"),
        ]
    )
    place.write("a.json", quotes(0))
    (tmp_path / "market.toml").write_text(SETTINGS)
    return place


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def document(*arguments: object, code: int = 0) -> dict[str, Any]:
    result = call(*arguments, "--json")
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_dry_run(spark: SparkSession, place: Place) -> None:
    before = sorted(place.folder.rglob("*"))
    plan = document("run", place.folder / "market.toml", "--dry-run", code=1)
    text = call("run", place.folder / "market.toml", "--dry-run").output
    assert sorted(place.folder.rglob("*")) == before, "nothing is made"
    assert "hush" not in text and "hush" not in json.dumps(plan)
    assert (plan["queries"], plan["goes_on"], plan["version"]) == (2, False, 1)
    assert plan["without_sink"] == {"lost": 'the destination "reslts" has no sink; did you mean "results"?'}
    (source,) = plan["sources"]
    assert (source["sent"], source["options"]["apiToken"]) == (["id", "price", "at"], "***")
    assert "MapInArrow" in source["spark_plan"]
    assert plan["sinks"][0]["guarantee"] == "exactly once"
    assert 'source "quotes"' in text and "exactly once" in text and "lost: the destination" in text


def test_run_and_look(spark: SparkSession, place: Place) -> None:
    file = place.folder / "market.toml"
    assert "has not run yet" in call("pipeline", "status", file).output

    run = call("run", file, "--available-now", "--log", place.folder / "log.jsonl")
    assert run.exit_code == 0, run.output
    assert "1 batch, 6 rows, 4 matches, 2 rows delivered, 2 dead letters" in run.output
    assert place.pairs() == [("cheap", 0), ("cheap", 1)]
    assert "hush" not in (place.folder / "log.jsonl").read_text()

    (batch,) = document("pipeline", "batches", file)["batches"]["quotes"]
    assert (batch["batch_id"], batch["version"], batch["rows"], batch["matches"]) == (0, 1, 6, 4)
    assert [order["words"] for order in batch["orders"]] == ["price"]
    shown = call("pipeline", "batches", file).output
    assert "quotes      0        1" in shown and "price, sliced" in shown
    assert call("pipeline", "batches", file, "--source", "none").exit_code == 3
    status = document("pipeline", "status", file)
    assert status["running"] is None and status["sources"]["quotes"]["batch_id"] == 0
    assert "batch 0 with version 1" in call("pipeline", "status", file).output

    again = document("run", file, "--once")
    assert again["totals"]["sources"] == {} and again["sources"]["quotes"]["state"] == "ended"


def test_failures_are_told(spark: SparkSession, place: Place) -> None:
    file = place.folder / "market.toml"
    file.write_text(SETTINGS.replace('path = "quotes"', 'path = "elsewhere"'))
    result = call("run", file)
    assert result.exit_code == 3
    assert 'source "quotes": there is no folder' in result.output
    assert call("run", place.folder / "none.toml").exit_code == 3
    assert call("run").exit_code == 2
