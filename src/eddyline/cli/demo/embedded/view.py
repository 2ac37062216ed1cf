"""What the demo shows while it runs: panels on a terminal, a line now and then elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from eddyline.cli.demo.embedded.run import PACE, DemoRecord
from eddyline.cli.output.charts import bars, chart
from eddyline.cli.output.terminal import Printer

LINE_EVERY: Final = 2  # seconds, without a terminal
RECENT: Final = PACE * 2  # batches over which the rate is taken
NARROW: Final = 100  # columns below which not all panels stand side by side
_FIGURES: Final = 8  # lines of the panel with the figures


class ScreenView:
    """Panels that change in place."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(
            Text("setting up: registry, queries, machine code (the first time on a machine takes longer)"),
            console=console,
            refresh_per_second=8,
            transient=True,
        )

    def __enter__(self) -> ScreenView:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def __call__(self, record: DemoRecord) -> None:
        """A batch has passed."""
        self._live.update(self._panels(record))

    def _panels(self, record: DemoRecord) -> RenderableType:
        wide = self._console.width >= NARROW
        room = self._console.height - 15
        rows = max(3, min(10, room if wide else room // 2))
        top, below = Table.grid(expand=True), Table.grid(expand=True)
        for grid in (top, below):
            grid.add_column(ratio=1)
            grid.add_column(ratio=1)
        top.add_row(_panel("flow", flow(record)), _panel("busiest queries", _busiest(record, _FIGURES)))
        latest, events = (
            _panel("latest deliveries", _latest(record, rows)),
            _panel("changes", _events(record, rows)),
        )
        below.add_row(latest, events)
        return Group(top, below) if wide else Group(top, latest, events)


class LineView:
    """A line every two seconds, and one for every change."""

    def __init__(self, output: Printer) -> None:
        self._output = output
        self._told = 0

    def __enter__(self) -> LineView:
        self._output.line("setting up: registry, queries, machine code")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to tidy up."""

    def __call__(self, record: DemoRecord) -> None:
        """A batch has passed."""
        for event in record.events[self._told :]:
            self._output.line(f"  version {event.version}: {event.text}")
        self._told = len(record.events)
        beats = len(record.beats)
        if beats % (LINE_EVERY * PACE) == 0 or beats == record.plan.batches:
            self._output.line(
                f"{beats / PACE:5.1f} s  {record.tuples:>11,} tuples  {record.matches:>9,} matches  "
                f"{record.queries:,} queries"
            )


class Nothing:
    """For machines, which want the end alone."""

    def __enter__(self) -> Nothing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to tidy up."""

    def __call__(self, record: DemoRecord) -> None:
        """A batch has passed."""


def flow(record: DemoRecord) -> RenderableType:
    """The figures of the flow."""
    recent = record.beats[-RECENT:]
    pushing = sum(beat.seconds for beat in recent)
    tuples = sum(beat.tuples for beat in recent)
    matches = [beat.matches.total() for beat in record.beats]
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(justify="right", style="bold")
    for name, value in (
        ("time", f"{len(record.beats) / PACE:.1f} of {record.plan.seconds} s"),
        ("tuples", f"{record.tuples:,}"),
        ("tuples/s, at this pace", f"{PACE * record.beats[-1].tuples:,}"),
        ("tuples/s, while pushing", f"{tuples / pushing:,.0f}"),
        ("matches", f"{record.matches:,}"),
        ("rows delivered", f"{record.delivered:,}"),
        ("queries, version", f"{record.queries:,}, {record.version}"),
    ):
        table.add_row(name, value)
    return Group(table, Text.assemble(("matches a batch  ", "dim"), (chart(matches, 20), "cyan")))


def _busiest(record: DemoRecord, rows: int) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True)
    for line in bars(record.busiest[:rows]):
        table.add_row(*line)
    return table


def _latest(record: DemoRecord, rows: int) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=18)
    table.add_column(style="dim", no_wrap=True, overflow="ellipsis")
    for line in list(record.latest)[-rows:]:
        table.add_row(*(Text(cell) for cell in line))
    return table


def _events(record: DemoRecord, rows: int) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(style="green", no_wrap=True, min_width=4)
    table.add_column(no_wrap=True, overflow="ellipsis")
    for event in record.events[-rows:]:
        table.add_row(f"v{event.version}", Text(event.text))
    return table


def _panel(title: str, content: RenderableType) -> Panel:
    return Panel(content, title=title, title_align="left", box=box.ROUNDED, border_style="dim")
