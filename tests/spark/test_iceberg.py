"""Iceberg for real, in a process with Spark 4.1, for which its jar is made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.jars import ICEBERG_FOR_SPARK, jars
from tests.spark.test_versions import ENDS_WITHIN, VERSIONS, installed

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    (jar,) = jars(ICEBERG_FOR_SPARK, alone=True).glob("*.jar")
    paths = [installed(VERSIONS[0]), ROOT / "src", ROOT]
    folder = tmp_path_factory.mktemp("iceberg")
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.iceberg_script", str(jar), str(folder)],
        cwd=ROOT,
        env={
            **{name: value for name, value in os.environ.items() if name != "SPARK_HOME"},
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
        },
        capture_output=True,
        text=True,
        timeout=ENDS_WITHIN,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    results: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return results


def test_a_table_has_every_batch_once(found: dict[str, Any]) -> None:
    assert found["batches"] == [
        [source, number, id]
        for source, number in (("quotes", 0), ("quotes", 1), ("trades", 1))
        for id in ("a", "b")
    ]


def test_a_stream_out_of_a_table(found: dict[str, Any]) -> None:
    assert found["pipeline"] == [
        [0, "low", '{"id":0}'],
        [0, "low", '{"id":1}'],
        [1, "low", '{"id":1}'],
    ]
