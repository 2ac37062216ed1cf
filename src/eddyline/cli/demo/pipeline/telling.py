"""What the demo of the pipeline says at its end."""

from __future__ import annotations

from collections import Counter

from eddyline.cli.demo.pipeline.run import DemoOutcome
from eddyline.cli.output.charts import bars, chart
from eddyline.cli.output.terminal import Printer, counted


def tell(outcome: DemoOutcome, output: Printer, picture: str) -> None:
    """A summary, where everything is, and what to try."""
    verdict, plan = outcome.verdict, outcome.plan
    rows = outcome.sum("rows")
    output.heading(
        f"{rows:,} rows in {counted(outcome.files, 'file', 'files')}, {plan.queries:,} queries at the start, "
        f"{counted(len(outcome.versions), 'version', 'versions')} of them"
    )
    output.paragraph(
        f"{outcome.sum('matched_rows'):,} rows matched, {outcome.sum('matches'):,} matches, "
        f"{verdict.results:,} results delivered, {outcome.sum('dropped_rows'):,} rows that could not be read."
    )
    output.paragraph(
        f"The start: Spark was there after {outcome.seconds_to_start:.1f} s, the first batch was done after "
        f"{outcome.seconds_to_first:.1f} s. From the third batch on: {outcome.rows_per_second:,.0f} rows in a second of "
        f"work, {outcome.batch_seconds:.2f} s a batch. All files took {outcome.seconds:.0f} s."
    )
    output.paragraph(_judged(outcome))
    output.heading("which version served which batches")
    output.table(("version", "batches", "queries"), _versions(outcome), right=(0, 1, 2))
    output.heading("what happened on the way, each in a process of its own")
    output.table(("version", "", "command"), [(str(e.version), e.text, e.command) for e in outcome.events])
    output.heading("results by kind of query")
    kinds = sum(verdict.kinds, Counter[str]())
    output.table(("kind", "results", ""), bars(kinds.most_common(), 32), right=(1,))
    output.line(f"by batch  {chart([beat.total() for beat in verdict.kinds], 64)}")
    output.heading("what is there now")
    where = plan.folder
    output.table(
        ("file", "content"),
        [
            (str(where / picture), "the run as a picture"),
            (str(where / "results"), "results, as Parquet files"),
            (str(where / "newsroom"), "results of queries about news, as JSON lines"),
            (str(where / "state" / "dead-letters"), "rows that could not be read, and why"),
            (str(plan.metrics), "one line for each batch"),
            (str(plan.registry), "queries of every version, who changed what and why, what each has matched"),
            (str(plan.settings), "the pipeline"),
        ],
    )
    output.heading("try")
    for line in _commands(outcome):
        output.line(f"  {line}")


def _judged(outcome: DemoOutcome) -> str:
    verdict = outcome.verdict
    if verdict.is_exact:
        return (
            "Exactly once: read back with pyarrow and counted against the embedded matcher, every result that there "
            "should be is there, once."
        )
    return (
        f"NOT exactly once: of {verdict.expected:,} results that there should be {verdict.missing:,} are missing, and "
        f"{verdict.too_many:,} are too many."
    )


def _versions(outcome: DemoOutcome) -> list[tuple[str, str, str]]:
    queries = {report.version: report.queries for report in outcome.reports}
    spans: dict[int, list[int]] = {}
    for report in outcome.reports:
        spans.setdefault(report.version, []).append(report.batch_id)
    return [
        (
            str(version),
            f"{min(ids)}" if len(ids) == 1 else f"{min(ids)} to {max(ids)}",
            f"{queries[version]:,}",
        )
        for version, ids in sorted(spans.items())
    ]


def _commands(outcome: DemoOutcome) -> list[str]:
    plan = outcome.plan
    registry = f"--registry {plan.registry}"
    busiest = outcome.verdict.queries.most_common(1)
    return [
        f"eddyline query history {registry}",
        *(f"eddyline query show {id} {registry}" for id, _ in busiest),
        f"eddyline pipeline batches {plan.settings}",
        f"eddyline run {plan.settings}",
    ]
