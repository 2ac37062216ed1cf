"""The command `eddyline`: one file per group of commands, one place for exit codes and for what becomes of an error."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from eddyline.cli import backtest, cost, demo, doctor, match, pipeline, query, query_budget, run, why
from eddyline.cli.output import BUGS, Exit, complain, print_json, quiet_stdout, shown
from eddyline.errors import EddylineError, NameRefusedError
from eddyline.model.names import short_repr


class Root(TyperGroup):
    """The outermost command: whatever goes wrong below becomes a message and an exit code, never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command; `EDDYLINE_DEBUG=1` lets unexpected errors through."""
        as_json = "--json" in [*getattr(ctx, "_protected_args", []), *ctx.args]
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except EddylineError as error:
            complain(str(error))
            if as_json:
                print_json({"error": error.message, "hint": error.hint})
            # What stands in files becomes a finding: a text that is refused here was an argument.
            raise typer.Exit(Exit.USAGE if isinstance(error, NameRefusedError) else Exit.FAILURE) from None
        except typer.BadParameter as error:  # its message may name what stands in files
            error.message = shown(error.message)
            raise
        except BrokenPipeError:
            quiet_stdout()
            raise typer.Exit(Exit.BROKEN_PIPE) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(Exit.INTERRUPTED) from None
        except OSError as error:
            quiet_stdout()
            complain(f"the machine refuses: {error}")
            raise typer.Exit(Exit.FAILURE) from None
        except UnicodeEncodeError as error:
            complain(
                f"{short_repr(error.object)} is not valid text: it has a byte or half of a character that stands "
                "for nothing"
            )
            raise typer.Exit(Exit.USAGE) from None
        except BUGS as error:
            if os.environ.get("EDDYLINE_DEBUG"):
                raise
            complain(
                f"internal error: {type(error).__name__}: {error}\n"
                "hint: this is a bug in Eddyline, please report it; EDDYLINE_DEBUG=1 shows where it happened"
            )
            raise typer.Exit(Exit.FAILURE) from None


app = typer.Typer(
    cls=Root,
    name="eddyline",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(query.app, name="query")
query.app.command("why")(why.why)
query.app.command("cost")(cost.cost)
query.app.add_typer(query_budget.app, name="budget")
app.command("match")(match.match)
app.command("backtest")(backtest.backtest)
app.command("run")(run.run)
app.add_typer(pipeline.app, name="pipeline")
app.command("demo")(demo.demo)
app.command("doctor")(doctor.doctor)


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
