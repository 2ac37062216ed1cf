"""The same tests of `match` under Spark Connect, in a process of their own: one process has one kind of session.

What differs is how plans and results travel: one block of queries, a stream and a pipeline first, then all tests of `match`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRANSPORT = (
    "test_match_agreement.py::test_embedded_and_spark_agree[lists]",
    "test_match_streaming.py",
    "test_pipeline.py::test_files_in_results_out",
)
FILES = (
    "test_match.py",
    "test_match_column.py",
    "test_count.py",
    "test_match_agreement.py",
    "test_surroundings.py",
)

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long]


@pytest.mark.parametrize("names", [TRANSPORT, FILES], ids=["transport", "all"])
def test_match_under_connect(names: tuple[str, ...]) -> None:
    for module in ("grpc", "grpc_status", "google.rpc", "zstandard"):
        pytest.importorskip(module, reason="the packages of pyspark[connect] are not installed")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        + [f"tests/spark/{name}" for name in names],
        cwd=ROOT,
        env={
            **{n: v for n, v in os.environ.items() if not n.startswith("PYTEST_")},
            "EDDYLINE_TESTS": "connect",
        },
        capture_output=True,
        text=True,
        timeout=540,
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert " passed" in run.stdout and " skipped" not in run.stdout
