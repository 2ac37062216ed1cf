"""What a run looks like: the panels as text for fixed reports, and the lines where there is no terminal."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from eddyline.cli.output.terminal import Printer
from eddyline.cli.run.course import Course, RunEvent
from eddyline.cli.run.panels import panels
from eddyline.cli.run.view import View
from eddyline.runtime.spark.watching import BatchReport

PICTURE = Path(__file__).parent / "data" / "run_80_columns.txt"
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def report(number: int, source: str = "quotes") -> BatchReport:
    return BatchReport(
        source=source,
        batch_id=number,
        version=1 + number // 4,
        queries=1_000 + 8 * (number // 4),
        rows=20_000,
        matched_rows=300,
        dropped_rows=1 if number == 5 else 0,
        dropped_files=2 if number == 5 else 0,
        matches=100 * (1 + number % 5),
        delivered={"results": 250},
        seconds={
            "pin": 0.012,
            "match": 0.4,
            "deliver": 0.2,
            "commit": 0.02,
            "total": 0.64 + 0.1 * (number % 3),
        },
        top=(("spike-AXAX", 40), ("a-name-that-is-much-too-long-to-be-shown", 20), ("dip-BOBO", 3)),
        at=NOON + timedelta(seconds=number),
        problems=('query "odd" is left out: stream "quotes" has no column "prise"',) if number == 5 else (),
    )


def drawn(course: Course, width: int, height: int = 24) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, height=height)
    console.print(
        panels(
            "market",
            course,
            sinks={"results": "exactly once", "alerts": "at least once"},
            footer="Ctrl-C stops after the batch",
            width=width,
            height=height,
            at=NOON + timedelta(seconds=11),
        )
    )
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def course(*reports: BatchReport) -> Course:
    view = View("market", output=Printer(errors=True))
    for one in reports:
        view.update(one)
    return view.course


def test_eighty_columns() -> None:
    found = drawn(course(*(report(number) for number in range(10))), 80)
    assert found == PICTURE.read_text(encoding="utf-8").rstrip("\n")


@pytest.mark.parametrize(("width", "height"), [(40, 10), (60, 24), (80, 24), (120, 40), (200, 60)])
def test_every_size_of_a_screen(width: int, height: int) -> None:
    text = drawn(course(*(report(number) for number in range(10))), width, height)
    assert all(len(line) <= width for line in text.splitlines())
    for word in ("rows in", "deliver", "spike-AXAX", "exactly once"):
        assert word in text
    if width >= 80:
        assert len(text.splitlines()) <= height


def test_several_sources() -> None:
    text = drawn(course(report(1), report(7, "trades")), 80)
    assert "sources" in text and "trades  batch 7  20,000 rows  300 matches" in text


def test_before_the_first_batch() -> None:
    assert "waiting for the first batch" in drawn(Course(), 80)
    waiting = Course()
    waiting.changes.append(
        RunEvent(None, NOON, "source quotes failed, it is started again in 0.8 s: no route to " + "h" * 60)
    )
    assert "source quotes failed" in drawn(waiting, 80) and "h" * 60 in drawn(waiting, 80), "why it waits"


def test_a_replayed_batch_counts_once() -> None:
    assert course(report(1), report(1)).totals.count("rows") == 20_000


def test_lines_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with View("market") as view:
        view.update(report(4))
        view.update(report(5))
        view.tell("chen adds 8 queries", version=3)
        view.tell("stopping after the batch")
    assert capsys.readouterr().out.splitlines() == [
        "12:00:04  quotes 4     v2       20,000 rows      300 matched      500 matches    0.74 s",
        "12:00:05  quotes 5     v2       20,000 rows      300 matched      100 matches    0.84 s  1 dropped  2 files set aside",
        '  problem: query "odd" is left out: stream "quotes" has no column "prise"',
        "  v3: chen adds 8 queries",
        "  stopping after the batch",
    ]


def test_a_terminal_shows_what_is_new() -> None:
    output = Printer()
    terminal = io.StringIO()
    output._console = Console(file=terminal, force_terminal=True, width=100, height=30)
    with View("mar\x1b[2Jket", output=output, sinks={"out": "exactly once"}) as view:
        view.update(report(3))
        view.tell("chen adds 8 queries")
    shown = terminal.getvalue()
    assert "spike-AXAX" in shown and "chen adds 8 queries" in shown
    assert "\x1b[2J" not in shown, "a name never moves the cursor"
