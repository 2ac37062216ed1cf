"""`eddyline pipeline ...`: what a pipeline has done, read from its checkpoint, whether it runs or not."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eddyline.cli.failures import Command
from eddyline.cli.options import AsJson
from eddyline.cli.output.terminal import Printer, print_json
from eddyline.service.jobs.pipelines import newest_batches, status_of

if TYPE_CHECKING:
    from eddyline.runtime.spark.versions import Served

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look at a pipeline: its batches, and how it is."
)

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
