"""Where a pipeline works whose state lies elsewhere: a folder of its own, which is gone afterwards, also after a kill."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eddyline.runtime.spark.transport.own_folder import own_folder
from eddyline.runtime.spark.versions.working_folder import FOLDER, WorkingFolder

WORK = """
import sys
from types import SimpleNamespace
from eddyline.runtime.spark.versions.working_folder import WorkingFolder
folder = WorkingFolder.of(SimpleNamespace(path=None, storage=None))
(folder.path / "sets").mkdir()
(folder.path / "sets" / "segment").write_text("large")
print(folder.path, flush=True)
sys.stdin.read()
"""


def made() -> WorkingFolder:
    elsewhere: Any = SimpleNamespace(path=None, storage=None)
    return WorkingFolder.of(elsewhere)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def left() -> set[Path]:
    return {path for path in own_folder(FOLDER).iterdir() if path.is_dir()}


def test_each_has_its_own_which_is_gone_when_it_is_not_used_any_more() -> None:
    one, other = made(), made()
    assert one.path != other.path and left() == {one.path, other.path}
    del one
    gc.collect()
    assert left() == {other.path}


def test_a_killed_process_leaves_nothing_for_long(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", WORK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        mine = made()
        assert left() == {theirs, mine.path}, "it lives"
        other.kill()
        other.wait()
    again = made()
    assert left() == {mine.path, again.path}
