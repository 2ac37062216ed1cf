"""`eddyline query ...`: files of queries are looked at, registries changed, every change is a version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import typer

from eddyline.cli.failures import RegistryCommand
from eddyline.cli.query import budget, change, check, cost, listing, relate, transfer, versions, why

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look at queries, and keep them: files are checked, registries changed, every change is a version.",
)
_COMMANDS: Final[dict[str, Callable[..., None]]] = {
    "add": change.add,
    "remove": change.remove,
    "list": listing.list_queries,
    "show": listing.show,
    "enable": change.enable,
    "disable": change.disable,
    "shadow": change.shadow,
    "import": transfer.import_queries,
    "export": transfer.export,
    "history": versions.history,
    "diff": versions.diff,
    "rollback": versions.rollback,
    "check": check.check,
    "explain": check.explain,
    "why": why.why,
    "cost": cost.cost,
    "relate": relate.relate,
    "redundancies": relate.redundancies,
}
for name, function in _COMMANDS.items():
    app.command(name, cls=RegistryCommand)(function)
app.add_typer(budget.app, name="budget")
