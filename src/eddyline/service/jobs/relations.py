"""How queries relate: two of them, or all of a set."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from eddyline.admission.listener import SetProgress
from eddyline.compile import Compiler
from eddyline.errors import UsageError
from eddyline.implication.search import Budget
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.names import unknown_query
from eddyline.model.query import Query
from eddyline.queryset import QuerySet
from eddyline.redundancy.page import to_html
from eddyline.redundancy.proofs import TimedProofs
from eddyline.redundancy.values import ComparedQuery, ComparedSet
from eddyline.relations import Related
from eddyline.relations.pair import Pair
from eddyline.service.chosen_queries import ChosenQueries, choose
from eddyline.service.data_sources import check_zone
from eddyline.service.files.event_times import NO_OPTIONS, TimeOptions, stated_window
from eddyline.service.files.queries import FileEntry
from eddyline.service.files.schemas import read_source, streams_of
from eddyline.service.files.text import write_text
from eddyline.service.findings import Finding
from eddyline.service.watcher import SILENT, Watcher


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRequest:
    """Where the queries stand, what the columns are where no registry says so, and how long one pair may take."""

    queries: Sequence[str] = ()
    registry: str | None = None
    schemas: Sequence[str] = ()
    times: TimeOptions = NO_OPTIONS
    given: Sequence[str] = ()
    milliseconds: float = 50.0
    time_zone: str = "UTC"
    join_window: str | None = None
    proofs: bool = False  # why each redundancy is one


@dataclass(frozen=True, slots=True)
class RedundancyReport:
    """What is redundant in a set, and what was wrong with single queries; `streams` are what these are about."""

    compared: ComparedSet
    findings: Sequence[Finding]
    streams: Sequence[Stream]
    join_window: Length | None
    request: RelationRequest

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        found = self.compared.found
        return {
            "count": len(self.compared.queries),
            "complete": found.complete,
            "redundancies": found.table.to_pylist(),
            "more": dict(found.more),
            "unknown": [
                {"query": one, "other": other, "reason": reason} for one, other, reason in found.unknown
            ],
            "uncompared": list(found.uncompared),
        }

    def write_page(self, file: str) -> None:
        """For people: an HTML file that needs nothing else. Ctrl-C shortens the search for proofs."""
        compiler = Compiler(self.streams, time_zone=self.request.time_zone, join_window=self.join_window)
        proofs = TimedProofs(compiler, _budget(self.request), _command(self.request))
        write_text(file, to_html(self.compared, proofs))


def relate(a: str, b: str, request: RelationRequest) -> Related:
    """What two queries have to do with each other, each an id of the set or a SELECT statement."""
    check_zone(request.time_zone)
    no_set_asked_for = not request.queries and request.registry is None
    stated = bool(request.schemas) and _is_text(a) and _is_text(b)  # then a registry has nothing to add
    chosen = (
        ChosenQueries(join_window=stated_window(request.join_window))
        if stated and no_set_asked_for
        else choose(request.queries, request.registry, join_window=request.join_window)
    )
    one, other = _text(a, chosen), _text(b, chosen)
    streams = _streams(chosen, request, [Query("a", one), Query("b", other)])
    pair = Pair.of(
        one, other, streams, request.given, _budget(request), request.time_zone, chosen.join_window
    )
    first, second = pair.names
    names = (first if _is_text(a) else f'"{a}"', second if _is_text(b) else f'"{b}"')
    return replace(pair, names=names).relate()


def find_redundancies(request: RelationRequest, watcher: Watcher = SILENT) -> RedundancyReport:
    """What is redundant in a set."""
    check_zone(request.time_zone)
    chosen = choose(request.queries, request.registry, join_window=request.join_window)
    streams = _streams(chosen, request, chosen.queries)
    compiled = QuerySet.build(
        chosen.queries,
        streams=streams,
        on_error="collect",
        time_zone=request.time_zone,
        join_window=chosen.join_window,
    )
    chosen.refused(compiled.problems)
    for finding in chosen.findings:
        watcher.finding(finding)
    found = compiled.redundancies(
        budget=_budget(request), progress=SetProgress(watcher), proofs=request.proofs
    )
    compared = ComparedSet(_compared(chosen, compiled), found)
    return RedundancyReport(compared, chosen.findings, streams, chosen.join_window, request)


def _compared(chosen: ChosenQueries, compiled: QuerySet) -> dict[str, ComparedQuery]:
    """The queries that were compared, with what a registry or a file says of them."""
    kept = (entry for entry in chosen.entries if entry.query.id in compiled)
    return {entry.query.id: _described(entry) for entry in kept}


def _described(entry: FileEntry) -> ComparedQuery:
    said = {name: entry.attributes.get(name) for name in ("state", "owner", "destination")}
    texts = {name: None if value is None else str(value) for name, value in said.items()}
    return ComparedQuery(entry.query.id, entry.query.sql, **texts)


def _is_text(given: str) -> bool:
    """Whether somebody gives a statement rather than an id."""
    return given.lstrip().upper().startswith("SELECT ")


def _text(given: str, chosen: ChosenQueries) -> str:
    if _is_text(given):
        return given
    for query in chosen.queries:
        if query.id == given:
            return query.sql
    raise unknown_query(given, (query.id for query in chosen.queries))


def _streams(chosen: ChosenQueries, request: RelationRequest, queries: Sequence[Query]) -> list[Stream]:
    if request.schemas:
        stated = streams_of(
            [read_source(option) for option in request.schemas], queries, name=None, times=request.times
        )
        return [*stated, *chosen.streams_besides(stated)]
    if not chosen.streams:
        raise UsageError("the columns of the streams are not known: state them with --schema")
    return list(chosen.streams)


def _command(request: RelationRequest) -> str:
    """What shows how two queries of the set relate, but for their ids."""
    stated = [("--queries", file) for file in request.queries]
    stated += [("--schema", schema) for schema in request.schemas]
    for name in ("event_time", "lateness", "ahead", "idle"):
        stated += [(f"--{name.replace('_', '-')}", text) for text in getattr(request.times, name)]
    for option, value in (("--registry", request.registry), ("--join-window", request.join_window)):
        stated += [] if value is None else [(option, value)]
    stated += [] if request.time_zone == "UTC" else [("--time-zone", request.time_zone)]
    return shlex.join(["eddyline", "query", "relate", *(word for pair in stated for word in pair)])


def _budget(request: RelationRequest) -> Budget:
    return Budget(seconds=request.milliseconds / 1000)
