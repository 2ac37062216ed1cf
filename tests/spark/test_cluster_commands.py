"""Commands on a standalone cluster whose workers see inputs and results, and nothing else of where the commands run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tests.cluster import master, worker_apart
from tests.processes import PYTHONPATH
from tests.spark.pipelines import Place, quotes
from tests.spark.test_backtest import EXISTING, TESTED, history, queries
from tests.spark.test_match_command import LISTS, rows_of, table_in

pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
pytestmark = [pytest.mark.spark, pytest.mark.long]
ENDS_WITHIN = 300  # seconds, on a machine that does a lot else
SESSION = {
    "spark.driver.memory": "600m",
    "spark.executor.memory": "600m",
    "spark.sql.shuffle.partitions": "2",
}


@dataclass(frozen=True)
class Ground:
    """Where commands run, and a cluster."""

    driver: Path  # hidden from the workers
    storage: Path
    master: str

    @property
    def on_spark(self) -> list[str]:
        """Options of commands that run on the cluster."""
        settings = {"spark.master": self.master, **SESSION}
        return [
            "--runtime",
            "spark",
            *(word for key, value in settings.items() for word in ("--spark", f"{key}={value}")),
        ]

    def run(self, *words: str) -> str:
        """What a command prints."""
        own = {"TMPDIR": str(self.driver), "PYTHONPATH": PYTHONPATH}
        done = subprocess.run(
            [sys.executable, "-m", "eddyline_command", *words],
            cwd=self.driver,
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            timeout=ENDS_WITHIN,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    folder = tmp_path_factory.mktemp("cluster")
    driver, storage = folder / "driver", folder / "storage"
    (storage / "history" / "b").mkdir(parents=True)
    with ExitStack() as running:
        address = running.enter_context(master(folder))
        for name in ("one", "two"):
            own = worker_apart(folder / name, address, driver, read_only_home=name == "two")
            running.enter_context(own)
        table = history(9000)
        for name, first, count in (("b/x.parquet", 0, 2500), ("c d.parquet", 2500, 6500)):
            parquet.write_table(table.slice(first, count), storage / "history" / name, row_group_size=700)
        yield Ground(driver, storage, address)


def test_match(ground: Ground) -> None:
    """Counts, pairs, and the rows of several SELECT lists."""
    rules = [
        {"id": id, "sql": f"SELECT {LISTS[n % len(LISTS)]} FROM quotes WHERE {text}"}
        for n, (id, text) in enumerate(TESTED.items())
    ]
    (ground.driver / "rules.jsonl").write_text("\n".join(map(json.dumps, rules)))
    words = ["match", "--queries", "rules.jsonl", "-s", f"quotes={ground.storage / 'history'}", "--json"]
    found: dict[str, Any] = {}
    for runtime, more in (("embedded", []), ("spark", ground.on_spark)):
        out = ground.storage / runtime
        pairs = ground.run(*words, *more, "--output", "pairs", "--out", f"{out}-pairs.parquet")
        ground.run(*words, *more, "--out", f"{out}-rows/", "--format", "csv")
        tables = sorted(path for path in Path(f"{out}-rows").iterdir() if path.name[0] not in "._")
        found[runtime] = (
            json.loads(pairs)["counts"],
            rows_of(table_in(Path(f"{out}-pairs.parquet"))),
            {table.name: rows_of(table_in(table)) for table in tables},
        )
    assert found["spark"] == found["embedded"]
    counts, pairs_found, tables_found = found["spark"]
    assert counts["all"] == 9000 and pairs_found.total() > 9000 and len(tables_found) == len(LISTS)


def test_backtest(ground: Ground) -> None:
    new, old = queries(ground.driver / "new.jsonl", TESTED), queries(ground.driver / "old.jsonl", EXISTING)
    words = ["backtest", new, "--stream", f"quotes={ground.storage / 'history'}", "--against", old, "--json"]
    here = json.loads(ground.run(*words))
    assert here["rows"] == 9000 and any(query["overlaps"] for query in here["queries"])
    assert json.loads(ground.run(*words, *ground.on_spark)) == here


def test_run(ground: Ground) -> None:
    """Twice, with a change of queries between; dead letters go where results do."""
    place = Place(ground.driver, ground.storage)
    place.register({"cheap": "SELECT id, price FROM quotes WHERE price < 4"})
    place.write("a.json", quotes(0), "{broken")
    session = "".join(f'"{key}" = "{value}"\n' for key, value in SESSION.items())
    (ground.driver / "market.toml").write_text(
        f"""
        [pipeline]
        name = "market"
        registry = "registry.db"
        checkpoint = "state"
        dead_letters = "{ground.storage / "dead"}"
        [session]
        master = "{ground.master}"
        {session}
        [[source]]
        name = "quotes"
        format = "json"
        path = "{ground.storage / "quotes"}"
        [[sink]]
        name = "results"
        format = "parquet"
        path = "{ground.storage / "out"}"
        """
    )
    words = ["run", "market.toml", "--available-now", "--no-view"]
    ground.run(*words)
    place.register({"odd": "SELECT id, price FROM quotes WHERE symbol = 'b'"})
    place.write("b.json", quotes(6))
    place.write("c.json", quotes(12))
    assert "12 rows" in ground.run(*words)
    odd = [("odd", id) for id in range(6, 18) if id % 3 == 1]
    assert place.pairs() == [("cheap", id) for id in range(8)] + odd
    letters = [
        line
        for file in (ground.storage / "dead").rglob("part-*.json")
        for line in file.read_text().splitlines()
    ]
    assert [json.loads(letter)["text"] for letter in letters] == ["{broken"]
