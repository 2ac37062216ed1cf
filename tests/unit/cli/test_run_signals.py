"""`eddyline run` and signals: whenever one comes, it asks for a stop, and interrupts nothing."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from eddyline.cli import app
from eddyline.cli.output.terminal import Exit
from eddyline.runtime.spark.pipeline import pipeline
from eddyline.runtime.spark.watching import BatchReport

SETTINGS = """
[pipeline]
name = "market"
registry = "registry.db"
checkpoint = "state"
prometheus = "0.0.0.0:9108"

[[source]]
name = "quotes"
format = "json"
path = "quotes"

[[sink]]
name = "results"
format = "console"
"""


class Running:
    """A pipeline that ends once it is asked to; signals come while its reports are read."""

    def __init__(self, signals: list[signal.Signals]) -> None:
        self.problems: dict[str, str] = {}
        self.endpoint = None
        self.asked: list[bool] = []
        self.closed = False
        self._signals = signals

    def follow(self) -> Running:
        return self

    def read(self) -> Iterator[BatchReport]:
        while self._signals:
            signal.raise_signal(self._signals.pop())
            yield BatchReport(source="quotes", batch_id=1, version=1, queries=1, rows=7)

    def await_termination(self, timeout: float) -> bool:
        self.closed = bool(self.asked)
        return self.closed

    def ask_to_stop(self, *, now: bool = False) -> None:
        self.asked.append(now)

    def stop(self, *, now: bool = False, timeout: float | None = None) -> bool:
        self.ask_to_stop(now=now)
        return True


@pytest.mark.parametrize("one", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_reports_are_read(
    one: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Running([one])
    monkeypatch.setattr(pipeline, "Pipeline", lambda _: SimpleNamespace(start=lambda: running))
    file = tmp_path / "market.toml"
    file.write_text(SETTINGS)
    before: Any = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]

    result = CliRunner().invoke(app, ["run", str(file), "--no-view"])

    assert result.exit_code == Exit.FINE, result.output
    assert "starting Spark; health at http://127.0.0.1:9108/healthz" in result.output
    assert "stopping after the batch" in result.output and "1 batch, 7 rows" in result.output
    assert running.asked[0] is False and running.closed
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
