"""Schemas from files and from text, and which stream each is the schema of."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa

from eddyline.errors import FileError, QueryError, SchemaError, UsageError
from eddyline.functions.evaluate import arrow_type
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.runtime.embedded.chunk import native
from eddyline.runtime.embedded.infer import guess, guess_objects
from eddyline.runtime.embedded.input_files import FORMATS, open_bytes
from eddyline.runtime.embedded.pipes import HEAD, is_pipe, pipe_of
from eddyline.service.files.event_times import (
    NO_OPTIONS,
    TimeOptions,
    split_metadata,
    take_settings,
    with_times,
)
from eddyline.service.files.named import split_name
from eddyline.service.files.text import read_bytes, read_text
from eddyline.sql.grammar.datatypes import fields
from eddyline.sql.grammar.parse_literals import LiteralParser
from eddyline.sql.grammar.select import parse

UNNAMED: Final = "stream"  # name of a stream whose schema is plain text and that no query names
_ASKED: Final = 1_000  # queries that are asked how they call their stream
_SUFFIXES: Final = (
    ".parquet",
    ".arrow",
    ".arrows",
    ".ipc",
    ".feather",
    ".csv",
    ".json",
    ".jsonl",
    ".ndjson",
    ".ddl",
)


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """One `--schema`: a schema, the stream's name where it was given, and what is said of its event time."""

    name: str | None
    stem: str
    schema: pa.Schema
    times: Mapping[str, str] = field(default_factory=dict)

    def stream(self, name: str) -> Stream:
        """The stream of this schema, under a name."""
        return with_times(Stream(name, self.schema), self.times)


def read_source(option: str) -> SchemaSource:
    """Read what `--schema` says.

    >>> read_source("quotes=symbol STRING, price DOUBLE").schema.names
    ['symbol', 'price']
    """
    name, place = (None, option) if _exists(option) else split_name(option)
    if _exists(place):
        return SchemaSource(name, Path(place).stem, *split_metadata(_read_file(place)))
    if Path(place).suffix.lower() in _SUFFIXES or not re.search(r"\S\s+\S", place):
        raise FileError(
            f'there is no file "{place}" to take a schema from',
            hint="name a Parquet, Arrow, CSV, JSON or .ddl file, or write the columns: 'symbol STRING, price DOUBLE'",
        )
    return SchemaSource(name, UNNAMED, *split_metadata(ddl_schema(place)))


def streams_of(
    sources: Sequence[SchemaSource],
    queries: Iterable[Query],
    *,
    name: str | None,
    times: TimeOptions = NO_OPTIONS,
) -> list[Stream]:
    """The streams of all sources, with what `times` says of them.

    A source without a name is called `name` if that is given, else by its file's name if a query reads a stream of
    that name, else as most queries call their stream.
    """
    bare = [source for source in sources if source.name is None]
    if len(bare) > 1 or (bare and len(sources) > 1 and name is None):
        raise UsageError("several schemas need names: write each as --schema NAME=SCHEMA")
    if name is not None and not bare:
        raise UsageError("--stream gives a lone schema its name, and the schemas have names already")
    streams = [source.stream(source.name or name or guess_name(source.stem, queries)) for source in sources]
    names = Counter(stream.name.lower() for stream in streams)
    repeated = next((name for name, count in names.items() if count > 1), None)
    if repeated is not None:
        raise UsageError(f'the stream "{repeated}" has two schemas')
    return times.apply(streams)


def guess_name(stem: str, queries: Iterable[Query]) -> str:
    """The stream that a file belongs to: that of its name if a query reads one, else the one that most queries read."""
    used: Counter[str] = Counter()
    for query in islice(queries, _ASKED):
        try:
            used.update(stream.name for stream in parse(query.sql).streams)
        except QueryError:
            continue
    spelled = {name.lower(): name for name in reversed(used)}
    if stem.lower() in spelled or not used:
        return spelled.get(stem.lower(), stem)
    return used.most_common(1)[0][0]


def is_read(name: str, queries: Iterable[Query]) -> bool:
    """Whether a query reads a stream; one that cannot be read itself and has the name in its text might.

    >>> (
    ...     is_read("Quotes", [Query("all", "SELECT * FROM quotes")]),
    ...     is_read("all", [Query("all", "SELECT 1 FROM a")]),
    ... )
    (True, False)
    """
    wanted = name.lower()
    written = wanted.replace("`", "``")
    # A look at the text comes first: a registry may have a million queries, of which none is parsed for a strange name.
    return any(written in query.sql.lower() and _reads(query, wanted) for query in queries)


def _reads(query: Query, wanted: str) -> bool:
    try:
        return any(stream.name.lower() == wanted for stream in parse(query.sql).streams)
    except QueryError:
        return True


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long for a name, or with a NUL byte
        return False


