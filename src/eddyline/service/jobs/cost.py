"""What queries cost: the dearest of a set, the parts of one of them, and what new ones would cost on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

import pyarrow as pa

from eddyline.errors import EddylineError, QueryError, UsageError
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.queryset import QuerySet
from eddyline.queryset.cost.cost import Cost, Costs
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import read
from eddyline.service.chosen_queries import ChosenQueries, choose
from eddyline.service.data_sources import Data, check_zone, data_of
from eddyline.service.files.event_times import NO_OPTIONS, TimeOptions
from eddyline.service.files.queries import FileEntry, is_query_file, read_queries
from eddyline.service.files.schemas import read_source, streams_of
from eddyline.service.findings import ERROR, Finding
from eddyline.service.watcher import SILENT, Watcher
from eddyline.sql.grammar.select import parse

PIECES: Final = 8  # of 65,536 rows of each source are enough to measure
Batches = dict[str, list[pa.RecordBatch]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRequest:
    """What is asked about: one query (`id`), new queries (`add`, a file or a text), or the dearest of the set.

    `streams` are sources to measure on; `schemas` say what the columns are where neither these nor a registry do.
    """

    id: str | None = None
    add: str | None = None
    queries: Sequence[str] = ()
    registry: str | None = None
    streams: Sequence[str] = ()
    schemas: Sequence[str] = ()
    times: TimeOptions = NO_OPTIONS
    join_window: str | None = None
    top: int = 20
    by: Literal["time", "bytes"] = "time"
    input_format: str | None = None
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class SetPrices:
    """Costs of a set: `listed` are the ids that were asked for, `rows` what was measured on, by stream.

    `alone` is what one query took by itself, where one was asked about and measured.
    """

    costs: Costs
    listed: Sequence[str]
    rows: dict[str, int]
    alone: float | None
    findings: Sequence[Finding]

    def as_json(self, *, parts: bool) -> dict[str, Any]:
        """For machines; with `parts` also what each is made up of."""
        return {
            "marginal": False,
            "count": len(self.costs),
            "total": _cost_json(None, self.costs.total),
            "queries": [_cost_json(each, self.costs[each], parts=parts) for each in self.listed],
            "measured_on": self.rows,
            **({"measured_alone": self.alone} if self.alone is not None else {}),
        }


@dataclass(frozen=True, slots=True)
class NewPrices:
    """What new queries would cost, one after the other, on top of those that are `present`."""

    costs: dict[str, Cost]
    present: int
    findings: Sequence[Finding]

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        total = {
            "nanoseconds": sum(cost.nanoseconds for cost in self.costs.values()),
            "bytes": sum(cost.bytes for cost in self.costs.values()),
        }
        return {
            "marginal": True,
            "present": self.present,
            "total": total,
            "queries": [_cost_json(*each, parts=True) for each in self.costs.items()],
        }


def _cost_json(id: str | None, cost: Cost, *, parts: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {} if id is None else {"id": id}
    found |= {"nanoseconds": cost.nanoseconds, "bytes": cost.bytes, "measured_nanoseconds": cost.measured}
    if parts:
        found["parts"] = [
            {
                "text": part.text,
                "kind": part.kind,
                "nanoseconds": part.nanoseconds,
                "bytes": part.bytes,
                "users": part.users,
            }
            for part in cost.parts
        ]
    return found


def price(request: CostRequest, watcher: Watcher = SILENT) -> SetPrices | NewPrices:
    """Costs of a set's queries, or of new ones."""
    check_zone(request.time_zone)
    if request.id is not None and request.add is not None:
        raise UsageError("ask about one query of the set, or about new ones with --add, not both")
    chosen = choose(request.queries, request.registry, join_window=request.join_window)
    new = _new(request.add, chosen)
    asked = [*chosen.queries, *(entry.query for entry in new)]
    data: list[Data] = []
    if request.streams:
        data = data_of(
            request.streams,
            None,
            request.schemas,
            chosen.streams,
            asked,
            times=request.times,
            format=request.input_format,
            watcher=watcher,
        )
    streams = [each.stream for each in data] or _stated(request, asked, chosen.streams)
    compiled = _compile(chosen, [*streams, *chosen.streams_besides(streams)], request.time_zone)
    batches = _batches(data, request, watcher)
    costs = {} if request.add is None else _price(compiled, new, chosen)
    for finding in chosen.findings:
        watcher.finding(finding)
    if request.add is not None:
        return NewPrices(costs, len(compiled), chosen.findings)
    return _of_set(compiled, request, batches, chosen)


