"""What `eddyline run` shows while it runs: panels that change in place on a terminal, a line a batch elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import TracebackType

from rich.console import RenderableType
from rich.live import Live

from eddyline.cli.output.terminal import Printer, counted
from eddyline.cli.run.course import Course, RunEvent
from eddyline.cli.run.panels import panels
from eddyline.runtime.spark.watching import BatchReport


def now() -> datetime:
    """The time, with its zone."""
    return datetime.now(UTC)


class View:
    """A context manager that is told of batches.

    with View("market", sinks={"results": "exactly once"}) as view:
        for report in tail.read():
            view.update(report)
    """

    def __init__(
        self,
        name: str,
        *,
        output: Printer | None = None,
        sinks: Mapping[str, str] | None = None,
        footer: str = "",
        clock: Callable[[], datetime] = now,
    ) -> None:
        """`sinks` are the names of all sinks and their guarantees; `footer` is a line below everything."""
        self.course = Course()
        self._name = name
        self._output = output or Printer()
        self._sinks = dict(sinks or {})
        self._footer = footer
        self._clock = clock
        self._lock = threading.Lock()  # the screen is drawn by a thread of its own
        self._live: Live | None = None
        if self._output.is_terminal:
            self._live = Live(
                console=self._output.console,
                get_renderable=self._panels,
                refresh_per_second=4,
                transient=True,
            )

    def __enter__(self) -> View:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, report: BatchReport) -> None:
        """A batch was committed."""
        with self._lock:
            if self.course.add(report):
                self.course.changes.append(
                    RunEvent(
                        report.version,
                        report.at,
                        f"{report.queries:,} queries from batch {report.batch_id}",
                    )
                )
        if self._live is None:
            self._output.line(line(report))
            for problem in report.problems:
                self._output.line(f"  problem: {problem}")

    def tell(self, text: str, *, version: int | None = None) -> None:
        """Something that happened beside the batches; `version` is that of the registry since, if it is a change."""
        with self._lock:
            self.course.changes.append(RunEvent(version, self._clock(), text))
        if self._live is None:
            self._output.line(f"  {text}" if version is None else f"  v{version}: {text}")

    def _panels(self) -> RenderableType:
        console = self._output.console
        with self._lock:
            return panels(
                self._name,
                self.course,
                sinks=self._sinks,
                footer=self._footer,
                width=console.width,
                height=console.height,
                at=self._clock(),
            )


def line(report: BatchReport) -> str:
    """A batch in one line; the columns stay where they are."""
    dropped = f"  {report.dropped_rows:,} dropped" if report.dropped_rows else ""
    files = f"  {counted(report.dropped_files, 'file', 'files')} set aside" if report.dropped_files else ""
    return (
        f"{report.at.astimezone(UTC):%H:%M:%S}  {report.source} {report.batch_id:<5} v{report.version:<4} "
        f"{report.rows:>9,} rows {report.matched_rows:>8,} matched {report.matches:>8,} matches "
        f"{report.total:7.2f} s{dropped}{files}"
    )
