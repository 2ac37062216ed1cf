"""Writes the pictures of docs/pictures: what the terminal shows, for reports that are made up here.

python -m tools.pictures
"""

from __future__ import annotations

import io
import math
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from eddyline.cli.run.course import Course, RunEvent
from eddyline.cli.run.panels import panels
from eddyline.runtime.spark.watching import BatchReport

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
QUERIES = (
    "corridor-PAAX",
    "spike-LOEL",
    "watchlist-MIAX-5",
    "block-LOJU",
    "headline-energy",
    "dip-ELNE",
    "late-JUIN",
)
CHANGES = {
    12: "chen adds headline-media-6",
    21: "ann makes corridor-PAAX stricter",
    33: "dora removes 3 queries",
}


def report(number: int) -> BatchReport:
    """A made-up batch."""
    wave = 1 + math.sin(number / 4) / 2
    version = 1 + sum(number > batch for batch in CHANGES)
    return BatchReport(
        source="quotes",
        batch_id=number,
        version=version,
        queries=999 + version,
        rows=20_000,
        matched_rows=round(290 * wave),
        dropped_rows=3 if number == 29 else 0,
        matches=round(340 * wave),
        delivered={"results": round(250 * wave), "newsroom": round(60 * wave)},
        seconds={
            "pin": 0.012,
            "match": 0.31 * wave,
            "deliver": 0.19,
            "commit": 0.02,
            "total": 0.222 + 0.31 * wave,
        },
        top=tuple((id, round(40 * wave / (place + 1))) for place, id in enumerate(QUERIES)),
        at=NOON + timedelta(seconds=number),
        problems=("3 dead letters: the row cannot be read as the stream's columns",) if number == 29 else (),
    )


def main() -> None:
    """Write all pictures."""
    course = Course()
    for number in range(41):
        if course.add(report(number)):
            text = f"{course.recent[-1].queries:,} queries from batch {number}"
            course.changes.append(RunEvent(course.version, course.recent[-1].at, text))
        if number in CHANGES:
            course.changes.append(RunEvent(course.version + 1, course.recent[-1].at, CHANGES[number]))
    console = Console(file=io.StringIO(), record=True, width=100, height=25, force_terminal=True)
    drawn = panels(
        "market",
        course,
        sinks={"results": "exactly once", "newsroom": "exactly once"},
        footer="Ctrl-C stops after the batch that runs",
        width=100,
        height=25,
        at=NOON + timedelta(seconds=41),
    )
    console.print(drawn)
    text = console.export_svg(title="eddyline run market.toml", theme=MONOKAI, unique_id="run")
    # a picture loads nothing from elsewhere
    text = re.sub(r"@font-face \{.*?\}\s*", "", text, flags=re.DOTALL)
    text = text.replace(
        "Fira Code, monospace", "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    )
    (FOLDER / "run.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
