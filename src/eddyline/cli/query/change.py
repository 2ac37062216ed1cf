"""`query add`, `remove`, `enable`, `disable` and `shadow`: changes of a registry, each a version."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from eddyline.admission import Admission
from eddyline.cli.options import (
    Aheads,
    AsJson,
    Author,
    Base,
    EventTimes,
    Id,
    Idles,
    Ids,
    IfImplied,
    IfSame,
    Latenesses,
    OverBudget,
    Owner,
    Reason,
    Redeclare,
    RegistryJoinWindow,
    RegistryOption,
    Schemas,
    StreamName,
    Tags,
    TimeZone,
)
from eddyline.cli.output.changes import tell
from eddyline.cli.output.progress import Terminal
from eddyline.cli.output.terminal import note, print_json
from eddyline.errors import UsageError
from eddyline.model.query_state import State
from eddyline.runtime.embedded.pipes import STANDARD_INPUT
from eddyline.service.changes import ChangeOutcome, Declaration, Signature, bring_into, enter
from eddyline.service.edits import edit_of
from eddyline.service.files.event_times import TimeOptions
from eddyline.service.jobs.catch_up import enable_from_backtest
from eddyline.service.registries import DEFAULT

FromBacktest = Annotated[
    str | None,
    typer.Option(
        "--from-backtest",
        metavar="PIPELINE.toml",
        help="Also match what this pipeline has read before the query begins in it.",
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER",
        help="With --from-backtest: where those matches go, as Parquet; ID.backtest.parquet if it is not given.",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(min=0, help="With --from-backtest: seconds to wait for a batch of a pipeline that runs."),
]


def add(
    id: Id,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="Its text; - reads standard input.")],
    registry: RegistryOption = DEFAULT,
    schema: Schemas = [],  # noqa: B006 (typer copies it)
    stream: StreamName = None,
    event_time: EventTimes = [],  # noqa: B006
    lateness: Latenesses = [],  # noqa: B006
    ahead: Aheads = [],  # noqa: B006
    idle: Idles = [],  # noqa: B006
    join_window: RegistryJoinWindow = None,
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
    redeclare: Redeclare = False,
    time_zone: TimeZone = "UTC",
    author: Author = None,
    reason: Reason = "",
    base: Base = None,
    over_budget: OverBudget = None,
    if_same: IfSame = "warn",
    if_implied: IfImplied = "warn",
    as_json: AsJson = False,
) -> None:
    """Enter a query into a registry, which is made if it is not there.

    The query is checked first: one that does not fit its stream is refused, with the place of the mistake, and the
    exit code is 1. One that needs functions which only Spark has is kept for the Spark runtime, unverified.
    The first query of a stream needs its --schema. Streams that are joined need an event time and a lateness, and a join
    needs time bounds, or the registry's --join-window.
    A query that matches the same rows as another one, or only rows that another one matches, is let in with a note that
    names that one, unless --if-same or --if-implied say otherwise. An alias is let in, too, and noted as such.

    \b
    Examples:
      eddyline query add cheap "SELECT * FROM quotes WHERE price < 10" --schema quotes.parquet
      eddyline query add cheap "SELECT * FROM quotes WHERE price < 8" --replace --reason "too many"
      eddyline query add rises - --schema quotes.csv --event-time ts --lateness "10 seconds" < rises.sql
      eddyline query add pairs "SELECT * FROM a JOIN b USING (id)" --join-window "5 minutes"
      eddyline query add big - --tag fx --owner ann --state shadow < big.sql
      eddyline query add low "SELECT * FROM quotes WHERE price < 10" --destination desk --if-same alias
      eddyline query add lower "SELECT * FROM quotes WHERE price < 5" --if-same refuse --if-implied refuse
    """
    text = (sys.stdin.read() if sql == STANDARD_INPUT else sql).strip()
    said = {
        "tags": tag or None,
        "owner": owner,
        "destination": destination,
        "state": state,
        "metadata": metadata,
    }
    given = {name: value for name, value in said.items() if value is not None}
    with Terminal() as watcher:
        outcome = enter(
            registry,
            edit_of(id, text, given, new=not replace),
            Declaration(
                schemas=schema,
                name=stream,
                times=TimeOptions(event_time=event_time, lateness=lateness, ahead=ahead, idle=idle),
                join_window=join_window,
                time_zone=time_zone,
                redeclare=redeclare,
            ),
            Signature(author, reason, base),
            all_or_nothing=True,
            admission=Admission(over_budget=over_budget, if_same=if_same, if_implied=if_implied),
            watcher=watcher,
        )
    tell(outcome, as_json=as_json)


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
    signature = Signature(author, reason, base)
    tell(bring_into(registry, None, signature, ids=ids, tags=tag, owner=owner), as_json=as_json)


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
    signature = Signature(author, reason, base)
    if from_backtest is None:
        if out is not None:
            raise UsageError("--out is for --from-backtest")
        outcome = bring_into(registry, State.ENABLED, signature, ids=ids, tags=tag, owner=owner)
        tell(outcome, as_json=as_json)
    if tag or owner is not None or len(ids) != 1:
        raise UsageError("--from-backtest enables one query: name its ID")
    found = enable_from_backtest(ids[0], from_backtest, registry, signature, out=out, timeout=timeout)
    if isinstance(found, ChangeOutcome):
        tell(found, as_json=as_json)
    if as_json:
        print_json(found.as_json())
        return
    for boundary in found.boundaries:
        note(str(boundary))
    note(f"{found.rows:,} matches of what it missed, written to {found.where}")
    tell(found.outcome, as_json=False)


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
    signature = Signature(author, reason, base)
    tell(bring_into(registry, State.DISABLED, signature, ids=ids, tags=tag, owner=owner), as_json=as_json)


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
    signature = Signature(author, reason, base)
    tell(bring_into(registry, State.SHADOW, signature, ids=ids, tags=tag, owner=owner), as_json=as_json)
