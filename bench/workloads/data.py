"""Where data lies that is not ours to copy: beside the repository, or where EDDYLINE_TEST_DATA says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_BESIDE: Final = Path(__file__).parents[3] / "shared" / "data"


def beside(name: str) -> Path | None:
    """The folder of one set of data, if it is there."""
    found = Path(os.environ.get("EDDYLINE_TEST_DATA", _BESIDE)) / name
    return found if found.is_dir() else None
