"""`eddyline match --runtime spark`: the same queries and answers, over Parquet of any size."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, NoReturn

import typer

from eddyline.cli.chosen_queries import Chosen, choose
from eddyline.cli.data_sources import data_of, refuse_overwriting
from eddyline.cli.findings import ERROR
from eddyline.cli.match_report import Form, compile_set, file_in, report
from eddyline.cli.output import Exit, note
from eddyline.cli.registry_options import DEFAULT, VARIABLE
from eddyline.cli.runtimes import infer_on_spark, is_address, parquet_files, tell_culprits
from eddyline.compile import Compiler
from eddyline.errors import FileError
from eddyline.model.query import Query
from eddyline.project.select_lists import SelectLists
from eddyline.queryset import QuerySet
from eddyline.runtime.embedded.matching import Totals
from eddyline.runtime.embedded.outlets import file_names
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sinks import STANDARD_OUTPUT, sink_format
from eddyline.runtime.spark.command_session import command_session
from eddyline.runtime.spark.functions import spark_resolver
from eddyline.runtime.spark.matching import Matching
from eddyline.runtime.spark.parquet_files import read_rows
from eddyline.runtime.spark.writing import WRITERS, write
from eddyline.sql.resolver import Resolver

_WRITTEN: Final = ", ".join(WRITERS)


class SparkRequest(NamedTuple):
    """What the command was asked for."""

    queries: list[str] | None
    registry: str | None
    stream: list[str] | None
    source: str | None
    schema: list[str] | None
    output: Form | None
    out: str | None
    format: str | None
    input_format: str | None
    time_zone: str
    as_json: bool


def match_on_spark(request: SparkRequest, settings: Mapping[str, str]) -> NoReturn:
    """All of the command, once its options are known to fit."""
    form = request.output or (Form.COUNTS if request.out is None else Form.ROWS)
    where = _place(request, form)
    chosen = choose(request.queries, request.registry, on_spark=True)
    with command_session(settings, time_zone=request.time_zone) as spark:
        data = data_of(
            request.stream or (),
            request.source,
            request.schema or (),
            chosen.streams,
            chosen.queries,
            format=request.input_format,
            infer=partial(infer_on_spark, spark),
        )
        read = (*(request.queries or ()), request.registry or os.environ.get(VARIABLE) or DEFAULT)
        refuse_overwriting((where,), data, read, format=request.input_format)
        resolver = spark_resolver(spark, [*chosen.streams, *(each.stream for each in data)])
        compiled = compile_set(chosen, data, request.time_zone, resolver)
        totals = Totals()
        found = []
        for each in data:
            rows = read_rows(spark, parquet_files(each.source, request.input_format), each.stream)
            matching = Matching.of(rows, compiled, each.stream)
            _say(f"counting matches of {each.stream.name}, {rows.count:,} rows")
            counts, culprits = matching.counts()
            totals.add(rows.count, counts)
            tell_culprits(culprits)
            found.append(matching.without(culprits))
        if form is not Form.COUNTS and where is not None:
            _say(f"writing {form} to {where}")
            _write(found, chosen, compiled, resolver, form, where, request.format)
    with Rejects() as none:
        report(
            chosen,
            compiled,
            data,
            totals,
            none,
            form=form,
            where=where,
            format=request.format,
            as_json=request.as_json,
        )
    errors = any(finding.severity == ERROR for finding in chosen.findings)
    raise typer.Exit(Exit.FINDINGS if errors else Exit.FINE)


def _say(text: str) -> None:
    """What Spark is about to do, for somebody who waits at a terminal."""
    if sys.stderr.isatty():
        note(f"Spark: {text}")


def _place(request: SparkRequest, form: Form) -> str | None:
    """Where results go, once it is known that they can."""
    where = request.out
    if where == STANDARD_OUTPUT or (where is None and form is not Form.COUNTS):
        raise typer.BadParameter(
            f"on Spark {form} go to a folder: name one with --out, such as matches.parquet"
        )
    if where is None:
        return None
    if form is Form.COUNTS:
        if is_address(where):
            raise typer.BadParameter(f'counts are written by this process, which cannot write to "{where}"')
        where = file_in(where, "counts", request.format)
        _ = request.format or sink_format(where)  # before the work is done
        return where
    kind = _format(where, request.format)
    if kind not in WRITERS:
        raise typer.BadParameter(f'Spark does not write "{kind}"; it writes {_WRITTEN}')
    return where


def _is_folder(where: str) -> bool:
    """Whether tables go below a place; one that is there without a slash at its end may be an earlier table."""
    return where.endswith("/")


def _format(where: str, format: str | None) -> str:
    return format or ("parquet" if _is_folder(where) else sink_format(where))


def _write(
    sources: Sequence[Matching],
    chosen: Chosen,
    compiled: QuerySet,
    resolver: Resolver,
    form: Form,
    where: str,
    format: str | None,
) -> None:
    kind = _format(where, format)
    if form is Form.PAIRS:
        place = f"{where}pairs.{kind}" if _is_folder(where) else where
        write([_shown(source.pairs(), chosen) for source in sources], place, kind)
        return
    compiler = Compiler(compiled.streams, time_zone=compiled.time_zone, resolver=resolver)
    accepted = [compiler.compile(Query(q.id, q.sql)) for q in chosen.queries if q.id in compiled]
    lists = SelectLists.of(accepted, compiled.streams, chosen.shadow)
    sources = [_despite_outputs(source, lists) for source in sources]
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


def _despite_outputs(source: Matching, lists: SelectLists) -> Matching:
    """Without the functions of SELECT lists that fail: while a table is written it would be too late."""
    culprits = source.failing_outputs(lists)
    tell_culprits(culprits)
    return source.without(culprits)


def _shown(pairs: Any, chosen: Chosen) -> Any:
    """Pairs of queries that deliver: shadow queries are only counted."""
    return pairs.where(~pairs["query"].isin(sorted(chosen.shadow))) if chosen.shadow else pairs
