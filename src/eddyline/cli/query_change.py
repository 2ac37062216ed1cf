"""`query add`, `remove`, `enable`, `disable` and `shadow`: changes of a registry, each a version."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer

from eddyline.cli.completion import query_ids
from eddyline.cli.options import AsJson, OverBudget, Schemas, StreamName, TimeZone
from eddyline.cli.query_catch_up import FromBacktest, Out, Timeout, enable_from_backtest
from eddyline.cli.query_edits import Edits, beside
from eddyline.cli.query_files import Entry
from eddyline.cli.registry_changes import Outcome, declare, make
from eddyline.cli.registry_options import (
    DEFAULT,
    Author,
    Base,
    Owner,
    Reason,
    RegistryOption,
    Tags,
    open_registry,
)
from eddyline.cli.zones import check_zone
from eddyline.errors import RefusedError
from eddyline.model.query import Query
from eddyline.model.verdict import State
from eddyline.registry import Drop, Edit, Put, Registry, Set
from eddyline.runtime.embedded.pipes import STANDARD_INPUT

Ids = Annotated[
    list[str], typer.Argument(metavar="[ID]...", help="Ids of queries.", autocompletion=query_ids)
]


def add(
    id: Annotated[str, typer.Argument(metavar="ID", help="The query's name.", autocompletion=query_ids)],
    sql: Annotated[str, typer.Argument(metavar="SQL", help="Its text; - reads standard input.")],
    registry: RegistryOption = DEFAULT,
    schema: Schemas = [],  # noqa: B006 (typer copies it)
    stream: StreamName = None,
    tag: Annotated[
        list[str], typer.Option("--tag", help="A word to find it by; may be given several times.")
    ] = [],  # noqa: B006
    owner: Annotated[str | None, typer.Option("--owner", help="Whose it is.")] = None,
    destination: Annotated[str | None, typer.Option("--destination", help="Where matches shall go.")] = None,
    state: Annotated[State | None, typer.Option("--state", help="enabled, if it is not given.")] = None,
    metadata: Annotated[
        str | None,
        typer.Option("--metadata", metavar="JSON", help='An object, such as \'{"ticket": "OPS-7"}\'.'),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Change the query if the id is taken; what is not said stays.")
    ] = False,
    redeclare: Annotated[
        bool, typer.Option("--redeclare", help="Let --schema change a stream, if all queries still fit.")
    ] = False,
    time_zone: TimeZone = "UTC",
    author: Author = None,
    reason: Reason = "",
    base: Base = None,
    over_budget: OverBudget = None,
    as_json: AsJson = False,
) -> None:
    """Enter a query into a registry, which is made if it is not there.

    The query is checked first: one that does not fit its stream is refused, with the place of the mistake, and the
    exit code is 1. One that needs functions which only Spark has is kept for the Spark runtime, unverified.
    The first query of a stream needs its --schema.

    \b
    Examples:
      eddyline query add cheap "SELECT * FROM quotes WHERE price < 10" --schema quotes.parquet
      eddyline query add cheap "SELECT * FROM quotes WHERE price < 8" --replace --reason "too many"
      eddyline query add big - --tag fx --owner ann --state shadow < big.sql
    """
    check_zone(time_zone)
    text = (sys.stdin.read() if sql == STANDARD_INPUT else sql).strip()
    said: dict[str, Any] = {
        name: value
        for name, value in (
            ("tags", tag or None),
            ("owner", owner),
            ("destination", destination),
            ("state", state),
            ("metadata", metadata),
        )
        if value is not None
    }
    edit = Put(id, text, new=not replace, **beside(said))
    place = Entry(Query(id, text), "SQL", 1, text)
    with open_registry(registry, must_exist=False) as opened:
        at = declare(opened, schema, [place.query], stream=stream, time_zone=time_zone, redeclare=redeclare)
        edits = Edits([], [edit], {id: place})
        outcome = make(
            opened,
            edits,
            at,
            author=author,
            reason=reason,
            base=base,
            all_or_nothing=True,
            over_budget=over_budget,
        )
    outcome.tell(as_json=as_json)


def remove(
    ids: Ids = [],  # noqa: B006
    registry: RegistryOption = DEFAULT,
    tag: Tags = [],  # noqa: B006
    owner: Owner = None,
    author: Author = None,
    reason: Reason = "",
    base: Base = None,
    as_json: AsJson = False,
) -> None:
    """Take queries out: those named, or all with a tag or of an owner. Their history stays.

    All of them go, or none: an id that is not registered makes the exit code 1.

    \b
    Examples:
      eddyline query remove cheap --reason "nobody reads it"
      eddyline query remove --tag trial
    """
    _edit(registry, ids, tag, owner, None, author=author, reason=reason, base=base, as_json=as_json)


def enable(
    ids: Ids = [],  # noqa: B006
    registry: RegistryOption = DEFAULT,
    tag: Tags = [],  # noqa: B006
    owner: Owner = None,
    author: Author = None,
    reason: Reason = "",
    base: Base = None,
    from_backtest: FromBacktest = None,
    out: Out = None,
    timeout: Timeout = 60.0,
    as_json: AsJson = False,
) -> None:
    """Let queries be evaluated and their matches delivered.

    With --from-backtest PIPELINE.toml one query is enabled in the registry of a pipeline, and what it missed there is
    written to --out: the matches in all rows of the batches before the first one that has the query. Together with what
    the pipeline delivers from then on that is every match once, whether the pipeline runs meanwhile or not. Said again
    for a query that is enabled already, it gives the same.

    \b
    Examples:
      eddyline query enable cheap
      eddyline query enable --tag fx --owner ann
      eddyline query enable cheap --from-backtest market.toml --out cheap-before.parquet
    """
    if from_backtest is not None:
        if tag or owner is not None or len(ids) != 1:
            raise typer.BadParameter("--from-backtest enables one query: name its ID")
        change = partial(_change, ids, State.ENABLED, author=author, reason=reason, base=base)
        enable_from_backtest(ids[0], from_backtest, registry, out, timeout, change, as_json=as_json)
        return
    if out is not None:
        raise typer.BadParameter("--out is for --from-backtest")
    _edit(registry, ids, tag, owner, State.ENABLED, author=author, reason=reason, base=base, as_json=as_json)


def disable(
    ids: Ids = [],  # noqa: B006
    registry: RegistryOption = DEFAULT,
    tag: Tags = [],  # noqa: B006
    owner: Owner = None,
    author: Author = None,
    reason: Reason = "",
    base: Base = None,
    as_json: AsJson = False,
) -> None:
    """Keep queries without evaluating them.

    \b
    Examples:
      eddyline query disable cheap big --reason "too loud"
      eddyline query disable --tag trial
    """
    _edit(registry, ids, tag, owner, State.DISABLED, author=author, reason=reason, base=base, as_json=as_json)


def shadow(
    ids: Ids = [],  # noqa: B006
    registry: RegistryOption = DEFAULT,
    tag: Tags = [],  # noqa: B006
    owner: Owner = None,
    author: Author = None,
    reason: Reason = "",
    base: Base = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate and count queries without delivering their matches.

    \b
    Examples:
      eddyline query shadow cheap --reason "watch it for a day"
    """
    _edit(registry, ids, tag, owner, State.SHADOW, author=author, reason=reason, base=base, as_json=as_json)


