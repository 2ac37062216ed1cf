"""The same as `match.py` over Parquet of any size, by Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from eddyline.errors import FileError, UsageError
from eddyline.project.select_lists import SelectLists
from eddyline.queryset import QuerySet
from eddyline.runtime.embedded.matching import Totals
from eddyline.runtime.embedded.outlets import file_names
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sinks import STANDARD_OUTPUT, sink_format
from eddyline.runtime.spark.functions import spark_resolver
from eddyline.runtime.spark.histories.matching import Matching
from eddyline.runtime.spark.histories.parquet_files import read_rows
from eddyline.runtime.spark.histories.writing import WRITERS, write
from eddyline.runtime.spark.sessions.command_session import command_session
from eddyline.service.chosen_queries import ChosenQueries, choose
from eddyline.service.jobs.match import MatchForm, MatchOutcome, MatchRequest, accepted, compile_set, conclude
from eddyline.service.spark_files import infer_on_spark, is_address, parquet_files, tell_culprits
from eddyline.service.watcher import SILENT, Watcher
from eddyline.sql.resolver import Resolver

_WRITTEN: Final = ", ".join(WRITERS)


def match_on_spark(
    request: MatchRequest, settings: Mapping[str, str], watcher: Watcher = SILENT
) -> MatchOutcome:
    """Match in a Spark session with these settings."""
    request.check()
    _check_place(request)
    request = request.with_file_of_counts()
    chosen = choose(request.queries, request.registry, on_spark=True, join_window=request.join_window)
    with command_session(settings, time_zone=request.time_zone) as spark:
        data = request.data(chosen, watcher, partial(infer_on_spark, spark))
        request.refuse_overwriting(data)
        resolver = spark_resolver(spark, [*chosen.streams, *(each.stream for each in data)])
        compiled = compile_set(chosen, data, request.time_zone, watcher, resolver, on_spark=True)
        totals = Totals()
        found = []
        for each in data:
            rows = read_rows(spark, parquet_files(each.source, request.input_format), each.stream)
            matching = Matching.of(rows, compiled, each.stream)
            watcher.stage(f"counting matches of {each.stream.name}, {rows.count:,} rows")
            counts, culprits = matching.counts()
            totals.add(rows.count, counts)
            tell_culprits(culprits, watcher)
            found.append(matching.without(culprits))
        if request.form is not MatchForm.COUNTS and request.out is not None:
            watcher.stage(f"writing {request.form} to {request.out}")
            _write(found, chosen, compiled, resolver, request.form, request.out, request.format, watcher)
    with Rejects() as none:
        return conclude(request, chosen, compiled, data, totals, none)


def _check_place(request: MatchRequest) -> None:
    """Refuse results that cannot go where they should."""
    where, form = request.out, request.form
    if where == STANDARD_OUTPUT or (where is None and form is not MatchForm.COUNTS):
        raise UsageError(f"on Spark {form} go to a folder: name one with --out, such as matches.parquet")
    if where is None:
        return
    if form is MatchForm.COUNTS:
        if is_address(where):
            raise UsageError(f'counts are written by this process, which cannot write to "{where}"')
        return
    kind = _format(where, request.format)
    if kind not in WRITERS:
        raise UsageError(f'Spark does not write "{kind}"; it writes {_WRITTEN}')


def _is_folder(where: str) -> bool:
    """Whether tables go below a place; one that is there without a slash at its end may be an earlier table."""
    return where.endswith("/")


def _format(where: str, format: str | None) -> str:
    return format or ("parquet" if _is_folder(where) else sink_format(where))


def _write(
    sources: Sequence[Matching],
    chosen: ChosenQueries,
    compiled: QuerySet,
    resolver: Resolver,
    form: MatchForm,
    where: str,
    format: str | None,
    watcher: Watcher,
) -> None:
    kind = _format(where, format)
    if form is MatchForm.PAIRS:
        place = f"{where}pairs.{kind}" if _is_folder(where) else where
        write([_shown(source.pairs(), chosen) for source in sources], place, kind)
        return
    lists = SelectLists.of(accepted(chosen, compiled, resolver), compiled.streams, chosen.shadow)
    sources = [_despite_outputs(source, lists, watcher) for source in sources]
    if not _is_folder(where) and kind == "jsonl":
        write([source.lines(lists).select("value") for source in sources], where, kind)
        return
    if not _is_folder(where) and len(lists.lists) > 1:
        raise FileError(
            f"the queries have {len(lists.lists)} different SELECT lists, which one table cannot hold",
            hint="name a folder (out/) to get a table for each, or a .jsonl file",
        )
    names = file_names(lists.firsts)
    for source in sources:
        with source.tables(lists, kind) as tables:
            for number, table in tables.items():
                write([table], f"{where}{names[number]}.{kind}" if _is_folder(where) else where, kind)


def _despite_outputs(source: Matching, lists: SelectLists, watcher: Watcher) -> Matching:
    """Without the functions of SELECT lists that fail: while a table is written it would be too late."""
    culprits = source.failing_outputs(lists)
    tell_culprits(culprits, watcher)
    return source.without(culprits)


def _shown(pairs: Any, chosen: ChosenQueries) -> Any:
    """Pairs of queries that deliver: shadow queries are only counted."""
    return pairs.where(~pairs["query"].isin(sorted(chosen.shadow))) if chosen.shadow else pairs
