"""The picture of a run of the pipeline: what stands on it."""

from __future__ import annotations

from typing import Final

from eddyline.cli.demo.drawing import RunPicture, draw
from eddyline.cli.demo.pipeline.run import DemoOutcome

BUSIEST: Final = 10


def picture(outcome: DemoOutcome) -> str:
    """The SVG's text."""
    plan, verdict = outcome.plan, outcome.verdict
    rows = outcome.sum("rows")
    return draw(
        RunPicture(
            title="Standing queries on Structured Streaming",
            about=f"seed {plan.seed}, {outcome.files} files in {outcome.seconds:.0f} seconds, {plan.queries:,} queries at "
            f"the start, {len(outcome.events)} commands in other processes on the way",
            figures=(
                (f"{rows:,}", "rows"),
                (f"{outcome.rows_per_second:,.0f}", "rows/s, once steady"),
                (f"{outcome.batch_seconds:.2f} s", "a steady batch"),
                (f"{outcome.seconds_to_first:.1f} s", "to the first batch"),
                (f"{verdict.results:,}", "results, each once" if verdict.is_exact else "results, NOT exact"),
                (
                    f"{len(outcome.versions)}",
                    "versions of queries",
                ),
            ),
            chart="results of each batch, by kind of query",
            beats=verdict.kinds,
            ticks=_ticks(len(verdict.kinds)),
            marks=_marks(verdict.versions),
            busiest=tuple(verdict.queries.most_common(BUSIEST)),
            events=tuple((event.version, event.text) for event in outcome.events),
        )
    )


def _marks(versions: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Where another version began."""
    marks, seen = [], versions[0] if versions else 0
    for batch, version in enumerate(versions):
        if version not in (0, seen):
            seen = version
            marks.append((batch, version))
    return tuple(marks)


def _ticks(batches: int) -> tuple[tuple[float, str], ...]:
    step = next((s for s in (1, 2, 5, 10, 20, 50, 100, 500) if batches / s <= 12), 1_000)
    return tuple((at + 0.5, f"batch {at}" if at == 0 else str(at)) for at in range(0, batches, step))
