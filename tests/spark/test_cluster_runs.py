"""A standalone cluster whose workers have nothing of the driver: only inputs and results lie where all see them.

Each worker has a home and temporary files of its own, and one cannot write to its home. What they do is in `cluster_script.py`.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.processes import PYTHONPATH, ROOT

pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
pytestmark = pytest.mark.spark
ENDS_WITHIN = 600  # seconds, on a machine that does a lot else
CHEAP = range(8)


def case(name: str, folder: Path) -> dict[str, Any]:
    """What comes of a case of the script."""
    temporary = folder / "driver" / "tmp"
    temporary.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.cluster_script", name, str(folder)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=ENDS_WITHIN,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    found: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return found


def matched(query: str, ids: range, letter: str = "abc") -> list[list[Any]]:
    """What a query for some letters finds among quotes."""
    return [[query, id] for id in ids if "abc"[id % 3] in letter]


def check_matches(found: dict[str, Any]) -> None:
    assert found["match"] == matched("cheap", CHEAP) + matched("odd", range(40), "b")
    assert found["count"] == {"cheap": len(CHEAP), "odd": len(matched("odd", range(40), "b"))}
    assert found["took part"] == ["one", "two"]


def check_delivered(found: dict[str, Any], wanted: list[list[Any]]) -> None:
    """Each result is there once, and counted once; so is the line that cannot be read."""
    assert found["pairs"] == sorted(wanted) and wanted
    assert found["counters"] == Counter(query for query, _ in wanted)
    assert found["letters"] == ["{broken"]


def test_matches_counts_and_a_pipeline(tmp_path: Path) -> None:
    """A query comes while the pipeline runs, and in the batch after it a Python worker is killed."""
    found = case("short", tmp_path)
    check_matches(found)
    check_delivered(found, matched("cheap", CHEAP) + matched("odd 1", range(6, 12), "b"))


@pytest.mark.long
def test_hosts_on_which_nothing_is_compiled(tmp_path: Path) -> None:
    """The first worker of each compiles, while queries come; Python workers and an executor are killed."""
    found = case("cold", tmp_path)
    check_matches(found)
    odd = [matched(f"odd {number}", range(6 * number, 24), "b") for number in (1, 2, 3)]
    check_delivered(found, sum(odd, matched("cheap", CHEAP)))


@pytest.mark.long
def test_a_worker_is_lost_in_the_middle_of_a_batch(tmp_path: Path) -> None:
    check_delivered(case("lost", tmp_path), matched("odd", range(12), "b"))


@pytest.mark.long
def test_a_worker_that_joins_late_takes_part(tmp_path: Path) -> None:
    check_delivered(case("late", tmp_path), matched("odd", range(12), "b"))


@pytest.mark.long
def test_inputs_that_a_worker_does_not_see_are_not_damaged(tmp_path: Path) -> None:
    """The pipeline says so and sets no file aside: where workers see them, all rows count."""
    found = case("blind", tmp_path)
    assert "FileError: a worker of Spark does not see" in found["said"] and "quotes/" in found["said"]
    assert found["meanwhile"] == {"pairs": [], "letters": [], "counters": {}}
    assert found["then"] == ""
    check_delivered(found, matched("odd", range(12), "b"))


@pytest.mark.long
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_results_that_went_to_a_disk_of_a_worker_are_missed(tmp_path: Path, format: str) -> None:
    """Such a batch is not delivered in part: the pipeline says so, and delivers all of it later. So does a command."""
    found = case(f"split {format}", tmp_path)
    assert found["said"].startswith("DeliveryError") and "share" in found["said"]
    assert 'all" is not complete' in found["written"]
    assert found["meanwhile"]["pairs"] == [] and found["then"] == ""
    check_delivered(found, matched("odd", range(12), "b"))


@pytest.mark.long
def test_large_sets(tmp_path: Path) -> None:
    """They travel packed, in closures; one that is too large for that has to be where workers see it, and they say so."""
    found = case("large", tmp_path)
    assert found["bytes"] > 8 << 20
    wanted = {f"q{n}": sum(id / 2 > n + 0.25 for id in range(40)) for n in range(20)}
    assert found["inside"] == found["shared"] == {id: rows for id, rows in wanted.items() if rows}
    assert f"a folder that {socket.gethostname()} does not see" in found["hidden"]
    assert "too large to travel inside the plan" in found["refused"]
    pairs = sorted([f"q{n}", id] for n in range(20) for id in range(20) if id / 2 > n + 0.25)
    assert (found["first said"], found["first"]) == ("", pairs)
    assert "does not see" in found["second said"] and found["second"] == []
    assert (found["third said"], found["third"]) == ("", pairs)
