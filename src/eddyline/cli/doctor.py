"""`eddyline doctor`: what the machine offers, what is missing, and what to do about it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from eddyline.cli.options import AsJson
from eddyline.cli.output.terminal import Exit, Printer, print_json
from eddyline.service.jobs.doctor import Checkup, compile_kernels, look_at_machine, look_at_registry
from eddyline.service.registries import VARIABLE


def doctor(
    registry: Annotated[
        str | None,
        typer.Option(
            "--registry",
            envvar=VARIABLE,
            metavar="FILE_OR_URL",
            help="Look at this registry, too; eddyline.db of this folder, if it is there.",
        ),
    ] = None,
    warm: Annotated[
        bool,
        typer.Option(
            "--warm", help="Compile now what most matching needs, so that first matches need not wait."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at the machine and the registry, and say what to do.

    The exit code is 1 if something that is needed is missing or broken: a package, the registry that was named, or
    Java where Spark is installed. What only the Spark runtime or PostgreSQL needs is optional.

    With --warm the kernels are compiled, once for each user, machine and version of Eddyline: run it where images are built
    and on the workers of a cluster. It says how long that took and where the compiled code lies.

    \b
    Examples:
      eddyline doctor
      eddyline doctor --warm
      eddyline doctor --registry postgresql://ann@db/eddyline --json
    """
    compiled = [compile_kernels()] if warm else []
    parts = [*compiled, *look_at_machine(), *look_at_registry(registry)]
    ill = [part for part in parts if part.state != "ok" and part.needed]
    if as_json:
        print_json({"healthy": not ill, "parts": [asdict(part) for part in parts]})
    else:
        _show(parts, healthy=not ill)
    raise typer.Exit(Exit.FINDINGS if ill else Exit.FINE)


def _show(parts: list[Checkup], *, healthy: bool) -> None:
    output = Printer()
    rows = [(part.name, part.state + ("" if part.needed else ", optional"), part.found) for part in parts]
    output.table(("part", "state", "found"), rows)
    for part in parts:
        if part.to_do:
            output.line(f"{part.name}: {part.to_do}")
    output.line(
        "everything needed is there" if healthy else "something is missing or broken",
        "green" if healthy else "bold red",
    )
