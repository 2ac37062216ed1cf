"""`query budget set`, `list` and `remove`: what a query, or every query of an owner, may cost."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from eddyline.cli.failures import RegistryCommand
from eddyline.cli.options import AsJson, Author, RegistryOption
from eddyline.cli.output.terminal import Exit, Printer, complain, print_json
from eddyline.errors import UsageError
from eddyline.queryset.cost.cost import figure
from eddyline.registry import Budget
from eddyline.service.records import budget_json
from eddyline.service.registries import DEFAULT, open_registry

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Limit what queries may cost: one that would cost more is refused, or put in shadow.",
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A query's id, or with --owner an owner.")]
IsOwner = Annotated[
    bool, typer.Option("--owner", help="NAME is an owner, and the limit is for each of the queries.")
]
Scope = Literal["query", "owner"]


def _scope(is_owner: bool) -> Scope:
    return "owner" if is_owner else "query"


@app.command("set", cls=RegistryCommand)
def set_budget(
    name: Name,
    registry: RegistryOption = DEFAULT,
    owner: IsOwner = False,
    nanoseconds: Annotated[
        float | None, typer.Option("--ns", min=0, help="Nanoseconds for each tuple.")
    ] = None,
    size: Annotated[int | None, typer.Option("--bytes", min=0, help="Bytes of memory.")] = None,
    over: Annotated[
        Literal["refuse", "shadow"], typer.Option("--over", help="What becomes of a query that costs more.")
    ] = "refuse",
    author: Author = None,
    as_json: AsJson = False,
) -> None:
    """Set a budget; it is for queries that are entered or changed from now on.

    \b
    Examples:
      eddyline query budget set ann --owner --ns 10 --bytes 10000
      eddyline query budget set cheap --ns 1 --over shadow
    """
    if nanoseconds is None and size is None:
        raise UsageError("a budget has a limit: say --ns or --bytes; query budget remove takes it away")
    budget = Budget(_scope(owner), name, size, nanoseconds, over)
    with open_registry(registry) as opened:
        opened.set_budget(budget, author=author)
    if as_json:
        print_json({"registry": opened.where, **budget_json(budget)})
    else:
        Printer().line(f"{opened.where}: {_line(budget)}", "green")


@app.command("list", cls=RegistryCommand)
def list_budgets(registry: RegistryOption = DEFAULT, as_json: AsJson = False) -> None:
    """List all budgets.

    \b
    Examples:
      eddyline query budget list
    """
    with open_registry(registry) as opened:
        budgets = opened.budgets()
    if as_json:
        print_json({"registry": opened.where, "budgets": [budget_json(budget) for budget in budgets]})
        return
    for budget in budgets:
        Printer().line(_line(budget))
    if not budgets:
        Printer().line(f"{opened.where} has no budgets")


@app.command("remove", cls=RegistryCommand)
def remove_budget(
    name: Name,
    registry: RegistryOption = DEFAULT,
    owner: IsOwner = False,
    author: Author = None,
    as_json: AsJson = False,
) -> None:
    """Take a budget away; one that is not there makes the exit code 1.

    \b
    Examples:
      eddyline query budget remove ann --owner
    """
    scope = _scope(owner)
    with open_registry(registry) as opened:
        known = any((budget.scope, budget.name) == (scope, name) for budget in opened.budgets())
        if known:
            opened.set_budget(Budget(scope, name), author=author)
    if as_json:
        print_json({"registry": opened.where, "removed": known})
    elif known:
        Printer().line(f'{opened.where}: the {scope} "{name}" has no budget any more', "green")
    else:
        complain(f'the {scope} "{name}" has no budget\nhint: query budget list shows all of them')
    raise typer.Exit(Exit.FINE if known else Exit.FINDINGS)


def _line(budget: Budget) -> str:
    limits = [f"{figure(budget.nanoseconds)} ns a tuple"] if budget.nanoseconds is not None else []
    limits += [f"{budget.bytes:,} bytes"] if budget.bytes is not None else []
    whose = f'every query of "{budget.name}"' if budget.scope == "owner" else f'the query "{budget.name}"'
    fate = "refused" if budget.over == "refuse" else "put in shadow"
    return f"{whose} may cost {' and '.join(limits)}; what costs more is {fate}"
