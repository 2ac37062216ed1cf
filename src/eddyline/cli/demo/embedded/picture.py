"""The picture of an embedded run: what stands on it."""

from __future__ import annotations

from eddyline.cli.demo.drawing import RunPicture, draw
from eddyline.cli.demo.embedded.run import PACE, DemoRecord


def picture(record: DemoRecord) -> str:
    """The SVG's text."""
    return draw(
        RunPicture(
            title="Standing queries on a market",
            about=f"seed {record.plan.seed}, {record.plan.seconds} seconds, {record.plan.queries:,} queries at the "
            f"start, {len(record.events)} events on the way",
            figures=(
                (f"{record.tuples:,}", "tuples"),
                (f"{record.tuples / record.pushing:,.0f}", "tuples/s while pushing"),
                (f"{record.matches:,}", "matches"),
                (f"{record.delivered:,}", "rows delivered"),
                (f"{record.queries:,}", f"queries in version {record.version}"),
            ),
            chart="matches in each batch, by kind of query",
            beats=tuple(beat.matches for beat in record.beats),
            ticks=_clock(len(record.beats) / PACE),
            marks=_marks(record),
            busiest=tuple(record.busiest),
            events=tuple((event.version, event.text) for event in record.events),
        )
    )


def _marks(record: DemoRecord) -> tuple[tuple[int, int], ...]:
    marks, seen = [], 1
    for event in record.events:
        if event.version != seen:
            seen = event.version
            marks.append((event.batch + 1, event.version))
    return tuple(marks)


def _clock(seconds: float) -> tuple[tuple[float, str], ...]:
    step = next((s for s in (1, 2, 5, 10, 30, 60, 300, 600) if seconds / s <= 10), 600)
    return tuple((at * PACE, f"{at} s") for at in range(0, int(seconds) + 1, step))