def _new(add: str | None, chosen: ChosenQueries) -> list[FileEntry]:
    """The new queries; a file's problems are findings."""
    if add is None:
        return []
    if not is_query_file(add):
        return [FileEntry(Query("the query", add), "SQL", 1, add)]
    file = read_queries(add)
    chosen.findings += file.problems
    return file.entries


def _stated(request: CostRequest, queries: Sequence[Query], declared: Sequence[Stream]) -> list[Stream]:
    if request.schemas:
        sources = [read_source(option) for option in request.schemas]
        return streams_of(sources, queries, name=None, times=request.times)
    if not declared:
        raise UsageError("the columns of the streams are not known: state them with --schema")
    return []


def _compile(chosen: ChosenQueries, streams: Sequence[Stream], time_zone: str) -> QuerySet:
    compiled = QuerySet.build(
        chosen.queries,
        streams=streams,
        on_error="collect",
        time_zone=time_zone,
        join_window=chosen.join_window,
    )
    chosen.refused(compiled.problems)
    return compiled


def _batches(data: Sequence[Data], request: CostRequest, watcher: Watcher) -> Batches:
    """The first rows of each source."""
    found: Batches = {}
    for each in data:
        rejects = Rejects()
        pieces = read(
            each.source,
            each.stream,
            format=request.input_format,
            rejects=rejects,
            time_zone=request.time_zone,
        )
        found[each.stream.name] = [piece.batch for piece in islice(pieces, PIECES)]
        if rejects.count:
            watcher.note(f"{rejects.count:,} rows of {each.source} could not be read and are left out")
    return found


def _price(compiled: QuerySet, new: Sequence[FileEntry], chosen: ChosenQueries) -> dict[str, Cost]:
    pricing = compiled.pricing()
    costs: dict[str, Cost] = {}
    for entry in new:
        try:
            costs[entry.query.id] = pricing.marginal(entry.query, keep=True)
        except QueryError as error:
            chosen.findings.append(entry.finding(ERROR, error))
    return costs


def _of_set(compiled: QuerySet, request: CostRequest, batches: Batches, chosen: ChosenQueries) -> SetPrices:
    costs, id = compiled.cost(batches), request.id
    listed = costs.dearest(request.top, by=request.by)
    if id is not None:
        if id not in costs:
            raise EddylineError(
                f'there is no query "{id}"', hint="query cost without an id lists the dearest"
            )
        listed = [id]
    alone = _alone(compiled, chosen, id, batches) if id is not None and batches else None
    rows = {name: sum(batch.num_rows for batch in several) for name, several in batches.items()}
    return SetPrices(costs, listed, rows, alone, chosen.findings)


def _alone(compiled: QuerySet, chosen: ChosenQueries, id: str, batches: Batches) -> float | None:
    """What a query takes if it is the only one."""
    query = next(entry.query for entry in chosen.entries if entry.query.id == id)
    names = {stream.name.lower() for stream in parse(query.sql).streams}
    own = {stream: several for stream, several in batches.items() if stream.lower() in names}
    if not own:
        return None
    single = QuerySet.build(
        [query],
        streams=compiled.streams,
        time_zone=compiled.time_zone,
        join_window=compiled.join_window,
    )
    return single.cost(own).total.measured
