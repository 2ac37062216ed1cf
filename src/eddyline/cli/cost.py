"""`eddyline query cost`: the dearest queries of a set, what one of them is made up of, and what new ones would cost."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any, Final

import pyarrow as pa
import typer

from eddyline.cli.chosen_queries import Chosen, MaybeRegistry, QueryFiles, choose
from eddyline.cli.completion import query_ids
from eddyline.cli.cost_text import cost_json, show_cost, show_dearest, show_new
from eddyline.cli.data_sources import Data, InputFormat, StreamSources, data_of
from eddyline.cli.findings import ERROR
from eddyline.cli.options import AsJson, Schemas, TimeZone
from eddyline.cli.output import Exit, Output, note, print_json
from eddyline.cli.query_files import Entry, is_query_file, read_queries
from eddyline.cli.schemas import read_source, streams_of
from eddyline.cli.zones import check_zone
from eddyline.errors import EddylineError, QueryError
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.queryset import QuerySet
from eddyline.queryset.cost.cost import Cost
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import read
from eddyline.sql.select import parse

PIECES: Final = 8  # of 65,536 rows of each source are enough to measure
Batches = dict[str, list[pa.RecordBatch]]


class By(StrEnum):
    """What is dear."""

    TIME = "time"
    BYTES = "bytes"


def cost(
    id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="One query, with all of its parts.", autocompletion=query_ids),
    ] = None,
    queries: QueryFiles = None,
    registry: MaybeRegistry = None,
    add: Annotated[
        str | None,
        typer.Option(
            "--add", metavar="FILE_OR_SQL", help="What these queries would cost on top, one after the other."
        ),
    ] = None,
    stream: StreamSources = None,
    schema: Schemas = [],  # noqa: B006 (typer copies it)
    top: Annotated[int, typer.Option("--top", min=1, help="How many of the dearest.")] = 20,
    by: Annotated[By, typer.Option("--by", help="Dearest in time, or in bytes.")] = By.TIME,
    input_format: InputFormat = None,
    time_zone: TimeZone = "UTC",
    as_json: AsJson = False,
) -> None:
    """Show what queries cost: nanoseconds for each tuple, and bytes.

    What several queries use (a subject, a condition, a table) is divided among them, so that all shares sum to the cost
    of the set. With --add the cost is what the set would cost more: all that a new query needs and nobody has yet.
    Times are worked out of measured unit costs; with --stream the set is run on those rows, the first half million of
    each source, and what it took is divided in the same way.

    \b
    Examples:
      eddyline query cost
      eddyline query cost cheap
      eddyline query cost --by bytes --top 5 --json
      eddyline query cost --stream quotes=history/
      eddyline query cost --queries rules.sql --schema quotes.parquet --add "SELECT * FROM quotes WHERE price < 10"
    """
    check_zone(time_zone)
    if id is not None and add is not None:
        raise typer.BadParameter("ask about one query of the set, or about new ones with --add, not both")
    chosen = choose(queries, registry)
    new = _new(add, chosen)
    asked = [*chosen.queries, *(entry.query for entry in new)]
    data = data_of(stream, None, schema, chosen.streams, asked, format=input_format) if stream else []
    streams = [each.stream for each in data] or [*_stated(schema, asked, chosen.streams)]
    compiled = _compile(chosen, _joined(streams, chosen.streams), time_zone)
    batches = _batches(data, input_format, time_zone)
    costs = {} if add is None else _price(compiled, new, chosen)
    for finding in chosen.findings:
        finding.show(Output(errors=True))
    if add is not None:
        _tell_new(costs, len(compiled), as_json=as_json)
    else:
        _tell(compiled, id, batches, chosen, top, by, as_json=as_json)
    errors = any(finding.severity == ERROR for finding in chosen.findings)
    raise typer.Exit(Exit.FINDINGS if errors else Exit.FINE)


def _new(add: str | None, chosen: Chosen) -> list[Entry]:
    """The queries of --add; a file's problems are findings."""
    if add is None:
        return []
    if not is_query_file(add):
        return [Entry(Query("the query", add), "SQL", 1, add)]
    file = read_queries(add)
    chosen.findings += file.problems
    return file.entries


