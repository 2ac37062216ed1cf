"""What tests of pipelines share."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.delivery.retry import Patience
from eddyline.runtime.spark.pipeline import supervision
from eddyline.runtime.spark.pipeline.batch import run as batches
from tests.spark.pipelines import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for a pipeline, with one for its quotes."""
    (tmp_path / "quotes").mkdir()
    return Place(tmp_path)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses before another attempt are for the world outside."""
    short = Patience(attempts=3, first=0.01, longest=0.02)
    monkeypatch.setattr(supervision, "PAUSES", short)
    monkeypatch.setattr(batches, "PATIENCE", short)
