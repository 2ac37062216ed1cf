"""Structured logs: every line is JSON, no line has a secret."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from eddyline.errors import FileError
from eddyline.runtime.spark.watching.logs import event, structured

LOG = logging.getLogger("eddyline.some.part")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_events_have_fields(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with structured(path):
        event(LOG, "batch", batch_id=3, sinks={"out": 2}, folder=tmp_path, at="never")
        LOG.debug("too fine")
        LOG.warning("about %s\nin two lines", "this")
    first, second = lines(path)
    assert (first["level"], first["logger"], first["message"]) == ("info", "eddyline.some.part", "batch")
    assert (first["batch_id"], first["sinks"], first["folder"]) == (3, {"out": 2}, str(tmp_path))
    assert first["at"] != "never", "when it was logged, whatever the event says"
    assert second["message"] == "about this\nin two lines"


def test_errors_have_their_trace(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with structured(path):
        try:
            raise ValueError("no such thing")
        except ValueError:
            LOG.exception("it went wrong")
    assert lines(path)[0]["error"] == "ValueError: no such thing"
    assert "Traceback" in lines(path)[0]["trace"]


def test_secrets_are_masked_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with structured(path, secrets=["hush", "hush-hush", ""]):
        try:
            raise OSError("login with hush refused")
        except OSError:
            LOG.exception("for %s", "hush-hush", extra={"fields": {"deep": [{"hush": ("a hush b",)}]}})
    text = path.read_text()
    assert "hush" not in text and "***" in text
    assert lines(path)[0]["deep"] == [{"***": ["a *** b"]}]


def test_standard_error_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    with structured():
        event(LOG, "hello")
    assert json.loads(capsys.readouterr().err)["message"] == "hello"
    assert logging.getLogger("eddyline").handlers == [] and logging.getLogger("eddyline").propagate


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot take the log"), structured(tmp_path):
        pass
