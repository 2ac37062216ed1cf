"""The command `eddyline`: commands parse words, call one service, print what it gives."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from eddyline.cli import backtest, demo, doctor, match, pipeline, query, run
from eddyline.cli.failures import Command, RegistryCommand, Root
from eddyline.standing.merging.own_process import collect_rarely

app = typer.Typer(
    cls=Root,
    name="eddyline",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(query.app, name="query")
app.command("match", cls=RegistryCommand)(match.match)
app.command("backtest", cls=RegistryCommand)(backtest.backtest)
app.command("run", cls=Command)(run.run)
app.add_typer(pipeline.app, name="pipeline")
app.command("demo", cls=Command)(demo.demo)
app.command("doctor", cls=Command)(doctor.doctor)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"eddyline {version('eddyline')}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Many standing SQL queries over streams, matched together.

    Exit codes: 0 fine, 1 findings, 2 wrong usage, 3 failure.
    """


def main() -> None:
    """The console script."""
    collect_rarely()
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app()


def _open_missing_streams() -> None:
    """Let standard streams that were closed by the caller be empty, or lead nowhere.

    Nobody has to ask whether they are there, and no file that is opened later gets the number of one, into which libraries
    would then write their warnings.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123
