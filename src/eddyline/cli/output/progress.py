"""What a command shows of a job while it works: notes and findings, and how far it is where a terminal shows it."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress

from eddyline.cli.output.findings import show_finding
from eddyline.cli.output.terminal import Printer, note
from eddyline.runtime.embedded.sources import Progress
from eddyline.service.findings import Finding
from eddyline.service.watcher import Watcher

PATIENCE: Final = 1.0  # seconds before the bar appears


class _Bar:
    """A line that shows how far something is, until it makes room for something else."""

    def __init__(self) -> None:
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is to be seen."""
        return self._bar is not None

    def open(self, *columns: ProgressColumn, total: int | None) -> None:
        """Let it be seen."""
        self._bar = RichProgress(*columns, console=Console(file=sys.stderr), transient=True)
        self._task = self._bar.add_task("", total=total, rows="")
        self._bar.start()

    def update(self, **fields: Any) -> None:
        """Move on."""
        assert self._bar is not None and self._task is not None, "the bar is open"
        self._bar.update(self._task, **fields)

    def close(self) -> None:
        """Leave nothing behind."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


class Terminal(Watcher):
    """Tells people on standard error; standard output stays for results."""

    def __init__(self) -> None:
        self._is_watched = sys.stderr.isatty()
        self._started = time.monotonic()
        self._bar = _Bar()

    def note(self, text: str) -> None:
        """A line."""
        note(text)

    def finding(self, finding: Finding) -> None:
        """With place, picture and hint."""
        show_finding(finding, Printer(errors=True))

    def stage(self, text: str) -> None:
        """For somebody who waits at a terminal."""
        if self._is_watched:
            note(f"Spark: {text}")

    def source(self) -> None:
        """The bar begins anew."""
        self._bar.close()

    def progress(self, progress: Progress) -> None:
        """A bar for files, from the first second on that it takes."""
        if not self._is_watched:
            return
        if not self._bar.is_open:
            if time.monotonic() - self._started < PATIENCE:
                return
            known = progress.total is not None
            columns = [BarColumn(), DownloadColumn(), TimeRemainingColumn()] if known else [SpinnerColumn()]
            name, rows = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[rows]}")
            self._bar.open(name, *columns, rows, total=progress.total)
        self._bar.update(
            completed=progress.bytes,
            total=progress.total,
            description=progress.file if len(progress.file) <= 30 else f"...{progress.file[-27:]}",
            rows=f"{progress.rows:,} rows",
        )

    def queries(self, what: str, done: int, total: int) -> None:
        """A bar for queries, from the first second on that it takes."""
        if not self._is_watched:
            return
        if not self._bar.is_open:
            if time.monotonic() - self._started < PATIENCE:
                return
            columns = (BarColumn(), MofNCompleteColumn(), TextColumn("queries {task.description}"))
            self._bar.open(*columns, TimeRemainingColumn(), total=total)
        self._bar.update(completed=done, total=total, description=what)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()
