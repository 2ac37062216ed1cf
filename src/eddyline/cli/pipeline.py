"""`eddyline pipeline ...`: what a pipeline has done, read from its checkpoint, whether it runs or not; what one needs."""

from __future__ import annotations

from datetime import UTC
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eddyline.cli.failures import Command
from eddyline.cli.options import AsJson
from eddyline.cli.output import capacity as capacity_output
from eddyline.cli.output.terminal import Exit, Printer, print_json
from eddyline.service.jobs import capacity as capacity_job
from eddyline.service.jobs.pipelines import newest_batches, status_of

if TYPE_CHECKING:
    from eddyline.runtime.spark.versions import Served

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look at a pipeline: its batches, how it is, and what it needs.",
)


class Kind(StrEnum):
    """What queries are like."""

    keyed = "keyed"
    ranges = "ranges"


File = Annotated[str, typer.Argument(metavar="PIPELINE.toml", help="The settings, as for eddyline run.")]


@app.command(cls=Command)
def batches(
    file: File,
    source: Annotated[str | None, typer.Option(help="Of this source alone.")] = None,
    last: Annotated[int, typer.Option(min=1, help="So many batches of each source, the newest.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show which version served which batch.

    \b
    Examples:
      eddyline pipeline batches market.toml
      eddyline pipeline batches market.toml --source quotes --last 1000 --json
    """
    found = newest_batches(file, source, last)
    if as_json:
        print_json(found.as_json())
        return
    head = (
        "source",
        "batch",
        "version",
        "pinned",
        "rows",
        "matches",
        "dead letters",
        "files set aside",
        "seconds",
        "order",
    )
    rows = [_row(one) for several in found.served.values() for one in several]
    Printer().table(head, rows, right=(1, 2, 4, 5, 6, 7, 8))


@app.command(cls=Command)
def status(file: File, as_json: AsJson = False) -> None:
    """Show whether a pipeline runs, how far each source is, and what came of it so far.

    \b
    Example:
      eddyline pipeline status market.toml --json
    """
    found = status_of(file)
    if as_json:
        print_json(found.as_json())
        return
    output, newest = Printer(), found.registry_version
    output.line(
        f'pipeline "{found.pipeline}" '
        + ("does not run" if found.running is None else f"runs: {found.running}")
    )
    output.line(f"registry at version {'unknown' if newest is None else newest}")
    for name, one in found.last.items():
        output.line(f"  {name}: " + ("no batch yet" if one is None else _words(one)))
    for sink, count in found.totals.delivered.items():
        output.line(f"  {count:,} rows delivered to {sink}")


@app.command(cls=Command)
def capacity(
    rows_per_second: Annotated[float, typer.Option(help="Rows that all sources together bring in a second.")],
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[PIPELINE.toml]", help="The settings of a pipeline, to go by what it has reported."
        ),
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option(help="Queries that stand. Default with a pipeline: as many as in its last batch."),
    ] = None,
    columns: Annotated[
        int | None,
        typer.Option(help="Columns that queries read, in conditions or to select them. Default: 7."),
    ] = None,
    matches_per_row: Annotated[
        float | None,
        typer.Option(
            help="Queries that a row matches, on average. Default: as reported; without reports each query matches one "
            "row in a million."
        ),
    ] = None,
    kind: Annotated[
        Kind | None,
        typer.Option(
            help="What queries are like: keyed, they ask for a rare value such as a symbol, or ranges, they have bounds "
            "alone. Default: what is nearer to the reports; without reports keyed.",
        ),
    ] = None,
    cores_per_worker: Annotated[int, typer.Option(help="Cores of a worker.")] = 4,
    utilisation: Annotated[
        float, typer.Option(help="Share of the time that cores may be busy; the rest is for peaks.")
    ] = 0.7,
    longest_batch: Annotated[
        float, typer.Option(help="Seconds from one batch to the next, at most: how late results may be.")
    ] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Reckon what a cluster needs for so many queries and rows, and say what breaks first.

    Rates are those of the pipeline, as far as it has reported them, else those that were measured for this release. Needs
    neither Spark nor data. The exit code is 1 if one pipeline cannot do it. docs/capacity.md has the formulas.

    \b
    Examples:
      eddyline pipeline capacity market.toml --rows-per-second 200000 --queries 50000
      eddyline pipeline capacity --rows-per-second 10000000 --queries 1000000 --cores-per-worker 16
      eddyline pipeline capacity --rows-per-second 50000 --queries 3000 --kind ranges --matches-per-row 0.2 --json
    """
    found = capacity_job.capacity(
        capacity_job.CapacityRequest(
            rows_per_second,
            file,
            queries,
            columns,
            matches_per_row,
            kind.value if kind is not None else None,
            cores_per_worker,
            utilisation,
            longest_batch,
        )
    )
    if as_json:
        print_json(found.as_json())
    else:
        capacity_output.show(found, Printer())
    raise typer.Exit(Exit.FINE if found.estimate.holds else Exit.FINDINGS)


_COUNTS: Final = ("rows", "matches", "dropped_rows", "dropped_files")


def _row(served: Served) -> tuple[str, ...]:
    from eddyline.runtime.spark.versions.orders import in_words

    pin, account = served.pin, served.account
    counts = [f"{account[name]:,}" if name in account else "" for name in _COUNTS]
    seconds = f"{account['seconds']:.2f}" if "seconds" in account else "not done"
    at = f"{pin.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    return (pin.source, str(pin.batch_id), str(pin.version), at, *counts, seconds, in_words(pin.orders))


def _words(served: Served) -> str:
    done = "" if served.committed is not None else ", not done yet"
    pin = served.pin
    return f"batch {pin.batch_id} with version {pin.version}, {pin.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC{done}"
