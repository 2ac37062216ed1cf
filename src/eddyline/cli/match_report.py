"""What `eddyline match` says: queries that were refused, counts, a summary for machines."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

import pyarrow as pa

from eddyline.cli.chosen_queries import Chosen
from eddyline.cli.data_sources import Data
from eddyline.cli.output import Output, counted, counted_rows, note, print_json
from eddyline.model.catalog import Stream
from eddyline.queryset import QuerySet
from eddyline.runtime.embedded.matching import Totals
from eddyline.runtime.embedded.outlets import is_folder
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sinks import STANDARD_OUTPUT, Writer
from eddyline.sql.resolver import Resolver

_COUNTS: Final = pa.schema([("query", pa.string()), ("matches", pa.int64())])


class Form(StrEnum):
    """What is made of matches."""

    COUNTS = "counts"
    PAIRS = "pairs"
    ROWS = "rows"


def _streams(chosen: Chosen, data: Sequence[Data]) -> list[Stream]:
    """The streams with rows, and those that the registry declares besides."""
    read = [each.stream for each in data]
    names = {stream.name.lower() for stream in read}
    return [*read, *(stream for stream in chosen.streams if stream.name.lower() not in names)]


def compile_set(
    chosen: Chosen, data: Sequence[Data], time_zone: str, resolver: Resolver | None = None
) -> QuerySet:
    """The queries of all streams; those that are refused are told, the rest goes on."""
    compiled = QuerySet.build(
        chosen.queries,
        streams=_streams(chosen, data),
        on_error="collect",
        time_zone=time_zone,
        resolver=resolver,
    )
    chosen.refused(compiled.problems)
    for finding in chosen.findings:
        finding.show(Output(errors=True))
    if not len(compiled):
        note("no query is left to match")
    return compiled


def file_in(where: str, name: str, format: str | None) -> str:
    """The file that is meant: in a folder, which is made, one of a name."""
    if not is_folder(where):
        return where
    Path(where).mkdir(parents=True, exist_ok=True)
    return str(Path(where) / f"{name}.{format or 'parquet'}")


def report(
    chosen: Chosen,
    compiled: QuerySet,
    data: Sequence[Data],
    totals: Totals,
    rejects: Rejects,
    *,
    form: Form,
    where: str | None,
    format: str | None,
    as_json: bool,
) -> None:
    """Tell what came out, and write counts if they go to a file."""
    counts = {query.id: totals.counts[query.id] for query in chosen.queries if query.id in compiled}
    if form is Form.COUNTS and where is not None:
        table = pa.table([list(counts), list(counts.values())], schema=_COUNTS)
        with Writer(where, _COUNTS, format) as writer:
            writer.sink.write(table)
    if as_json:
        print_json(_summary(chosen, data, totals, rejects, counts, where))
    elif where is None:
        _show_counts(chosen, counts)
    if not as_json:
        found = f"{counted(totals.matches, 'match', 'matches')} of {counted(len(counts), 'query', 'queries')}"
        written = f", written to {where}" if where not in (None, STANDARD_OUTPUT) else ""
        note(f"{counted_rows(totals.rows)}, {found}{written}")
    _report_rejects(rejects)


def _show_counts(chosen: Chosen, counts: dict[str, int]) -> None:
    rows = [
        (id + (" (shadow)" if id in chosen.shadow else ""), f"{count:,}")
        for id, count in sorted(counts.items(), key=lambda item: -item[1])
    ]
    Output().table(("query", "matches"), rows, right=(1,))


def _summary(
    chosen: Chosen,
    data: Sequence[Data],
    totals: Totals,
    rejects: Rejects,
    counts: dict[str, int],
    where: str | None,
) -> dict[str, object]:
    return {
        "rows": totals.rows,
        "matches": totals.matches,
        "streams": [{"stream": each.stream.name, "source": each.source} for each in data],
        "counts": counts,
        "shadow": sorted(chosen.shadow & set(counts)),
        "findings": [finding.as_json() for finding in chosen.findings],
        "rejected": rejects.count,
        "rejects": str(rejects.path) if rejects.count and rejects.path is not None else None,
        "first_rejects": [reject.as_json() for reject in rejects.first],
        "out": where,
    }


def _report_rejects(rejects: Rejects) -> None:
    if not rejects.count:
        return
    rows = counted_rows(rejects.count)
    if rejects.path is not None:
        note(f"{rows} could not be read: see {rejects.path}")
        return
    note(f"{rows} could not be read; --rejects FILE keeps them all. The first:")
    for reject in rejects.first:
        note(f"  {reject}")
