"""`eddyline pipeline ...`: what a pipeline has done, read from its checkpoint, whether it runs or not."""

from __future__ import annotations

from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from eddyline.cli.options import AsJson
from eddyline.cli.output import Output, print_json
from eddyline.errors import EddylineError

if TYPE_CHECKING:
    from eddyline.runtime.spark.pipeline.settings import PipelineSettings
    from eddyline.runtime.spark.versions import Served, StateFolder

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look at a pipeline: its batches, and how it is."
)

File = Annotated[str, typer.Argument(metavar="PIPELINE.toml", help="The settings, as for eddyline run.")]


@app.command()
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
    settings, state = _find(file)
    served = {name: _newest(state, name, last) for name in _chosen(state, source)}
    if as_json:
        found = {name: [_as_json(one) for one in several] for name, several in served.items()}
        print_json({"pipeline": settings.name, "id": state.id, "batches": found})
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
    rows = [_row(one) for several in served.values() for one in several]
    Output().table(head, rows, right=(1, 2, 4, 5, 6, 7, 8))


@app.command()
def status(file: File, as_json: AsJson = False) -> None:
    """Show whether a pipeline runs, how far each source is, and what came of it so far.

    \b
    Example:
      eddyline pipeline status market.toml --json
    """
    from eddyline.runtime.spark.versions import StateFolder
    from eddyline.runtime.spark.watching import Metrics

    settings, state = _find(file)
    running = StateFolder.is_running(state.path)
    totals = Metrics(state.metrics).totals
    newest = _registry_version(settings)
    last = {name: next(iter(_newest(state, name, 1)), None) for name in state.sources}
    if as_json:
        print_json(
            {
                "pipeline": settings.name,
                "id": state.id,
                "running": None if running is None else {"pid": running.pid, "host": running.host},
                "registry_version": newest,
                "sources": {name: None if one is None else _as_json(one) for name, one in last.items()},
                "totals": totals.to_json(),
            }
        )
        return
    output = Output()
    output.line(f'pipeline "{settings.name}" ' + ("does not run" if running is None else f"runs: {running}"))
    output.line(f"registry at version {'unknown' if newest is None else newest}")
    for name, one in last.items():
        output.line(f"  {name}: " + ("no batch yet" if one is None else _words(one)))
    for sink, count in totals.delivered.items():
        output.line(f"  {count:,} rows delivered to {sink}")


def _find(file: str) -> tuple[PipelineSettings, StateFolder]:
    from eddyline.runtime.spark.pipeline.settings import read_settings
    from eddyline.runtime.spark.versions import StateFolder

    settings = read_settings(file)
    if not Path(settings.checkpoint).exists():
        raise EddylineError(
            f'pipeline "{settings.name}" has not run yet: there is no {settings.checkpoint}',
            hint=f"eddyline run {file}",
        )
    return settings, StateFolder.find(settings.checkpoint)


def _chosen(state: StateFolder, source: str | None) -> tuple[str, ...]:
    if source is not None and source not in state.sources:
        raise EddylineError(
            f'pipeline "{state.name}" has no source "{source}"',
            hint=f"its sources are {', '.join(state.sources)}",
        )
    return state.sources if source is None else (source,)


def _newest(state: StateFolder, source: str, count: int) -> list[Served]:
    from eddyline.runtime.spark.versions import VersionLog

    log = VersionLog(state.batches)
    last = log.last(source)
    first = 0 if last is None else max(0, last.batch_id - count + 1)
    return list(islice(log.batches(source, first), count))


_COUNTS: Final = ("rows", "matches", "dropped_rows", "dropped_files")


def _as_json(served: Served) -> dict[str, Any]:
    from eddyline.runtime.spark.pipeline.inputs import readable_path

    pin = served.pin
    return {
        "batch_id": pin.batch_id,
        "version": pin.version,
        "pinned": pin.at.isoformat(),
        "nulled": list(pin.nulled),
        "set_aside": [{"file": readable_path(file.path), "reason": file.reason} for file in pin.set_aside],
        "orders": [order.as_json() for order in pin.orders],
        "committed": None if served.committed is None else served.committed.isoformat(),
        **dict(served.account),
    }


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


def _registry_version(settings: PipelineSettings) -> int | None:
    from eddyline.runtime.spark.pipeline.workshop import open_registry

    try:
        with open_registry(settings) as registry:
            return registry.version
    except EddylineError:
        return None
