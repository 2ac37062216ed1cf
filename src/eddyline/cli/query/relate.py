"""`query relate` and `query redundancies`: how queries relate, and which of a set nobody needs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from eddyline.cli.completion import query_ids
from eddyline.cli.options import AsJson, MaybeRegistry, QueryFiles, Schemas, TimeZone
from eddyline.cli.output.progress import Terminal
from eddyline.cli.output.terminal import Exit, Printer, print_json
from eddyline.relations import Related, Relation
from eddyline.service.jobs.relations import RedundancyReport, RelationRequest, find_redundancies
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
    given: Given = [],  # noqa: B006
    milliseconds: Milliseconds = 50.0,
    time_zone: TimeZone = "UTC",
    as_json: AsJson = False,
) -> None:
    """Tell how two queries relate: the same rows, one implied by the other, disjoint, or overlapping.

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
        given=given,
        milliseconds=milliseconds,
        time_zone=time_zone,
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
    milliseconds: Milliseconds = 50.0,
    time_zone: TimeZone = "UTC",
    as_json: AsJson = False,
) -> None:
    """List the queries that are the same as others, implied by others, or never true.

    Of those that cover a query the three tightest are listed and the others counted. Exit code 1 if there are any.

    \b
    Examples:
      eddyline query redundancies
      eddyline query redundancies --json
      eddyline query redundancies --queries rules.sql --schema quotes.parquet
    """
    request = RelationRequest(
        queries=queries or (),
        registry=registry,
        schemas=schema,
        milliseconds=milliseconds,
        time_zone=time_zone,
    )
    with Terminal() as watcher:
        report = find_redundancies(request, watcher)
    if as_json:
        print_json(report.as_json())
    else:
        _show(Printer(), report)
    raise typer.Exit(Exit.FINDINGS if len(report.found) or report.findings else Exit.FINE)


def _show(output: Printer, report: RedundancyReport) -> None:
    told = {"equivalent": "the same rows as", "implied": "covered by", "never true": "never true"}
    more, shown = dict(report.found.more), []
    for row in report.found.table.to_pylist():
        shown.append((row["query"], told[row["relation"]], row["other"] or ""))
    if shown:
        output.table(("query", "is", "query"), shown)
    redundant = len({row[0] for row in shown})
    output.line(f"{redundant:,} of {report.count:,} queries are redundant", "bold")
    if more:
        output.line(f"{sum(more.values()):,} further covers of {len(more):,} queries are not listed")
    if report.found.unknown:
        output.line(f"{len(report.found.unknown):,} pairs are undecided; --json names them")
    if report.found.uncompared:
        output.line(
            f"{len(report.found.uncompared):,} queries were not compared: no row was found that satisfies them"
        )


def _as_json(found: Related) -> dict[str, Any]:
    parts = {"implies": found.forward, "implied_by": found.backward, "disjoint": found.disjoint}
    return {"verdict": found.verdict, **{name: _part_json(part) for name, part in parts.items()}}


def _part_json(part: Relation) -> dict[str, Any]:
    row = None if part.row is None else {name: _plain(value) for name, value in part.row.items()}
    return {"verdict": part.verdict, "text": str(part), "row": row, "reason": part.reason}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)
