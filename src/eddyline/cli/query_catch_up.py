"""`query enable --from-backtest`: a query that begins late in a pipeline, with all that it missed there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddyline.cli.output import Exit, note, print_json
from eddyline.cli.registry_options import DEFAULT
from eddyline.errors import FileError

if TYPE_CHECKING:
    from eddyline.cli.registry_changes import Outcome
    from eddyline.registry import Registry
    from eddyline.runtime.spark.pipeline.settings import PipelineSettings

FromBacktest = Annotated[
    str | None,
    typer.Option(
        "--from-backtest",
        metavar="PIPELINE.toml",
        help="Also match what this pipeline has read before the query begins in it.",
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER",
        help="With --from-backtest: where those matches go, as Parquet; ID.backtest.parquet if it is not given.",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(min=0, help="With --from-backtest: seconds to wait for a batch of a pipeline that runs."),
]


def enable_from_backtest(
    id: str,
    pipeline: str,
    registry: str,
    out: str | None,
    timeout: float,
    change: Callable[[Registry], Outcome],
    *,
    as_json: bool,
) -> None:
    """Enable a query, find the first batch that has it, and write what it would have matched before."""
    from eddyline.runtime.spark.catch_up import catch_up, look
    from eddyline.runtime.spark.command_session import command_session
    from eddyline.runtime.spark.pipeline.secrets import revealed_all
    from eddyline.runtime.spark.pipeline.settings import read_settings
    from eddyline.runtime.spark.pipeline.workshop import open_registry
    from eddyline.runtime.spark.writing import write

    settings = read_settings(pipeline)
    _check_registry(registry, settings)
    where = out or f"{_plain(id)}.backtest.parquet"
    if "://" not in where and Path(where).exists():
        raise FileError(f'"{where}" is there already', hint="remove it, or name another folder with --out")
    session = settings.session
    with (
        command_session(
            revealed_all(session.settings),
            time_zone=settings.time_zone,
            cores=session.cores,
            remote=session.remote,
        ) as spark,
        open_registry(settings) as opened,
    ):
        late = look(settings, spark, opened, id)
        outcome = change(opened)
        if outcome.exit_code != Exit.FINE:
            outcome.tell(as_json=as_json)
            return
        with catch_up(late, id, timeout=timeout) as caught:
            write([caught.results], where, "parquet")
            rows = caught.written(where)
    if as_json:
        begins = {boundary.source: boundary.as_json() for boundary in caught.boundaries}
        print_json({**outcome.as_json(), "out": where, "matches": rows, "sources": begins})
        return
    for boundary in caught.boundaries:
        note(str(boundary))
    note(f"{rows:,} matches of what it missed, written to {where}")
    outcome.tell(as_json=False)


def _check_registry(named: str, settings: PipelineSettings) -> None:
    """The registry is the pipeline's; one that is named must be the same."""
    if named != DEFAULT and named != settings.registry and not _same_file(named, str(settings.registry)):
        raise typer.BadParameter("--from-backtest uses the registry of the pipeline; leave out --registry")


def _same_file(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def _plain(id: str) -> str:
    from eddyline.runtime.embedded.outlets import file_names

    return file_names([id])[0]
