"""The generated parts of docs/capacity.md: what was measured, how predictions fared, what the command prints."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Final

from typer.testing import CliRunner

from eddyline.capacity.measured import CHECKS, RATES
from eddyline.cli import app
from eddyline.cli.output.capacity import number, size
from tools.markdown import table

EXAMPLE: Final = "eddyline pipeline capacity --queries 50000 --rows-per-second 200000"
FAR: Final = "eddyline pipeline capacity --queries 1000000 --rows-per-second 10000000 --cores-per-worker 16"


# name in `Rates`, what it is, how it is shown, on what it was measured
def short(seconds: float) -> str:
    """Seconds in a unit in which they are no tiny number.

    >>> short(6.6e-7), short(0.0014), short(0.533), short(5.4e-9)
    ('0.66 µs', '1.4 ms', '533 ms', '5.4 ns')
    """
    for least, unit in ((1.0, "s"), (1e-3, "ms"), (1e-7, "µs")):
        if seconds >= least:
            return f"{seconds / max(least, 1e-6):.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


COSTS: Final[tuple[tuple[str, str, Callable[[float], str], str], ...]] = (
    (
        "result_python",
        "a result made, Python",
        short,
        "rows with one match each beside the same rows with few",
    ),
    (
        "result_java",
        "a result taken back, kept and written, Java",
        short,
        "the same, the way of a cluster",
    ),
    (
        "result_java_together",
        "a result written by the job that makes it, Java",
        short,
        "the same, one machine",
    ),
    ("batch", "a batch, on a cluster", short, "batches of 10,000 rows, on the clock"),
    ("batch_together", "a batch, on one machine", short, "the same"),
    ("task", "a task that hands rows to Python", short, "a job of many tasks beside one of few"),
    (
        "schedule",
        "a task that does not",
        short,
        "the same; also what it costs the driver to start one, at most",
    ),
    (
        "ship",
        "a byte of the compiled set in the plan of a batch",
        short,
        "100,000 queries beside 1,000; 10 ms where less was seen",
    ),
    (
        "count",
        "a query counted in the registry",
        short,
        "100,000 queries counted for the second time, SQLite",
    ),
    ("add_up", "a query in the summary of a task", short, "summaries with 100,000 queries added up"),
    ("compiling", "a query, when all are compiled", short, "100,000 queries beside 10,000"),
    ("change", "a query that stands, when 10 others come", short, "the same"),
    ("archive_bytes", "a query in the compiled set as it travels", size, "the same"),
    (
        "told_bytes",
        "a query that matched, in what a task tells the driver",
        size,
        "compressed as Spark does it",
    ),
    ("summary_bytes", "the same once it has come", size, "as it is unpacked"),
    ("driver_bytes", "a query in the driver's Python", size, "resident, 100,000 queries beside 10,000"),
    ("worker_bytes", "a query in the files that the processes of a worker share", size, "the same"),
    ("process_bytes", "a query in each of these processes", size, "the same, after 40,000 rows were matched"),
    ("driver_base", "the driver's Python with 10,000 queries", size, "resident"),
    ("process_base", "a process of a worker with 10,000 queries", size, "memory of its own"),
    (
        "kept_bytes",
        "a result that Spark keeps until it is written",
        size,
        "seven columns, read back and kept",
    ),
    ("written_bytes", "a result as Parquet", size, "the same"),
)


def rows_table() -> str:
    """Rows per second of one core, by queries and columns."""
    lines = []
    for kind, grid in RATES.matching.items():
        for columns, line in zip(grid.columns, grid.lines, strict=True):
            both = RATES.reading.at(columns)
            lines += [
                (
                    kind,
                    f"{queries:,}",
                    str(columns),
                    number(1 / seconds),
                    number(1 / both),
                    number(1 / (seconds + both)),
                )
                for queries, seconds in zip(line.places, line.values, strict=True)
            ]
    head = ("queries are", "queries", "columns", "Python: matching", "Java: reading, handing over", "both")
    return f"Measured on {RATES.machine}, {RATES.day}.\n\n{table(head, lines)}"


def costs_table() -> str:
    """Everything else."""
    lines = [(what, form(getattr(RATES, name)), how) for name, what, form, how in COSTS]
    return table(("of", "costs", "measured as"), lines)


def checks_table() -> str:
    """Predictions beside what was measured."""
    lines = [
        (
            check.place,
            f"{check.queries:,}",
            str(check.columns),
            f"{check.rows:,}",
            number(check.predicted),
            number(check.measured),
            f"{check.ratio:.2f}",
        )
        for check in CHECKS
    ]
    head = ("place", "queries", "columns", "rows of a batch", "predicted rows a second", "measured", "ratio")
    return table(head, lines)


def console(command: str) -> Callable[[], str]:
    """A command with what it prints."""

    def block() -> str:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        printed = "\n".join(line.rstrip() for line in result.stdout.rstrip().splitlines())
        return f"```console\n$ {command}\n{printed}\n```"

    return block


BLOCKS: Final[dict[str, Callable[[], str]]] = {
    "capacity-example": console(EXAMPLE),
    "capacity-rows": rows_table,
    "capacity-costs": costs_table,
    "capacity-checks": checks_table,
    "capacity-far": console(FAR),
}
