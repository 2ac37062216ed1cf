"""The recipe of docs/spark.md for declarative pipelines, as `spark-pipelines` runs it: the registry's version is pinned."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddyline.runtime.spark.sessions.java import find_java
from tests.conftest import ROOT
from tests.missing import missing
from tests.spark.pipelines import Place

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long]
ENDS_WITHIN = 400  # seconds
RECIPE = re.compile(r"```py\n(from pyspark import pipelines.*?)```", re.DOTALL)
SPEC = """name: market
storage: {folder}/storage
libraries:
  - glob:
      include: transformations/**
configuration:
  spark.sql.session.timeZone: UTC
"""


def test_the_recipe(tmp_path: Path) -> None:
    for module in ("grpc", "yaml"):
        if find_spec(module) is None:
            missing(f"the package {module}, which spark-pipelines needs, is not installed")
    folder = tmp_path / "project"
    (folder / "transformations").mkdir(parents=True)
    recipe = RECIPE.search((ROOT / "docs" / "spark.md").read_text())
    assert recipe is not None and "VERSION = 7" in recipe[1]
    (folder / "transformations" / "matches.py").write_text(recipe[1].replace("VERSION = 7", "VERSION = 1"))
    (folder / "spark-pipeline.yml").write_text(SPEC.format(folder=folder.as_uri()))
    place = Place(folder)
    place.register({"low": "SELECT * FROM quotes WHERE price < 2"})
    place.register({"later": "SELECT * FROM quotes"})  # version 2, which the recipe does not ask for
    (folder / "registry.db").rename(folder / "market.db")
    (folder / "incoming").mkdir()
    rows = {"id": [0, 1, 9], "symbol": ["a", "b", "c"], "price": [0.0, 1.0, 9.0]}
    pq.write_table(pa.table(rows), folder / "incoming" / "a.parquet")

    done = subprocess.run(
        [Path(sys.executable).parent / "spark-pipelines", "run"],
        cwd=folder,
        env={
            **os.environ,
            "SPARK_TESTING": "1",  # any free port for the server of Spark Connect
            "SPARK_LOCAL_IP": "127.0.0.1",
            "JAVA_HOME": str(find_java().home),
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": str(ROOT / "src"),
        },
        capture_output=True,
        text=True,
        timeout=ENDS_WITHIN,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    matches = pq.read_table(folder / "spark-warehouse" / "matches").to_pylist()
    assert sorted((row["id"], row["query_ids"]) for row in matches) == [(0, ["low"]), (1, ["low"])]
    columns = pq.read_table(folder / "spark-warehouse" / "all_quotes").to_pylist()
    assert sorted((row["id"], row["query_ids"]) for row in columns) == [(0, ["low"]), (1, ["low"]), (9, [])]