def _stated(schemas: Sequence[str], queries: Sequence[Query], declared: Sequence[Stream]) -> list[Stream]:
    if schemas:
        return streams_of([read_source(option) for option in schemas], queries, name=None)
    if not declared:
        raise typer.BadParameter("the columns of the streams are not known: state them with --schema")
    return []


def _joined(streams: Sequence[Stream], declared: Sequence[Stream]) -> list[Stream]:
    names = {stream.name.lower() for stream in streams}
    return [*streams, *(stream for stream in declared if stream.name.lower() not in names)]


def _compile(chosen: Chosen, streams: Sequence[Stream], time_zone: str) -> QuerySet:
    compiled = QuerySet.build(chosen.queries, streams=streams, on_error="collect", time_zone=time_zone)
    chosen.refused(compiled.problems)
    return compiled


def _batches(data: Sequence[Data], format: str | None, time_zone: str) -> Batches:
    """The first rows of each source."""
    found: Batches = {}
    for each in data:
        if each.note is not None:
            note(each.note)
        rejects = Rejects()
        pieces = read(each.source, each.stream, format=format, rejects=rejects, time_zone=time_zone)
        found[each.stream.name] = [piece.batch for piece in islice(pieces, PIECES)]
        if rejects.count:
            note(f"{rejects.count:,} rows of {each.source} could not be read and are left out")
    return found


def _price(compiled: QuerySet, new: Sequence[Entry], chosen: Chosen) -> dict[str, Cost]:
    pricing = compiled.pricing()
    costs: dict[str, Cost] = {}
    for entry in new:
        try:
            costs[entry.query.id] = pricing.marginal(entry.query, keep=True)
        except QueryError as error:
            chosen.findings.append(entry.finding(ERROR, error))
    return costs


def _tell_new(costs: dict[str, Cost], present: int, *, as_json: bool) -> None:
    if as_json:
        total = {
            "nanoseconds": sum(cost.nanoseconds for cost in costs.values()),
            "bytes": sum(cost.bytes for cost in costs.values()),
        }
        print_json(
            {
                "marginal": True,
                "present": present,
                "total": total,
                "queries": [cost_json(*each, parts=True) for each in costs.items()],
            }
        )
    else:
        show_new(Output(), costs, present)


def _tell(
    compiled: QuerySet, id: str | None, batches: Batches, chosen: Chosen, top: int, by: By, *, as_json: bool
) -> None:
    costs = compiled.cost(batches)
    listed = costs.dearest(top, by=by.value)
    if id is not None:
        if id not in costs:
            raise EddylineError(
                f'there is no query "{id}"', hint="query cost without an id lists the dearest"
            )
        listed = [id]
    alone = _alone(compiled, chosen, id, batches) if id is not None and batches else None
    rows = {name: sum(batch.num_rows for batch in several) for name, several in batches.items()}
    if as_json:
        found: dict[str, Any] = {
            "marginal": False,
            "count": len(costs),
            "total": cost_json(None, costs.total),
        }
        found["queries"] = [cost_json(each, costs[each], parts=id is not None) for each in listed]
        found["measured_on"] = rows
        print_json(found | ({"measured_alone": alone} if alone is not None else {}))
    elif id is not None:
        show_cost(Output(), id, costs[id], alone)
    else:
        show_dearest(Output(), costs, listed, by.value, rows)


def _alone(compiled: QuerySet, chosen: Chosen, id: str, batches: Batches) -> float | None:
    """What a query takes if it is the only one."""
    query = next(entry.query for entry in chosen.entries if entry.query.id == id)
    name = parse(query.sql).stream.lower()
    own = {stream: several for stream, several in batches.items() if stream.lower() == name}
    if not own:
        return None
    single = QuerySet.build([query], streams=compiled.streams, time_zone=compiled.time_zone)
    return single.cost(own).total.measured
