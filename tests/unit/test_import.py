"""The package can be imported wherever Python runs."""

from __future__ import annotations

import subprocess
import sys


def test_import_where_there_are_no_standard_files() -> None:
    """In a notebook stdout is no file, and behind a desktop there is none at all."""
    code = "import io, sys; sys.stdin, sys.stdout = None, io.StringIO(); import eddyline; eddyline.Engine"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
