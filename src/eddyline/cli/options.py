"""Options that several commands have, each with one meaning and one help text."""

from __future__ import annotations

from typing import Annotated

import typer

from eddyline import admission
from eddyline.cli.schemas import HELP

Schemas = Annotated[list[str], typer.Option("--schema", metavar="[NAME=]SCHEMA", help=HELP)]
StreamName = Annotated[str | None, typer.Option("--stream", help="Name of the stream of a lone SCHEMA.")]
TimeZone = Annotated[str, typer.Option(help="Session time zone, as Spark names them.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
OverBudget = Annotated[
    admission.OverBudget | None,
    typer.Option(
        "--over-budget", help="What becomes of a query that costs too much; else its budget says it."
    ),
]
