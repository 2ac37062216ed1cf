"""`eddyline demo` on Spark, small, as its users start it: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

import eddyline as ed
from eddyline.runtime.spark.watching import Metrics


@pytest.mark.spark
@pytest.mark.long
def test_the_demo_ends_with_every_result_there_once(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    folder = tmp_path / "demo"
    words = ["demo", "--out", str(folder), "--seconds", "4", "--queries", "400", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", "from eddyline.cli import main; main()", *words],
        capture_output=True,
        text=True,
        timeout=400,
        env=_without_java(tmp_path),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["exactly_once"] and found["results"] == found["expected"] > 20
    assert found["batches"] == found["files"] >= 4
    broken = 3 * (found["files"] // 4)
    assert found["steady_rows_per_second"] > 0 and found["seconds_to_first_batch"] > found["seconds_to_start"]
    assert found["rows"] == 100_000 * found["files"] + broken and found["dead_letters"] == broken
    assert found["changes"], "somebody changed queries on the way"
    assert Metrics(folder / "state" / "metrics.jsonl").totals.count("matches") == found["matches"]
    with ed.Registry.open(folder / "registry.db") as registry:
        assert registry.version == found["changes"][-1]["version"]
        counted = sum(counts["matches"] for counts in registry.counters().values())
    assert counted == found["matches"]
    xml.etree.ElementTree.parse(folder / "demo.svg")


def _without_java(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody who has never installed Java: every folder of the path without it."""
    folders = []
    for number, folder in enumerate(map(Path, os.environ["PATH"].split(os.pathsep))):
        if (folder / "java").exists():
            copy = tmp_path / f"bin-{number}"
            copy.mkdir()
            for program in folder.iterdir():
                if program.name != "java":
                    (copy / program.name).symlink_to(program)
            folder = copy
        folders.append(str(folder))
    kept = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    return {**kept, "PATH": os.pathsep.join(folders)}
