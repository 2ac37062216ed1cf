"""The versions of Spark that are supported, each installed by pip into the user's cache; skipped where that cannot be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.missing import missing

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long]
VERSIONS = ("4.1.4", "4.2.0", "4.3.0")
INSTALLED_WITHIN = 600  # seconds: some 450 MB
ENDS_WITHIN = 400


def installed(version: str) -> Path:
    """A folder with just this pyspark."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eddyline-tests" / "pyspark"
    target = cache / version
    if target.is_dir():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".draft-") as draft:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", f"{draft}/in"]
        try:
            subprocess.run(
                [*command, f"pyspark=={version}"], check=True, capture_output=True, timeout=INSTALLED_WITHIN
            )
        except subprocess.SubprocessError as error:
            missing(f"pyspark {version} cannot be installed by pip: {error}")
        try:
            Path(draft, "in").rename(target)
        except OSError:  # another process was first
            if not target.is_dir():
                raise
    return target


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_of_spark(version: str, tmp_path: Path) -> None:
    paths = [installed(version), ROOT / "src", ROOT]
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.versions_script", str(tmp_path)],
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
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["pyspark"] == version
    assert found["dataframes"] == {
        "lists": [["cheap", "a"]],
        "rows": [["cheap", "a"]],
        "column": [["cheap", "a"], []],
        "count": [["a", 1], ["cheap", 1]],
    }
    first = [["low", id] for id in range(4)]
    assert found["pipeline"] == {"first": first, "replayed": [["all", 6], *first]}
