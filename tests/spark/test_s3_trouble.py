"""Stores that fail, each in its own way: what the pipeline says, and that nothing is lost or twice afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.jars import S3_FOR_SPARK, spark_jars
from tests.processes import PYTHONPATH, ROOT

pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
pytestmark = [pytest.mark.spark, pytest.mark.long]
ENDS_WITHIN = 600  # seconds, on a machine that does a lot else
BOTH = list(range(4, 12))  # of two files


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What became of the pipelines."""
    spark_jars(*S3_FOR_SPARK)  # skips where they cannot be had
    folder = tmp_path_factory.mktemp("trouble")
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.s3_trouble_script", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=ENDS_WITHIN,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    results: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return results


@pytest.mark.parametrize("name", ["refuses", "is busy", "is away", "denies writing"])
def test_a_store_that_fails(found: dict[str, Any], name: str) -> None:
    """The run ends with an error of ours that names the address; the next run does all of the work."""
    case = found[name]
    assert case["said"].startswith("FileError: ") and f"s3a://bucket/{name.replace(' ', '-')}" in case["said"]
    assert "is damaged" not in case["said"], "nothing is, and a new checkpoint would deliver everything again"
    assert (case["after"], case["results"]) == ("", BOTH)


def test_a_store_that_is_slow(found: dict[str, Any]) -> None:
    assert found["is slow"] == {"said": "", "after": "", "results": BOTH}


def test_a_store_that_lists_late(found: dict[str, Any]) -> None:
    """Spark's own checkpoint may fail there, on a folder that it has just made; nothing is lost or twice for it."""
    assert (found["lists late"]["after"], found["lists late"]["results"]) == ("", BOTH)


def test_a_store_that_disappears_for_a_while(found: dict[str, Any]) -> None:
    assert found["away for a while"] == {"said": "", "results": [4, 5]}


def test_two_owners(found: dict[str, Any]) -> None:
    case = found["two owners"]
    assert "the state in s3a://bucket/two-owners/state is used by process" in case["said"]
    assert (case["after"], case["results"]) == ("", [4, 5])


def test_a_checkpoint_that_was_moved(found: dict[str, Any]) -> None:
    """It goes on where it was: no row again, none left out."""
    assert found["moved"] == {"said": "", "after": "", "results": BOTH}


def test_a_bucket_that_does_not_exist(found: dict[str, Any]) -> None:
    assert found["no bucket"].startswith("FileError: ") and "s3a://none/state" in found["no bucket"]


def test_credentials_that_are_missing(found: dict[str, Any]) -> None:
    assert (
        found["no credentials"].startswith("FileError: ") and "s3a://locked/state" in found["no credentials"]
    )
