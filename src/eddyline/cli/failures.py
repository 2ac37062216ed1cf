"""What becomes of an error: a message and an exit code, never a traceback."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from eddyline.cli.output.terminal import BUGS, Exit, complain, note, print_json, quiet_stdout, shown
from eddyline.errors import EddylineError, NameRefusedError, SparkGoneError, UsageError
from eddyline.model.names import short_repr


class Command(TyperCommand):
    """A command: what was asked for and makes no sense is wrong usage, shown with the command's own usage."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            raise typer.BadParameter(error.message, ctx=ctx) from None


class _Notes(logging.Handler):
    """What a registry warns of while a command waits, as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        """One note."""
        note(record.getMessage())


_NOTES: Final = _Notes(logging.WARNING)


class RegistryCommand(Command):
    """A command that uses a registry, and says so where it has to wait for it."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        log = logging.getLogger("eddyline.registry")
        log.addHandler(_NOTES)
        try:
            return super().invoke(ctx)
        finally:
            log.removeHandler(_NOTES)


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
            raise typer.Exit(_exit_code(error)) from None
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


def _exit_code(error: EddylineError) -> Exit:
    if isinstance(error, NameRefusedError):
        # what stands in files becomes a finding: a text that is refused here was an argument
        return Exit.USAGE
    return Exit.SPARK_GONE if isinstance(error, SparkGoneError) else Exit.FAILURE
