"""A progress bar on standard error, for work that takes long, where a terminal shows it."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from eddyline.runtime.embedded.sources import Progress

PATIENCE: Final = 1.0  # seconds before the bar appears


class Bar:
    """Shows how far files are read. On anything but a terminal, and for quick work, it shows nothing."""

    def __init__(self) -> None:
        self._wanted = sys.stderr.isatty()
        self._started = time.monotonic()
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def __call__(self, progress: Progress) -> None:
        """What a reader reports."""
        if not self._wanted or (self._bar is None and time.monotonic() - self._started < PATIENCE):
            return
        bar = self._bar or self._open(progress)
        assert self._task is not None, "the bar is open"
        name = progress.file if len(progress.file) <= 30 else f"...{progress.file[-27:]}"
        bar.update(
            self._task,
            completed=progress.bytes,
            total=progress.total,
            description=name,
            rows=f"{progress.rows:,} rows",
        )

    def _open(self, progress: Progress) -> RichProgress:
        known = progress.total is not None
        columns = [BarColumn(), DownloadColumn(), TimeRemainingColumn()] if known else [SpinnerColumn()]
        self._bar = RichProgress(
            TextColumn("{task.description}", markup=False),
            *columns,
            TextColumn("{task.fields[rows]}"),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._task = self._bar.add_task("", total=progress.total, rows="")
        self._bar.start()
        return self._bar

    def restart(self) -> None:
        """The next source begins."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.restart()
