"""Which rows a job reads: sources by the streams they are of, and what each stream's columns are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from eddyline.errors import QueryError, UsageError
from eddyline.functions.zones import find_zone
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.event_time import is_event_time, length_text
from eddyline.model.query import Query
from eddyline.runtime.embedded.infer import Inferred, infer
from eddyline.runtime.embedded.input_files import input_files
from eddyline.runtime.embedded.outlets import is_folder
from eddyline.runtime.embedded.pipes import STANDARD_INPUT
from eddyline.runtime.embedded.sinks import STANDARD_OUTPUT
from eddyline.service.files.event_times import NO_OPTIONS, TimeOptions
from eddyline.service.files.named import split_name
from eddyline.service.files.schemas import SchemaSource, guess_name, is_read, read_source
from eddyline.service.watcher import SILENT, Watcher


class Data(NamedTuple):
    """A stream, where its rows are, and how many rows its types were guessed from (None: they are stated)."""

    stream: Stream
    source: str
    guessed_from: int | None = None

    @property
    def note(self) -> str | None:
        """What to say about types that were guessed."""
        if self.guessed_from is None:
            return None
        columns = ", ".join(f"{name} {kind}" for name, kind in self.stream.types.items())
        return (
            f"the columns of {self.stream.name} are guessed from the first {self.guessed_from} rows of "
            f"{self.source}: {columns}; --schema states them"
        )


def data_of(
    sources: Sequence[str],
    lone: str | None,
    schemas: Iterable[str],
    declared: Iterable[Stream],
    queries: Sequence[Query],
    *,
    times: TimeOptions = NO_OPTIONS,
    format: str | None = None,
    infer: Callable[[str, str | None], Inferred] = infer,
    watcher: Watcher = SILENT,
) -> list[Data]:
    """The streams with their sources.

    A stream's schema is the one that is stated, else the registry's, else the one of its files, as `infer` tells; where it
    had to guess, the watcher is told; so it is of streams that no query reads. `times` says more about event times.
    """
    stated = [read_source(schema) for schema in schemas]
    named = [split_source(source) for source in sources]
    if lone is not None:
        named.append((_name_of(lone, stated, declared, queries), lone))
    _check(named, stated)
    known = {stream.name.lower(): stream for stream in declared}
    result = []
    for name, source in named:
        schema = _stated_for(name, stated, alone=len(named) == 1)
        if schema is not None:
            result.append(Data(schema.stream(name), source))
        elif name.lower() in known:
            result.append(Data(known[name.lower()], source))
        else:
            found = infer(source, format)
            result.append(Data(Stream(name, found.schema), source, found.guessed_from))
    streams = times.apply(each.stream for each in result)
    result = [each._replace(stream=stream) for each, stream in zip(result, streams, strict=True)]
    for each in result:
        if each.note is not None:
            watcher.note(each.note)
        if queries and not is_read(each.stream.name, queries):  # without any, it has been told why
            watcher.note(f'no query reads stream "{each.stream.name}", whose rows are in {each.source}')
    return result


def complete(streams: Iterable[Stream]) -> list[Stream]:
    """Streams of which all rows are there, so that none is late: an event time is enough to join them."""
    return [
        replace(stream, lateness=0 if kind in t.INTEGRAL else length_text(0, kind))
        if stream.times is not None and stream.times.lateness is None
        else stream
        for stream, kind in (
            (stream, stream.types.get(stream.event_time or "", t.VOID)) for stream in streams
        )
    ]


def with_option(problem: QueryError, data: Iterable[Data]) -> QueryError:
    """The same problem; where the event time of a stream is missing, its hint names the option of a command."""
    for stream in (each.stream for each in data):
        if problem.message == f'stream "{stream.name}" has no event time':
            fit = [name for name, kind in stream.types.items() if is_event_time(kind)]
            likely = [name for name in fit if stream.types[name] not in t.INTEGRAL] or fit
            problem.hint = f"say which column it is: --event-time {stream.name}={[*likely, 'COLUMN'][0]}"
    return problem


def check_zone(name: str) -> None:
    """Refuse what is no time zone."""
    if find_zone(name) is None:
        raise UsageError(f'"{name}" is not a time zone; write it as Europe/Vienna or +02:00')


def refuse_overwriting(
    written: Iterable[str | Path | None],
    data: Sequence[Data],
    others: Iterable[str | None] = (),
    *,
    format: str | None = None,
) -> None:
    """Refuse to write over what a command reads, its rows or other files, or to write two things into one file."""
    sources = [each.source for each in data if each.source != STANDARD_INPUT and "://" not in each.source]
    read = {Path(file.name).resolve() for source in sources for file in input_files(source, format)}
    read |= {Path(name.removeprefix("sqlite:///")).resolve() for name in others if name is not None}
    taken: set[Path] = set()
    for name in written:
        if name is None or str(name) == STANDARD_OUTPUT:
            continue
        path = Path(name).resolve()
        if path in read or (is_folder(name) and any(file.parent == path for file in read)):
            raise UsageError(f'"{name}" is read, and would be written over; name another place')
        if path in taken:
            raise UsageError(f'two things would be written to "{name}"; name another place for one')
        taken.add(path)


def split_source(text: str) -> tuple[str, str]:
    """The stream and the source that `--stream` names."""
    name, source = split_name(text)
    if name is None:
        raise UsageError(f'--stream is written as NAME=SOURCE, such as quotes=quotes.csv, not "{text}"')
    return name, source


def _name_of(
    source: str, stated: Sequence[SchemaSource], declared: Iterable[Stream], queries: Sequence[Query]
) -> str:
    names = [schema.name for schema in stated if schema.name is not None]
    if len(names) == 1:
        return names[0]
    streams = list(declared)
    if len(streams) == 1 and not queries:
        return streams[0].name
    stem = "" if source == STANDARD_INPUT else Path(source).name.split(".")[0]
    return guess_name(stem or "rows", queries)


def _check(named: Sequence[tuple[str, str]], stated: Sequence[SchemaSource]) -> None:
    if not named:
        raise UsageError("there are no rows to read: name a SOURCE, or --stream NAME=SOURCE")
    names = [name.lower() for name, _ in named]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(f'the stream "{repeated}" has two sources; a folder or a glob takes several files')
    if sum(source == STANDARD_INPUT for _, source in named) > 1:
        raise UsageError("only one stream can come from standard input")
    if any(schema.name is None for schema in stated) and (len(stated) > 1 or len(named) > 1):
        raise UsageError("several schemas or streams need names: write each as --schema NAME=SCHEMA")
    strange = next((s.name for s in stated if s.name is not None and s.name.lower() not in names), None)
    if strange is not None:
        raise UsageError(f'--schema names the stream "{strange}", which has no --stream {strange}=SOURCE')


def _stated_for(name: str, stated: Sequence[SchemaSource], *, alone: bool) -> SchemaSource | None:
    return next(
        (s for s in stated if (s.name is None and alone) or (s.name or "").lower() == name.lower()), None
    )
