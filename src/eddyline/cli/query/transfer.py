"""`query import` and `query export`: files of queries into a registry, and back."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from eddyline.admission import Admission
from eddyline.cli.options import (
    Aheads,
    AsJson,
    Author,
    Base,
    EventTimes,
    Idles,
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
    Search,
    States,
    StreamName,
    Tags,
    TimeZone,
    VersionNumber,
)
from eddyline.cli.output.changes import tell
from eddyline.cli.output.progress import Terminal
from eddyline.cli.output.terminal import Printer, print_json, shown
from eddyline.errors import UsageError
from eddyline.runtime.embedded.pipes import STANDARD_INPUT
from eddyline.service.changes import Declaration, Signature, enter
from eddyline.service.edits import read_edits
from eddyline.service.files.event_times import TimeOptions
from eddyline.service.files.writing import FORMATS, query_texts, write_queries
from eddyline.service.registries import DEFAULT, open_registry


def import_queries(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help=".sql, .jsonl, .json or .csv; - is standard input as JSON lines."
        ),
    ],
    registry: RegistryOption = DEFAULT,
    schema: Schemas = [],  # noqa: B006 (typer copies it)
    stream: StreamName = None,
    event_time: EventTimes = [],  # noqa: B006
    lateness: Latenesses = [],  # noqa: B006
    ahead: Aheads = [],  # noqa: B006
    idle: Idles = [],  # noqa: B006
    join_window: RegistryJoinWindow = None,
    all_or_nothing: Annotated[
        bool, typer.Option("--all-or-nothing", help="Change nothing if any query is refused.")
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
    """Enter all queries of files as one version; a registry that is not there is made.

    An id that is registered already gets the text of the file. What a file says beside the text is taken, too: state,
    tags, owner, destination, metadata; what it does not say stays. A query that is refused is shown with its
    mistake and makes the exit code 1; the others go in, or none does with --all-or-nothing. Queries that are the same as
    others, or covered by others, registered or of these files, are let in with a note: --if-same, --if-implied.

    \b
    Examples:
      eddyline query import rules.sql --schema quotes.parquet --reason "first set"
      eddyline query import joins.sql --schema q=quotes.csv --schema t=trades.csv --event-time ts --lateness "10 s"
      eddyline query import joins.sql --join-window "10 minutes" --redeclare
      eddyline query import a.jsonl b.jsonl --all-or-nothing
      eddyline query import rules.sql --if-same refuse --if-implied shadow
      eddyline query export - --tag fx | eddyline query import - --registry other.db

    \b
    In a .sql file, lines right under the name say what belongs to it:
      -- name: cheap
      -- tags: fx, eu
      -- owner: ann
      SELECT symbol FROM quotes WHERE price < 10;
    """
    with Terminal() as watcher:
        outcome = enter(
            registry,
            read_edits(files),
            Declaration(
                schemas=schema,
                name=stream,
                times=TimeOptions(event_time=event_time, lateness=lateness, ahead=ahead, idle=idle),
                join_window=join_window,
                time_zone=time_zone,
                redeclare=redeclare,
            ),
            Signature(author, reason, base),
            all_or_nothing=all_or_nothing,
            admission=Admission(over_budget=over_budget, if_same=if_same, if_implied=if_implied),
            watcher=watcher,
        )
    tell(outcome, as_json=as_json)


def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Ends in .jsonl, .sql, .csv or .json; - is standard output.")
    ] = STANDARD_INPUT,
    registry: RegistryOption = DEFAULT,
    format: Annotated[
        str | None, typer.Option("--format", help=f"{', '.join(FORMATS)}; if the name does not say it.")
    ] = None,
    tag: Tags = [],  # noqa: B006
    owner: Owner = None,
    state: States = None,
    search: Search = None,
    version: VersionNumber = None,
    as_json: AsJson = False,
) -> None:
    """Write queries to a file that `query import` reads back unchanged.

    A file is written whole or not at all. Standard output gets JSON lines, if --format does not say otherwise.

    \b
    Examples:
      eddyline query export rules.sql
      eddyline query export fx.jsonl --tag fx --state enabled
      eddyline query export old.csv --version 3
      eddyline query export - | jq -r .id
    """
    if format is not None and format not in FORMATS:
        raise UsageError(f'"{format}" is none of {", ".join(FORMATS)}')
    if as_json and file == STANDARD_INPUT:
        raise UsageError("--json and the queries cannot both go to standard output; name a file")
    with open_registry(registry) as opened:
        entries = opened.entries(version, state=state, tags=tag, owner=owner, search=search)
    if file == STANDARD_INPUT:
        _print(query_texts(entries, file, format))
        return
    write_queries(entries, file, format)
    if as_json:
        print_json({"file": file, "queries": len(entries)})
    else:
        Printer().line(f"{file}: {len(entries):,} {'query' if len(entries) == 1 else 'queries'}", "green")


def _print(texts: Iterable[str]) -> None:
    if sys.stdout.isatty():  # for eyes: texts may hold what a terminal would obey
        for text in texts:
            print(shown(text), end="")
        return
    sys.stdout.buffer.writelines(text.encode() for text in texts)
    sys.stdout.buffer.flush()
