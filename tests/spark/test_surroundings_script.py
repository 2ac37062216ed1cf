"""Secrets in all settings of a pipeline, and workers without the package, in a process with sessions of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.long]
ENDS_WITHIN = 300  # seconds, on a machine that does a lot else
MARK = "hush-Pa55&word"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("surroundings")


@pytest.fixture(scope="module")
def seen(folder: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.surroundings_script", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HUSH": MARK},
        capture_output=True,
        text=True,
        timeout=ENDS_WITHIN,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return done


@pytest.fixture
def found(seen: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(seen.stdout.splitlines()[-1])
    return found


def test_no_secret_is_shown(found: dict[str, Any], seen: subprocess.CompletedProcess[str]) -> None:
    """Not by the dry run, nor by a run that fails of it, nor by metrics, status, settings or Java's own output."""
    secrets = found["secrets"]
    assert "apiToken = ***" in secrets["plan"] and "plain = ***" in secrets["plan"]
    assert "spark.hadoop.some.plain.name = ***" in secrets["plan"]
    for text in (secrets["failure"], secrets["log"]):
        assert 'sink "results" did not take batch 0' in text and "codec *** is not available" in text.lower()
    assert "# HELP eddyline_" in seen.stdout, "metrics were read"
    assert 'the registry "***" is' in secrets["damaged"]
    for text in (seen.stdout, seen.stderr):
        assert MARK.lower() not in text.lower()


def test_no_secret_is_kept(seen: subprocess.CompletedProcess[str], folder: Path) -> None:
    """Not in the checkpoint, Spark's part of it, the log, the metrics, outputs or dead letters."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"eddyline.json", "secrets.jsonl", "metadata"} <= {path.name for path in files}
    assert [path for path in files if MARK.lower().encode() in path.read_bytes().lower()] == []


def test_workers_without_the_package(found: dict[str, Any]) -> None:
    """The pipeline says so at once, with what to do; `match` fails in the user's own job, with the same words."""
    workers = found["workers"]
    lacking = 'the workers of Spark have no package "eddyline": '
    assert workers["cold"].startswith(f"EddylineError: {lacking}") and "--py-files" in workers["cold"]
    assert lacking in workers["warm"] and "--py-files" in workers["warm"]
    assert "cannot import eddyline: No module named 'eddyline'" in workers["match"]
    assert "hint: install there the eddyline that the driver has" in workers["match"]


def test_the_package_handed_over(found: dict[str, Any]) -> None:
    """As --py-files does it; the pipeline then goes on where it failed."""
    assert found["workers"]["handed over"] == [1, 2]
    assert found["workers"]["results"] == [["all", 1], ["all", 2]]
