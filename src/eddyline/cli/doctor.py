"""`eddyline doctor`: what the machine offers, what is missing, and what to do about it."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from eddyline.cli.output import Exit, Output, print_json
from eddyline.errors import SetupError
from eddyline.functions.zones import find_zone


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that Eddyline uses: `needed` is False for what only the Spark runtime wants."""

    name: str
    state: str  # "ok", "missing" or "broken"
    found: str
    needed: bool = True
    to_do: str = ""


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """Look at the machine: Python, packages, and what Spark needs.

    The exit code is 1 if something that is needed is missing, or if Spark is installed and cannot run.
    """
    parts = [_python(), *(_package(name) for name in ("eddyline", "pyarrow", "sqlglot")), _zones(), *_spark()]
    ill = [part for part in parts if part.state != "ok" and part.needed]
    if as_json:
        print_json({"healthy": not ill, "parts": [asdict(part) for part in parts]})
    else:
        _show(parts, healthy=not ill)
    raise typer.Exit(Exit.FINDINGS if ill else Exit.FINE)


def _show(parts: list[Part], *, healthy: bool) -> None:
    output = Output()
    rows = [(part.name, part.state + ("" if part.needed else ", optional"), part.found) for part in parts]
    output.table(("part", "state", "found"), rows)
    for part in parts:
        if part.to_do:
            output.line(f"{part.name}: {part.to_do}")
    output.line(
        "everything needed is there" if healthy else "something is missing",
        "green" if healthy else "bold red",
    )


def _python() -> Part:
    return Part("Python", "ok", f"{platform.python_version()} ({platform.system()}, {platform.machine()})")


def _package(name: str) -> Part:
    try:
        return Part(name, "ok", version(name))
    except PackageNotFoundError:
        return Part(name, "missing", "", to_do="pip install eddyline")


def _zones() -> Part:
    if find_zone("Europe/Vienna") is None:
        return Part("time zones", "missing", "no tz database", to_do="pip install tzdata")
    return Part("time zones", "ok", "tz database")


def _spark() -> list[Part]:
    try:
        pyspark = Part("pyspark", "ok", version("pyspark"))
    except PackageNotFoundError:
        to_do = "only for the Spark runtime: pip install 'eddyline[spark,java]'"
        return [Part("pyspark", "missing", "", needed=False, to_do=to_do)]
    return [pyspark, _java()]


def _java() -> Part:
    from eddyline.runtime.spark.java import find_java

    try:
        java = find_java()
    except SetupError as error:
        return Part("Java", "missing", error.message.split("\n")[0], to_do=error.hint or "")
    return Part("Java", "ok", f"version {java.version}, from {java.origin}")