def _read_file(path: str) -> pa.Schema:
    data = b"" if Path(path).is_dir() else _start(path)
    try:
        schema = _binary_schema(path, data) or _inferred_schema(path, data)
        if schema is not None:
            _read_names(schema)
            return schema
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).split("\n")[0]
        raise FileError(f'no schema can be read from "{path}": {reason}') from None
    if is_pipe(path):
        return ddl_schema(data.decode("utf-8", "replace"))
    text = read_text(path)
    if Path(path).suffix.lower() in (".ddl", ".txt") and not text.unreadable:
        return ddl_schema(text.text)
    raise FileError(
        f'no schema can be read from "{path}"',
        hint="known are Parquet, Arrow, CSV, JSON, and .ddl with text such as symbol STRING, price DOUBLE",
    )


def _read_names(fields: Iterable[pa.Field]) -> None:
    """Look at every name once: Arrow decodes it only then, and one that is not valid UTF-8 shall fail here, not later."""
    for one in fields:
        assert isinstance(one.name, str), "Arrow gives names as text"
        _read_names(one.type.field(number) for number in range(one.type.num_fields))


def _binary_schema(path: str, data: bytes) -> pa.Schema | None:
    """The schema that a Parquet or Arrow file holds."""
    if data[:4] == b"PAR1":
        from pyarrow import parquet

        return parquet.read_schema(_whole(path))
    if data[:6] == b"ARROW1":
        with pa.ipc.open_file(_whole(path)) as file:
            return file.schema
    if data[:4] == b"\xff\xff\xff\xff" or Path(path).suffix.lower() in (".arrow", ".arrows", ".ipc"):
        with pa.ipc.open_stream(_whole(path)) as stream:
            return stream.schema
    return None


def _whole(path: str) -> str | pa.BufferReader:
    """A file by its name, or all that comes through a pipe."""
    return native(_bytes(path)) if is_pipe(path) else path


def _bytes(path: str) -> bytes:
    if not is_pipe(path):
        return read_bytes(path)
    with open_bytes(path) as pipe:
        return pipe.read()


def _inferred_schema(path: str, data: bytes) -> pa.Schema | None:
    """The schema that the start of a CSV or JSON file suggests: the one that its rows are read with if none is stated."""
    suffix = Path(path).suffix.lower()
    if is_pipe(path) and not suffix:
        suffix = _guess_suffix(data)
    if suffix not in (".csv", ".json", ".jsonl", ".ndjson"):
        return None
    if not data.strip():
        raise FileError(f'"{path}" is empty, so it has no schema')
    if suffix == ".csv":
        data.lstrip().splitlines()[0].decode()  # names that are no text fail here
    is_array = suffix != ".csv" and data.lstrip().startswith(b"[")
    found = _array_schema(path) if is_array else guess(data, FORMATS[suffix]).schema
    if not found.names:
        raise FileError(f'no schema can be guessed from the first rows of "{path}"')
    return found


def _guess_suffix(data: bytes) -> str:
    """The ending that a pipe would have: a shell gives it a name without one."""
    if data.lstrip()[:1] in (b"{", b"["):
        return ".json"
    names = data.lstrip().partition(b"\n")[0].split(b",")
    return ".ddl" if all(len(name.split()) > 1 for name in names) else ".csv"


def _start(path: str) -> bytes:
    if is_pipe(path):
        return pipe_of(path).head()
    try:
        with Path(path).open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return read_bytes(path)  # says why it cannot be read


def _array_schema(path: str) -> pa.Schema:
    try:
        return guess_objects(json.loads(_bytes(path))).schema
    except (ValueError, AttributeError, RecursionError):
        raise FileError(f'"{path}" is no JSON array of objects, so it has no schema') from None


def ddl_schema(text: str) -> pa.Schema:
    """The schema that DDL text describes; what it says of the event time stands in the metadata.

    >>> print(ddl_schema("symbol STRING, price DECIMAL(10, 2), at TIMESTAMP"))
    symbol: string
    price: decimal128(10, 2)
    at: timestamp[us, tz=UTC]
    """
    try:
        cursor = LiteralParser(text)
        columns = fields(cursor, closing=";")
        settings = take_settings(cursor)
        cursor.take_symbol(";")
        cursor.expect_end()
    except QueryError as error:
        error.message = f"the schema cannot be read: {error.message}"
        error.hint = "columns are written as name TYPE, separated by commas: symbol STRING, price DOUBLE"
        raise
    if not columns:
        raise SchemaError("the schema has no column", hint="write it as symbol STRING, price DOUBLE")
    return pa.schema([(name, arrow_type(kind)) for name, kind in columns], metadata=settings or None)
