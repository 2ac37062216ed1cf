"""The console script: importing is kept cheap, and whoever asks for pandas still gets it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest


def answer(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_it_is_what_pip_installs() -> None:
    (script,) = entry_points(group="console_scripts", name="eddyline")
    assert script.value == "eddyline_command:main"
    done = subprocess.run(
        [sys.executable, "-m", "eddyline_command", "--version"], capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.startswith("eddyline ")


def test_pyarrow_does_not_import_pandas_by_itself() -> None:
    pytest.importorskip("pandas")
    hide = "import sys, eddyline_command as c; c._hide_pandas_from_pyarrow(); import pyarrow as pa; "
    look = "import numpy as np; pa.array(['a']); np.asarray(pa.array([1])); print('pandas' in sys.modules); "
    use = "print(pa.table({'a': [1]}).to_pandas().shape); import pandas as pd; print(len(pa.array(pd.Series([1]))))"
    assert answer(hide + look + use).split("\n")[:3] == ["False", "(1, 1)", "1"]
    assert answer("import sys, pyarrow as pa; pa.array(['a']); print('pandas' in sys.modules)") == "True\n", (
        "pyarrow has stopped importing pandas: there is nothing to be hidden any more"
    )
