"""How queries relate: two of them, or all of a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from eddyline.errors import UsageError
from eddyline.implication.search import Budget
from eddyline.model.catalog import Stream
from eddyline.model.names import unknown_query
from eddyline.model.query import Query
from eddyline.queryset import QuerySet
from eddyline.relations import Redundancies, Related
from eddyline.relations.pair import Pair
from eddyline.service.chosen_queries import ChosenQueries, choose
from eddyline.service.data_sources import check_zone
from eddyline.service.files.event_times import NO_OPTIONS
from eddyline.service.files.schemas import read_source, streams_of
from eddyline.service.findings import Finding
from eddyline.service.watcher import SILENT, Watcher


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRequest:
    """Where the queries stand, what the columns are where no registry says so, and how long one pair may take."""

    queries: Sequence[str] = ()
    registry: str | None = None
    schemas: Sequence[str] = ()
    given: Sequence[str] = ()
    milliseconds: float = 50.0
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class RedundancyReport:
    """The redundancies of a set of `count` queries, and what was wrong with single ones."""

    count: int
    found: Redundancies
    findings: Sequence[Finding]

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "count": self.count,
            "redundancies": self.found.table.to_pylist(),
            "more": dict(self.found.more),
            "unknown": [
                {"query": one, "other": other, "reason": reason} for one, other, reason in self.found.unknown
            ],
            "uncompared": list(self.found.uncompared),
        }


def relate(a: str, b: str, request: RelationRequest) -> Related:
    """What two queries have to do with each other, each an id of the set or a SELECT statement."""
    check_zone(request.time_zone)
    no_set_asked_for = not request.queries and request.registry is None
    stated = bool(request.schemas) and _is_text(a) and _is_text(b)  # then a registry has nothing to add
    chosen = ChosenQueries() if stated and no_set_asked_for else choose(request.queries, request.registry)
    one, other = _text(a, chosen), _text(b, chosen)
    streams = _streams(chosen, request, [Query("a", one), Query("b", other)])
    pair = Pair.of(one, other, streams, request.given, _budget(request), request.time_zone)
    first, second = pair.names
    names = (first if _is_text(a) else f'"{a}"', second if _is_text(b) else f'"{b}"')
    return replace(pair, names=names).relate()


def find_redundancies(request: RelationRequest, watcher: Watcher = SILENT) -> RedundancyReport:
    """What is redundant in a set."""
    check_zone(request.time_zone)
    chosen = choose(request.queries, request.registry)
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
    if compiled.joins:
        watcher.note(
            f"{len(compiled.joins):,} joins are left out: relations are decided between queries of one stream"
        )
    found = compiled.redundancies(
        budget=_budget(request), progress=lambda _, done, total: watcher.checked(done, total)
    )
    return RedundancyReport(len(compiled), found, chosen.findings)


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
            [read_source(option) for option in request.schemas], queries, name=None, times=NO_OPTIONS
        )
        return [*stated, *chosen.streams_besides(stated)]
    if not chosen.streams:
        raise UsageError("the columns of the streams are not known: state them with --schema")
    return list(chosen.streams)


def _budget(request: RelationRequest) -> Budget:
    return Budget(seconds=request.milliseconds / 1000)
