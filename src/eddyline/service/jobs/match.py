"""Files of rows matched against standing queries: counts, pairs, or the rows that queries ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.compile import Compiler
from eddyline.errors import QueryError, UsageError
from eddyline.model.catalog import Stream
from eddyline.model.join import Normal, NormalJoin
from eddyline.model.query import Query
from eddyline.project.select_lists import LEAD, PAIR_LEAD
from eddyline.queryset import QuerySet
from eddyline.runtime.embedded.infer import Inferred, infer
from eddyline.runtime.embedded.input_files import FORMATS
from eddyline.runtime.embedded.joins import FileJoins, Kept
from eddyline.runtime.embedded.matching import Totals, match_pairs, match_source
from eddyline.runtime.embedded.outlets import MatchOutlet, PairOutlet, RowOutlet, is_folder
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sinks import STANDARD_OUTPUT, OutputFile, sink_format
from eddyline.service.chosen_queries import ChosenQueries, choose
from eddyline.service.data_sources import (
    Data,
    check_zone,
    complete,
    data_of,
    refuse_overwriting,
    with_option,
)
from eddyline.service.files.event_times import NO_OPTIONS, TimeOptions
from eddyline.service.findings import FAILURE
from eddyline.service.registries import usual_registry
from eddyline.service.watcher import SILENT, Watcher
from eddyline.sql.resolver import Resolver

EMBEDDED_ONLY: Final = "leave out --runtime spark: joins are evaluated in this process"
_COUNTS: Final = pa.schema([("query", pa.string()), ("matches", pa.int64())])


class MatchForm(StrEnum):
    """What is made of matches."""

    COUNTS = "counts"
    PAIRS = "pairs"
    ROWS = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRequest:
    """What is matched, and where it goes: `out` is None for counts that nobody writes; "-" is standard output."""

    queries: Sequence[str] = ()
    registry: str | None = None
    streams: Sequence[str] = ()
    source: str | None = None
    schemas: Sequence[str] = ()
    times: TimeOptions = NO_OPTIONS
    join_window: str | None = None
    form: MatchForm = MatchForm.COUNTS
    out: str | None = None
    format: str | None = None
    input_format: str | None = None
    rejects: str | None = None
    threads: int | None = None
    time_zone: str = "UTC"

    def check(self) -> None:
        """Refuse what contradicts itself."""
        check_zone(self.time_zone)
        known = list(dict.fromkeys(FORMATS.values()))
        for format in (self.format, self.input_format):
            if format is not None and format not in known:
                raise UsageError(f'"{format}" is no format; known are {", ".join(known)}')
        if "-" in self.queries and (self.source == "-" or any(s.endswith("=-") for s in self.streams)):
            raise UsageError("queries and rows cannot both come from standard input")

    def data(
        self, chosen: ChosenQueries, watcher: Watcher, infer: Callable[[str, str | None], Inferred] = infer
    ) -> list[Data]:
        """The rows of all streams."""
        return data_of(
            self.streams,
            self.source,
            self.schemas,
            chosen.streams,
            chosen.queries,
            times=self.times,
            format=self.input_format,
            infer=infer,
            watcher=watcher,
        )

    def refuse_overwriting(self, data: Sequence[Data]) -> None:
        """Refuse to write over what is read."""
        read = (*self.queries, self.registry or usual_registry())
        refuse_overwriting((self.out, self.rejects), data, read, format=self.input_format)

    def with_file_of_counts(self) -> MatchRequest:
        """The same with the file that counts are written to, whose format is known before the work is done."""
        if self.form is not MatchForm.COUNTS or self.out is None:
            return self
        where = file_in(self.out, "counts", self.format)
        _ = self.format or sink_format(where)
        return replace(self, out=where)


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """What came out: `counts` has every query that was accepted, in their order; `joins` are those of them that join streams.

    `left_out`: rows that joins do not see, by stream and reason.
    """

    chosen: ChosenQueries
    data: Sequence[Data]
    totals: Totals
    rejects: Rejects
    counts: Mapping[str, int]
    joins: Sequence[str]
    left_out: Mapping[str, Mapping[str, int]]
    where: str | None

    def as_json(self) -> dict[str, object]:
        """For machines."""
        rejects = self.rejects
        return {
            "rows": self.totals.rows,
            "matches": self.totals.matches,
            "pairs": self.totals.pairs,
            "streams": [{"stream": each.stream.name, "source": each.source} for each in self.data],
            "counts": dict(self.counts),
            "shadow": sorted(self.chosen.shadow & set(self.counts)),
            "joins": list(self.joins),
            "left_out_of_joins": {name: dict(reasons) for name, reasons in self.left_out.items()},
            "findings": [finding.as_json() for finding in self.chosen.findings],
            "rejected": rejects.count,
            "rejects": str(rejects.path) if rejects.count and rejects.path is not None else None,
            "first_rejects": [reject.as_json() for reject in rejects.first],
            "out": self.where,
        }


def match_files(request: MatchRequest, watcher: Watcher = SILENT) -> MatchOutcome:
    """Match in this process."""
    request.check()
    chosen = choose(request.queries, request.registry, join_window=request.join_window)
    data = request.data(chosen, watcher)
    request.refuse_overwriting(data)
    request = request.with_file_of_counts()
    compiled = compile_set(chosen, data, request.time_zone, watcher)
    path = _rejects_path(request.rejects, request.out)
    with Rejects(path, at_once=request.rejects is not None) as rejects:
        joins = _joins(request, compiled)
        totals = _run(request, chosen, compiled, data, joins, rejects, watcher)
    return conclude(request, chosen, compiled, data, totals, rejects, joins)


def conclude(
    request: MatchRequest,
    chosen: ChosenQueries,
    compiled: QuerySet,
    data: Sequence[Data],
    totals: Totals,
    rejects: Rejects,
    joins: FileJoins | None = None,
) -> MatchOutcome:
    """What came out; counts are written if they go to a file."""
    counts = {query.id: totals.counts[query.id] for query in chosen.queries if query.id in compiled}
    if request.form is MatchForm.COUNTS and request.out is not None:
        table = pa.table([list(counts), list(counts.values())], schema=_COUNTS)
        with OutputFile(request.out, _COUNTS, request.format) as writer:
            writer.sink.write(table)
    left_out = {} if joins is None else joins.left_out
    return MatchOutcome(chosen, data, totals, rejects, counts, compiled.joins, left_out, request.out)


def compile_set(
    chosen: ChosenQueries,
    data: Sequence[Data],
    time_zone: str,
    watcher: Watcher,
    resolver: Resolver | None = None,
    *,
    on_spark: bool = False,
) -> QuerySet:
    """The queries of all streams; those that are refused are told, the rest goes on."""
    read = [each.stream for each in data]
    compiled = QuerySet.build(
        chosen.queries,
        streams=complete([*read, *chosen.streams_besides(read)]),
        on_error="collect",
        time_zone=time_zone,
        resolver=resolver,
        join_window=chosen.join_window,
    )
    chosen.refused(with_option(problem, data) for problem in compiled.problems)
    refused = _refused_joins(compiled, read, on_spark=on_spark)
    chosen.refused(refused.values())
    compiled = compiled.remove(refused)
    for finding in chosen.findings:
        watcher.finding(finding)
    if not len(compiled):
        watcher.note("no query is left to match")
    return compiled


def _refused_joins(compiled: QuerySet, read: Sequence[Stream], *, on_spark: bool) -> dict[str, QueryError]:
    """Joins that cannot be evaluated here, by id: all on Spark, else those of which one stream has rows and the other none.

    One of whose streams none has rows is like any other query without rows: it matches nothing.
    """
    if on_spark:
        message = "it joins streams, which this runtime does not do"
        return {id: QueryError(message, query=id, hint=EMBEDDED_ONLY) for id in compiled.joins}
    names = {stream.name for stream in read}
    compiler = _compiler(compiled)
    found = {}
    for id in compiled.joins:
        join = compiler.compile(Query(id, compiled[id].sql))
        assert isinstance(join, NormalJoin), "only joins are asked for"
        streams = [source.stream for source in join.sources]
        missing = [name for name in streams if name not in names]
        if missing and names.intersection(streams):
            message = f'it joins stream "{missing[0]}", of which there are no rows'
            found[id] = QueryError(message, query=id, hint=f"give them: --stream {missing[0]}=SOURCE")
    return found


def accepted(chosen: ChosenQueries, compiled: QuerySet, resolver: Resolver | None = None) -> list[Normal]:
    """The normal forms of the queries that were not refused, in their order."""
    compiler = _compiler(compiled, resolver)
    return [compiler.compile(Query(q.id, q.sql)) for q in chosen.queries if q.id in compiled]


def _compiler(compiled: QuerySet, resolver: Resolver | None = None) -> Compiler:
    return Compiler(
        compiled.streams,
        time_zone=compiled.time_zone,
        resolver=resolver,
        join_window=compiled.join_window,
    )


def file_in(where: str, name: str, format: str | None) -> str:
    """The file that is meant: in a folder, which is made, one of a name."""
    if not is_folder(where):
        return where
    Path(where).mkdir(parents=True, exist_ok=True)
    return str(Path(where) / f"{name}.{format or 'parquet'}")


def _rejects_path(rejects: str | None, where: str | None) -> Path | None:
    if rejects is not None:
        return Path(rejects)
    if where is None or where == STANDARD_OUTPUT:
        return None
    path = Path(f"{where.rstrip('/')}.rejects.jsonl")
    path.unlink(missing_ok=True)  # of an earlier run
    return path


def _run(
    request: MatchRequest,
    chosen: ChosenQueries,
    compiled: QuerySet,
    data: Sequence[Data],
    joins: FileJoins | None,
    rejects: Rejects,
    watcher: Watcher,
) -> Totals:
    totals = Totals()
    with ExitStack() as stack:
        outlet = _outlet(request, chosen, compiled, stack)
        for each in data:
            watcher.source()
            match_source(
                compiled,
                each.source,
                each.stream,
                totals=totals,
                outlet=outlet,
                rejects=rejects,
                format=request.input_format,
                joins=joins,
                threads=request.threads or _processors(),
                on_progress=watcher.progress,
            )
        if joins is not None:
            match_pairs(compiled, joins, totals, outlet)
            _tell_failures(chosen, compiled, joins, watcher)
    return totals


def _joins(request: MatchRequest, compiled: QuerySet) -> FileJoins | None:
    if not compiled.joins:
        return None
    kept = Kept.SELECTED if request.form is MatchForm.ROWS else Kept.NOTHING
    return FileJoins(compiled.standing(), kept)


def _tell_failures(chosen: ChosenQueries, compiled: QuerySet, joins: FileJoins, watcher: Watcher) -> None:
    """Name joins of which pairs may be missing."""
    entries = {entry.query.id: entry for entry in chosen.entries}
    for dense, error in joins.failed.items():
        [id] = compiled.names(np.array([dense])).to_pylist()
        problem = QueryError(f"it could not be evaluated for all rows: {error}", query=id)
        finding = entries[id].finding(FAILURE, problem)
        chosen.findings.append(finding)
        watcher.finding(finding)


def _processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _outlet(
    request: MatchRequest, chosen: ChosenQueries, compiled: QuerySet, stack: ExitStack
) -> MatchOutlet | None:
    where, format = request.out, request.format
    if request.form is MatchForm.COUNTS or where is None:
        return None
    if request.form is MatchForm.PAIRS:
        place, lead = file_in(where, "pairs", format), PAIR_LEAD if compiled.joins else LEAD
        return PairOutlet(stack.enter_context(OutputFile(place, lead, format)), lead, chosen.shadow)
    queries = accepted(chosen, compiled)
    return RowOutlet(compiled, queries, where, stack, format=format, hidden=chosen.shadow)
