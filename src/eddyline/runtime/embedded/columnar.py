"""Parquet and Arrow: batches as they are stored, brought to the stream's columns and types."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.delivery.json_text import json_lines
from eddyline.delivery.kinds import is_text
from eddyline.errors import FileError, SchemaError
from eddyline.functions.evaluate.layouts import ordinary, ordinary_type
from eddyline.model import types as t
from eddyline.model.catalog import spark_type
from eddyline.model.names import first_names
from eddyline.runtime.embedded.chunk import Chunk, FileReading, without
from eddyline.runtime.embedded.from_text import fit, words_for
from eddyline.runtime.embedded.input_files import InputFile, open_bytes, start_of


def read_parquet(reading: FileReading) -> Iterator[Chunk]:
    """The rows of a Parquet file, a piece of a row group at a time."""
    from pyarrow import parquet

    with (
        _on_disk(reading.input_file) as path,
        _explained(reading.input_file, "Parquet"),
        parquet.ParquetFile(path, memory_map=True) as file,
    ):
        names = _names(file.schema_arrow, reading)
        rows = file.metadata.num_rows
        first = 0
        for batch in file.iter_batches(reading.batch_rows, columns=list(dict.fromkeys(names))):
            share = (first + batch.num_rows) / max(1, rows)
            yield _fitted(reading, batch, names, first, int(share * (reading.input_file.size or 0)))
            first += batch.num_rows


def read_arrow(reading: FileReading) -> Iterator[Chunk]:
    """The rows of an Arrow file or stream, a batch at a time."""
    start = start_of(reading.input_file)
    if not start:
        raise FileError(f'"{reading.input_file.name}" is empty, and an Arrow file is wanted')
    if not start.startswith(b"ARROW1"):
        with (
            open_bytes(reading.input_file.name) as file,
            _explained(reading.input_file, "Arrow"),
            pa.ipc.open_stream(file) as stream,
        ):
            yield from _batches(reading, stream)
        return
    with (
        _on_disk(reading.input_file) as path,
        _explained(reading.input_file, "Arrow"),
        pa.memory_map(path) as content,
        pa.ipc.open_file(content) as batches,
    ):
        yield from _batches(reading, batches)


def _batches(reading: FileReading, reader: Any) -> Iterator[Chunk]:
    names = _names(reader.schema, reading)
    size = reading.input_file.size or 0
    count = getattr(reader, "num_record_batches", None)
    batches = reader if count is None else map(reader.get_batch, range(count))
    first = 0
    for number, batch in enumerate(batches):
        batch.validate()
        yield _fitted(reading, batch, names, first, size * (number + 1) // count if count else 0)
        first += batch.num_rows


@contextmanager
def _on_disk(input_file: InputFile) -> Iterator[str]:
    """The name of a file that one can jump about in: the file itself, or a copy of what comes through a pipe.

    A name, since Arrow's threads read ahead: with a file of Python's they need the interpreter, and abort the process if
    that is about to end.
    """
    if not input_file.is_pipe:
        yield input_file.name
        return
    with tempfile.NamedTemporaryFile() as copy:
        with open_bytes(input_file.name) as pipe:
            shutil.copyfileobj(pipe, copy)
        copy.flush()
        yield copy.name


@contextmanager
def _explained(input_file: InputFile, kind: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).split("\n")[0]
        raise FileError(
            f'"{input_file.name}" is no whole {kind} file: {reason}', hint="write it again, or leave it out"
        ) from None


def _names(schema: pa.Schema, reading: FileReading) -> list[str]:
    """The file's names of the stream's columns, once their types are found to be of the same sort."""
    stream, names = reading.stream, []
    spelled = {name.lower(): name for name in schema.names}
    repeated = {name for name, count in Counter(map(str.lower, schema.names)).items() if count > 1}
    for field in stream.schema:
        name = spelled.get(field.name.lower())
        if field.name.lower() in repeated:
            raise SchemaError(
                f'"{reading.input_file.name}" has the column "{field.name}" twice (names are compared without case)',
                hint="rename one of them",
            )
        if name is None:
            raise SchemaError(
                f'"{reading.input_file.name}" has no column "{field.name}", which stream "{stream.name}" has',
                hint=f"its columns are {first_names(schema.names)}",
            )
        found = ordinary_type(schema.field(name).type)
        if _sort(found) not in (_sort(field.type), "null"):
            raise SchemaError(
                f'column "{name}" of "{reading.input_file.name}" is {found}, but stream "{stream.name}" has {field.type}',
                hint="cast the column, or declare the stream with the type that it has",
            )
        names.append(name)
    return names


def _sort(kind: pa.DataType) -> object:
    """Types of one sort are converted into each other, value by value where only some fit."""
    if pa.types.is_dictionary(kind):
        return _sort(kind.value_type)
    if is_text(kind):
        return "text"
    spark = spark_type(kind)
    if spark is None:
        return str(kind)
    if spark == t.VOID:
        return "null"
    return "number" if t.is_numeric(spark) else spark


def _fitted(reading: FileReading, batch: pa.RecordBatch, names: list[str], first: int, bytes: int) -> Chunk:
    """The stream's columns of a batch; rows with a value that its type cannot hold are rejected."""
    schema = reading.stream.schema
    problems: dict[int, str] = {}
    columns = []
    for field, name in zip(schema, names, strict=True):
        column = ordinary(batch.column(name))
        if not is_whole(column):
            column = _readable(field, column, problems)
        if column.type != field.type:
            original = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
            column, failed = fit(original, field.type)
            for index in [] if failed is None else np.flatnonzero(failed).tolist():
                problems.setdefault(index, f"{field.name}: {original[index]} is not {words_for(field.type)}")
        columns.append(column)
    bad = np.zeros(batch.num_rows, np.bool_)
    for index in sorted(problems):
        reading.reject(first + index, problems[index], text=_shown(batch.slice(index, 1)))
        bad[index] = True
    return without(pa.RecordBatch.from_arrays(columns, schema=schema), first, bad, bytes)


def _shown(row: pa.RecordBatch) -> bytes:
    """A row as text, for the file of rejects."""
    try:
        return str(json_lines(row)[0]).encode()
    except UnicodeDecodeError:
        return repr(
            [
                column.view(pa.binary())[0].as_py() if is_text(column.type) else str(column[0])
                for column in row.columns
            ]
        ).encode()


def is_whole(column: pa.Array) -> bool:
    """Whether an array holds together: places inside its buffers, text that is UTF-8."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _readable(field: pa.Field, column: pa.Array, problems: dict[int, str]) -> pa.Array:
    """A column of text with NULL where a value is not UTF-8."""
    if not is_text(column.type):
        raise pa.ArrowInvalid(f'column "{field.name}" is damaged')
    raw = column.view(pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary())
    if not is_whole(raw):
        raise pa.ArrowInvalid(f'column "{field.name}" is damaged')
    texts: list[str | None] = []
    for index, value in enumerate(raw.to_pylist()):
        try:
            texts.append(None if value is None else value.decode())
        except UnicodeDecodeError as error:
            problems.setdefault(index, f"{field.name}: the byte 0x{value[error.start]:02X} is not UTF-8")
            texts.append(None)
    return pa.array(texts, column.type)
