"""What all commands about a registry share: the option `--registry`, how it is opened, how its queries are compiled."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eddyline.cli.output import note
from eddyline.errors import RegistryError
from eddyline.model.verdict import State

if TYPE_CHECKING:
    from eddyline.compile import Compiler
    from eddyline.registry import Registry

VARIABLE: Final = "EDDYLINE_REGISTRY"
DEFAULT: Final = "eddyline.db"

RegistryOption = Annotated[
    str,
    typer.Option(
        "--registry",
        envvar=VARIABLE,
        metavar="FILE_OR_URL",
        help="Where the queries are kept: an SQLite file, or postgresql://user@host/database.",
    ),
]

Author = Annotated[
    str | None, typer.Option("--author", help="Who makes the change; your login name if it is not given.")
]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept with the version.")]
Base = Annotated[
    int | None,
    typer.Option("--base", help="Refuse the change if the registry is not at this version any more."),
]
Tags = Annotated[list[str], typer.Option("--tag", help="With this tag; several must all be there.")]
Owner = Annotated[str | None, typer.Option("--owner", help="Of this owner.")]
States = Annotated[State | None, typer.Option("--state", help="In this state.")]
Search = Annotated[
    str | None, typer.Option("--search", help="With this text in id, SQL, destination or metadata.")
]
VersionNumber = Annotated[
    int | None, typer.Option("--version", help="As of this version, instead of the newest.")
]


class _Notes(logging.Handler):
    """What the registry warns of while a command waits, as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        """One note."""
        note(record.getMessage())


_NOTES: Final = _Notes(logging.WARNING)


def open_registry(where: str, *, must_exist: bool = True) -> Registry:
    """Open a registry; one that is not there yet is made only where `must_exist` is False."""
    from eddyline.registry import Registry

    if must_exist and not is_there(where):
        raise RegistryError(
            f'there is no registry "{where}"',
            hint=f"query add and query import make one; --registry or {VARIABLE} names another",
        )
    logging.getLogger("eddyline.registry").addHandler(_NOTES)
    return Registry.open(where)


def is_there(where: str) -> bool:
    """Whether there is a file of that name; a database server is asked when it is opened."""
    if "://" in where and not where.startswith("sqlite:"):
        return True
    return Path(where.removeprefix("sqlite:///").partition("?")[0]).exists()


def compiler_of(registry: Registry, time_zone: str = "UTC") -> Compiler:
    """A compiler for the streams that a registry declares."""
    from eddyline.compile import Compiler

    return Compiler(registry.streams(), time_zone=time_zone)
