"""`query relate` and `query redundancies`: how queries relate, and which of a set nobody needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from eddyline.cli.completion import query_ids
from eddyline.cli.options import (
    Aheads,
    AsJson,
    EventTimes,
    Idles,
    JoinWindow,
    Latenesses,
    MaybeRegistry,
    QueryFiles,
    Schemas,
    TimeZone,
)
from eddyline.cli.output.progress import Terminal
from eddyline.cli.output.terminal import Exit, Printer, complain, counted, print_json
from eddyline.redundancy.values import ComparedSet
from eddyline.relations import Related, Relation
from eddyline.service.files.event_times import TimeOptions
from eddyline.service.jobs.relations import RelationRequest, find_redundancies
from eddyline.service.jobs.relations import relate as relate_queries

Given = Annotated[
    list[str],
    typer.Option(
        "--given", metavar="CONDITION", help="A condition that no row violates, such as 'low <= high'."
    ),
]
Milliseconds = Annotated[
    float, typer.Option("--milliseconds", min=0.1, help="How long the search for one pair may take.")
]
FIRST_ROWS: Final = 50
Page = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write a page to look at: one HTML file that needs nothing else."),
]
Proofs = Annotated[bool, typer.Option("--proofs", help="Also say why: a proof for each row.")]
All = Annotated[bool, typer.Option("--all", help=f"Print all rows, not only the first {FIRST_ROWS}.")]
One = Annotated[
    str, typer.Argument(metavar="A", help="An id, or a SELECT statement.", autocompletion=query_ids)
]
Other = Annotated[str, typer.Argument(metavar="B", help="Another one.", autocompletion=query_ids)]


def relate(
    a: One,
    b: Other,
    queries: QueryFiles = None,
    registry: MaybeRegistry = None,
    schema: Schemas = [],  # noqa: B006 (typer copies it)
    event_time: EventTimes = [],  # noqa: B006
    lateness: Latenesses = [],  # noqa: B006
    ahead: Aheads = [],  # noqa: B006
    idle: Idles = [],  # noqa: B006
    given: Given = [],  # noqa: B006
    milliseconds: Milliseconds = 50.0,
    join_window: JoinWindow = None,
    time_zone: TimeZone = "UTC",
    as_json: AsJson = False,
) -> None:
    """Tell how two queries of one stream, or two joins of the same streams, relate.

    They have the same rows, one is implied by the other, they are disjoint, or they overlap.

    What holds is proven, and the proof is shown; what does not is shown by a row, checked by a second evaluator. What
    cannot be decided is unknown, with the reason. Exit code 1 if they are equivalent, or one implies the other.

    \b
    Examples:
      eddyline query relate cheap "cheap fx"
      eddyline query relate cheap "SELECT * FROM quotes WHERE price < 5"
      eddyline query relate "SELECT * FROM q WHERE a < 3" "SELECT * FROM q WHERE a < 5" --schema q='a INT'
      eddyline query relate tight wide --given "low <= high" --json
    """
    request = RelationRequest(
        queries=queries or (),
        registry=registry,
        schemas=schema,
        times=TimeOptions(event_time=event_time, lateness=lateness, ahead=ahead, idle=idle),
        given=given,
        milliseconds=milliseconds,
        time_zone=time_zone,
        join_window=join_window,
    )
    found = relate_queries(a, b, request)
    if as_json:
        print_json(_as_json(found))
    else:
        output = Printer()
        output.line(found.verdict, "bold")
        output.line(str(found))
    redundant = found.verdict in ("equivalent", "implies", "implied by", "never true")
    raise typer.Exit(Exit.FINDINGS if redundant else Exit.FINE)


def redundancies(
    queries: QueryFiles = None,
    registry: MaybeRegistry = None,
    schema: Schemas = [],  # noqa: B006 (typer copies it)
    event_time: EventTimes = [],  # noqa: B006
    lateness: Latenesses = [],  # noqa: B006
    ahead: Aheads = [],  # noqa: B006
    idle: Idles = [],  # noqa: B006
    html: Page = None,
    show_all: All = False,
    proofs: Proofs = False,
    milliseconds: Milliseconds = 50.0,
    time_zone: TimeZone = "UTC",
    join_window: JoinWindow = None,
    as_json: AsJson = False,
) -> None:
    """List the queries that are the same as others, implied by others, or never true.

    Of those that cover a query the three tightest are listed and the others counted. --html draws clusters of related
    queries, with their texts, their owners, a proof for each relation, and a list of what could go.
    Ctrl-C ends the search: what was found until then is shown. Exit code 1 if there are any, 130 if it was interrupted.

    \b
    Examples:
      eddyline query redundancies
      eddyline query redundancies --html redundancies.html
      eddyline query redundancies --proofs
      eddyline query redundancies --json --proofs > redundancies.json
      eddyline query redundancies --queries rules.sql --schema quotes.parquet --all
    """
    request = RelationRequest(
        queries=queries or (),
        registry=registry,
        schemas=schema,
        times=TimeOptions(event_time=event_time, lateness=lateness, ahead=ahead, idle=idle),
        milliseconds=milliseconds,
        time_zone=time_zone,
        join_window=join_window,
        proofs=proofs,
    )
    with Terminal() as watcher:
        report = find_redundancies(request, watcher)
    if as_json:
        print_json(report.as_json())
    else:
        _show(Printer(), report.compared, None if show_all else FIRST_ROWS)
    if html is not None:
        report.write_page(html)
    if not report.compared.found.complete:
        complain("interrupted: not all queries were compared, there may be more")
        raise typer.Exit(Exit.INTERRUPTED)
    raise typer.Exit(Exit.FINDINGS if len(report.compared.found) or report.findings else Exit.FINE)


def _show(output: Printer, compared: ComparedSet, most: int | None) -> None:
    told = {"equivalent": "the same rows as", "implied": "covered by", "never true": "never true"}
    found, figures = compared.found, compared.figures()
    shown = found.table.slice(0, most).to_pylist()
    if shown and "proof" in shown[0]:
        for row in shown:
            other = "" if row["other"] is None else f' "{row["other"]}"'
            output.line(f'"{row["query"]}" is {told[row["relation"]]}{other}')
            for line in row["proof"].split("\n"):
                output.line(f"  {line}")
    elif shown:
        rows = [(row["query"], told[row["relation"]], row["other"] or "") for row in shown]
        output.table(("query", "is", "query"), rows)
    if len(found) > len(shown):
        output.line(f"{len(found) - len(shown):,} more rows are not shown; --all shows them, --json has them")
    output.line(f"{figures.redundant:,} of {figures.queries:,} queries are redundant", "bold")
    if found.more:
        further, covered = sum(found.more.values()), len(found.more)
        output.line(f"{further:,} further covers of {counted(covered, 'query', 'queries')} are not listed")
    if figures.undecided:
        output.line(f"{counted(figures.undecided, 'pair', 'pairs')} undecided; --json has the reasons")
    if figures.uncompared:
        those = counted(figures.uncompared, "query", "queries")
        output.line(
            f"{those} not compared: no row could be made that satisfies them; query relate A B may decide"
        )


def _as_json(found: Related) -> dict[str, Any]:
    parts = {"implies": found.forward, "implied_by": found.backward, "disjoint": found.disjoint}
    return {"verdict": found.verdict, **{name: _part_json(part) for name, part in parts.items()}}


def _part_json(part: Relation) -> dict[str, Any]:
    row = None if part.row is None else _plain(part.row)
    return {"verdict": part.verdict, "text": str(part), "row": row, "reason": part.reason}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):  # a row, or one for each alias of a join
        return {name: _plain(part) for name, part in value.items()}
    return value if isinstance(value, str | int | float | bool | None) else str(value)