def _edit(
    where: str,
    ids: Sequence[str],
    tags: Sequence[str],
    owner: str | None,
    state: State | None,
    *,
    author: str | None,
    reason: str,
    base: int | None,
    as_json: bool,
) -> None:
    """Bring queries into a state, or take them out where it is None."""
    with open_registry(where) as registry:
        chosen = _chosen(registry, ids, tags, owner)
        outcome = _change(chosen, state, registry, author=author, reason=reason, base=base)
    outcome.tell(as_json=as_json)


def _change(
    ids: Sequence[str],
    state: State | None,
    registry: Registry,
    *,
    author: str | None,
    reason: str,
    base: int | None,
) -> Outcome:
    edits: list[Edit] = [Drop(id) if state is None else Set(id, state=state) for id in ids]
    found = Edits([])
    try:
        change = registry.change(edits, author=author, reason=reason, base=base)
    except RefusedError as refused:
        for problem in refused.problems:
            found.refuse(problem)
        return Outcome(registry.where, registry.version, None, found.findings)
    return Outcome(registry.where, change.version, change, [])


def _chosen(registry: Registry, ids: Sequence[str], tags: Sequence[str], owner: str | None) -> list[str]:
    if ids and (tags or owner is not None):
        raise typer.BadParameter("name queries by id, or choose them by --tag and --owner, not both")
    if ids:
        return list(dict.fromkeys(ids))
    if not tags and owner is None:
        raise typer.BadParameter("name the queries, or choose them by --tag or --owner")
    return [entry.id for entry in registry.entries(tags=tags, owner=owner)]
