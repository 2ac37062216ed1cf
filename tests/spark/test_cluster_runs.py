"""A standalone cluster with two workers that have nothing of the driver but inputs and outputs: its checkpoint is hidden from them.

Each worker has a home and temporary files of its own, and one cannot write to its home.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cluster import Host, master, worker
from tests.conftest import ROOT
from tests.missing import missing
from tests.spark.pipelines import Place

pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
pytestmark = [pytest.mark.spark, pytest.mark.long]
ENDS_WITHIN = 600  # seconds, on a machine that does a lot else


def hiding(folder: Path, state: Path, *, read_only: bool) -> Host:
    """A host on which the state is an empty folder, and home and temporary files are its own."""
    home, temporary = folder / "home", folder / "tmp"
    for made in (home, temporary, state):
        made.mkdir(parents=True, exist_ok=True)
    steps = [f"mount -t tmpfs none '{state}'"]
    steps += [f"mount -t tmpfs -o ro none '{home}'"] if read_only else []
    script = " && ".join([*steps, 'exec "$@"'])
    return Host(
        "127.0.0.1",
        ("env", f"HOME={home}", f"TMPDIR={temporary}", "unshare", "-m", "sh", "-c", script, "sh"),
    )


def test_workers_that_see_nothing_of_the_driver(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or os.geteuid() != 0:
        missing("folders are hidden from processes by root and the program unshare (Debian: util-linux)")
    place = Place(tmp_path / "place")
    (place.folder / "quotes").mkdir(parents=True)
    state = tmp_path / "place" / "state"
    with ExitStack() as running:
        address = running.enter_context(master(tmp_path))

        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            host = hiding(tmp_path / name, state, read_only=name == "two")
            running.enter_context(worker(tmp_path / name, address, host))
        pids = _workers(tmp_path)
        shutil.rmtree(state)
        state.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "tests.spark.cluster_script", str(place.folder), address, *map(str, pids)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=ENDS_WITHIN,
        )
    assert done.returncode == 0, done.stderr[-5000:]
    found = json.loads((place.folder / "found.json").read_text())
    cheap, odd = list(range(8)), [id for id in range(40) if id % 3 == 1]
    assert found["match"] == [["cheap", id] for id in cheap] + [["odd", id] for id in odd]
    assert found["count"] == {"cheap": 8, "odd": len(odd)}
    wanted = [["cheap", id] for id in range(8)]
    wanted += [["odd 1", id] for id in range(6, 18) if id % 3 == 1]
    wanted += [["odd 2", id] for id in range(12, 18) if id % 3 == 1]
    assert sorted(found["pairs"]) == sorted(wanted)
    assert found["letters"] == ["{broken"]


def _workers(folder: Path) -> list[int]:
    """The processes of the workers."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_text()
        except OSError:
            continue
        if "deploy.worker.Worker" in command and str(folder) in command:
            found.append(int(path.name))
    return found
