"""Where the large test data lies: beside the repository, or where EDDYLINE_TEST_DATA says."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

from tests.missing import missing

_BESIDE = Path(__file__).parents[3] / "shared" / "data"


def folder(name: str) -> Path:
    """The folder of one data set; the test is skipped where it is not there."""
    found = Path(os.environ.get("EDDYLINE_TEST_DATA", _BESIDE)) / name
    if not found.is_dir():
        missing(f"test data {name} is not here (set EDDYLINE_TEST_DATA)")
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
