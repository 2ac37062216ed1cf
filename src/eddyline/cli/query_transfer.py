"""`query import` and `query export`: files of queries into a registry, and back."""

from __future__ import annotations

from typing import Annotated

import typer

from eddyline.cli.options import AsJson, OverBudget, Schemas, StreamName, TimeZone
from eddyline.cli.output import Output, print_json
from eddyline.cli.query_edits import read_edits
from eddyline.cli.query_writing import FORMATS, write_queries
from eddyline.cli.registry_changes import declare, make
from eddyline.cli.registry_options import (
    DEFAULT,
    Author,
    Base,
    Owner,
    Reason,
    RegistryOption,
    Search,
    States,
    Tags,
    VersionNumber,
    open_registry,
)
from eddyline.cli.zones import check_zone
from eddyline.model.query import Query
from eddyline.queryset.garbage import uncollected
from eddyline.runtime.embedded.pipes import STANDARD_INPUT


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
    all_or_nothing: Annotated[
        bool, typer.Option("--all-or-nothing", help="Change nothing if any query is refused.")
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
    """Enter all queries of files as one version; a registry that is not there is made.

    An id that is registered already gets the text of the file. What a file says beside the text is taken, too: state,
    tags, owner, destination, metadata; what it does not say stays. A query that is refused is shown with its
    mistake and makes the exit code 1; the others go in, or none does with --all-or-nothing.

    \b
    Examples:
      eddyline query import rules.sql --schema quotes.parquet --reason "first set"
      eddyline query import a.jsonl b.jsonl --all-or-nothing
      eddyline query export - --tag fx | eddyline query import - --registry other.db

    \b
    In a .sql file, lines right under the name say what belongs to it:
      -- name: cheap
      -- tags: fx, eu
      -- owner: ann
      SELECT symbol FROM quotes WHERE price < 10;
    """
    check_zone(time_zone)
    with uncollected(), open_registry(registry, must_exist=False) as opened:
        edits = read_edits(files)
        queries = [Query(edit.id, edit.sql) for edit in edits.edits]
        at = declare(opened, schema, queries, stream=stream, time_zone=time_zone, redeclare=redeclare)
        outcome = make(
            opened,
            edits,
            at,
            author=author,
            reason=reason,
            base=base,
            all_or_nothing=all_or_nothing,
            over_budget=over_budget,
        )
    outcome.tell(as_json=as_json)


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
        raise typer.BadParameter(f'"{format}" is none of {", ".join(FORMATS)}')
    if as_json and file == STANDARD_INPUT:
        raise typer.BadParameter("--json and the queries cannot both go to standard output; name a file")
    with open_registry(registry) as opened:
        entries = opened.entries(version, state=state, tags=tag, owner=owner, search=search)
    write_queries(entries, file, format)
    if as_json:
        print_json({"file": file, "queries": len(entries)})
    elif file != STANDARD_INPUT:
        Output().line(f"{file}: {len(entries):,} {'query' if len(entries) == 1 else 'queries'}", "green")
