"""CSV and TSV: a header, blocks converted as a whole where that works, row by row where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from eddyline.delivery.kinds import is_text
from eddyline.errors import FileError
from eddyline.model.names import first_names
from eddyline.runtime.embedded import csv_text
from eddyline.runtime.embedded.blocks import LONGEST, Block, blocks, count_lines
from eddyline.runtime.embedded.chunk import Chunk, FileReading, native, without
from eddyline.runtime.embedded.from_text import from_text, words_for
from eddyline.runtime.embedded.input_files import open_bytes, position, unpacked

SEPARATORS: Final = {"csv": b",", "tsv": b"\t"}
_ODD_NAN: Final = re.compile(rb"[-+]nan|nan\(", re.IGNORECASE)
_SHOWN: Final = 40  # characters of a value in a reason


class _Head(NamedTuple):
    """The names of a file's columns as it spells them, and where each column of the stream stands."""

    names: list[str]
    indices: list[int]
    separator: bytes


def read_csv(reading: FileReading) -> Iterator[Chunk]:
    """The rows of a file; the first line names the columns, in any order and case, others than the stream's ignored."""
    separator = SEPARATORS[reading.input_file.format]
    for field in reading.stream.schema:
        if pa.types.is_nested(field.type):
            raise FileError(
                f'column "{field.name}" of stream "{reading.stream.name}" is {field.type}, which CSV cannot hold',
                hint="use JSON lines, Parquet or Arrow",
            )
    head: _Head | None = None
    row = 0
    with open_bytes(reading.input_file.name) as file:
        for block in blocks(
            unpacked(file, reading.input_file.name),
            reading.input_file.name,
            partial(csv_text.find_end, separator=separator),
        ):
            if block.too_long:
                reason = f"the line has {block.too_long} bytes, more than {LONGEST}"
                reading.reject(row, reason, line=block.line, text=block.data)
                row += 1
                continue
            if head is None:
                head, block = _read_head(reading, block, separator)
            if head is not None and block.data:
                chunk, rows = _read_block(reading, head, block, row, position(file))
                row += rows
                yield chunk
    if head is None:
        raise FileError(
            f'"{reading.input_file.name}" is empty: it has not even a line with the names of its columns'
        )


def _read_head(reading: FileReading, block: Block, separator: bytes) -> tuple[_Head | None, Block]:
    """The header, and what comes after it."""
    record = next(csv_text.records(block.data, separator), None)
    if record is None:
        return None, Block(b"", block.line)
    names = [(field or b"").decode("utf-8", "backslashreplace").strip() for field in record.fields]
    indices = {name.lower(): index for index, name in enumerate(names)}
    missing = [name for name in reading.stream.schema.names if name.lower() not in indices]
    if missing:
        raise FileError(
            f'"{reading.input_file.name}" has no column "{missing[0]}", which stream "{reading.stream.name}" has',
            hint=f"its first line names {first_names(names)}",
        )
    spelled = [name.lower() for name in names]
    repeated = [name for name in reading.stream.schema.names if spelled.count(name.lower()) > 1]
    if repeated:
        raise FileError(
            f'"{reading.input_file.name}" has the column "{repeated[0]}" twice (names are compared without case)',
            hint="rename one of them in its first line",
        )
    head = _Head(names, [indices[name.lower()] for name in reading.stream.schema.names], separator)
    rest = block.data[record.end :]
    return head, Block(rest, block.line + count_lines(block.data[: record.end]))


def _read_block(reading: FileReading, head: _Head, block: Block, row: int, bytes: int) -> tuple[Chunk, int]:
    """The rows of a block, and how many there were with the rejected ones."""
    batch = read_whole(reading, head, block.data)
    if batch is not None:
        return Chunk(batch, row, bytes), batch.num_rows
    return _read_rows(reading, head, block, row, bytes)


def read_whole(reading: FileReading, head: _Head, data: bytes) -> pa.RecordBatch | None:
    """All rows at once, None where one of them may have to be rejected."""
    schema = reading.stream.schema
    if not data.strip(b"\r\n"):
        return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
    if not csv_text.is_plain(data, head.separator):
        return None
    direct = {
        str(index): field.type if _is_direct(field.type) else pa.string()
        for index, field in zip(head.indices, schema, strict=True)
    }
    try:
        table = csv.read_csv(
            native(data),
            read_options=csv.ReadOptions(
                column_names=[str(index) for index in range(len(head.names))], block_size=len(data) + 1
            ),
            parse_options=csv.ParseOptions(
                delimiter=head.separator.decode(), newlines_in_values=b'"' in data
            ),
            convert_options=csv.ConvertOptions(
                column_types=direct,
                include_columns=list(direct),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if _has_odd_numbers(table, data):
        return None
    columns = []
    for index, field in zip(head.indices, schema, strict=True):
        column = table.column(str(index)).combine_chunks()
        if column.type != field.type:
            column, failed = from_text(column, field.type, reading.zone)
            if failed is not None and failed.any():
                return None
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _has_odd_numbers(table: pa.Table, data: bytes) -> bool:
    """Whether there may be numbers that are none but to Arrow: 0x10, -nan, nan(1)."""
    kinds = [column.type for column in table.columns]
    if any(map(pa.types.is_integer, kinds)) and (b"0x" in data or b"0X" in data):
        return True
    fractions = [column for column in table.columns if pa.types.is_floating(column.type)]
    odd = any(pc.any(pc.is_nan(column)).as_py() for column in fractions)
    return odd and _ODD_NAN.search(data) is not None


def _is_direct(kind: pa.DataType) -> bool:
    """Whether Arrow's reader of CSV reads a type as the cast does."""
    return is_text(kind) or (
        (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and not pa.types.is_float16(kind)
    )


def _read_rows(reading: FileReading, head: _Head, block: Block, row: int, bytes: int) -> tuple[Chunk, int]:
    """Row by row, those that cannot be read rejected."""
    records = list(csv_text.records(block.data, head.separator))
    problems: dict[int, str] = {}
    texts: list[list[str | None]] = [[] for _ in head.indices]
    for number, record in enumerate(records):
        values, problem = _texts(record, head)
        if problem is not None:
            problems[number] = problem
        for column, value in zip(texts, values, strict=True):
            column.append(value)
    columns = []
    for field, column in zip(reading.stream.schema, texts, strict=True):
        values, failed = from_text(pa.array(column, pa.string()), field.type, reading.zone)
        columns.append(values)
        for number in [] if failed is None else np.flatnonzero(failed).tolist():
            problems.setdefault(
                number, f"{field.name}: {_quoted(column[number])} is not {words_for(field.type)}"
            )
    bad = np.zeros(len(records), np.bool_)
    line, at = block.line, 0
    for number in sorted(problems):
        record = records[number]
        line, at = line + count_lines(block.data[at : record.start]), record.start
        text = block.data[record.start : record.end].rstrip(b"\r\n")
        reading.reject(row + number, problems[number], line=line, text=text)
        bad[number] = True
    batch = pa.RecordBatch.from_arrays(columns, schema=reading.stream.schema)
    return without(batch, row, bad, bytes), len(records)


def _texts(record: csv_text.Record, head: _Head) -> tuple[list[str | None], str | None]:
    """The stream's columns of a row as text, and what is wrong with the row."""
    nothing: list[str | None] = [None] * len(head.indices)
    if record.problem is not None:
        return nothing, record.problem
    if len(record.fields) != len(head.names):
        found = "1 field" if len(record.fields) == 1 else f"{len(record.fields)} fields"
        return nothing, f"the row has {found}, and the first line names {len(head.names)}"
    try:
        decoded = [None if field is None else field.decode() for field in record.fields]
    except UnicodeDecodeError as error:
        return nothing, f"the byte 0x{error.object[error.start]:02X} is not UTF-8"
    return [decoded[index] for index in head.indices], None


def _quoted(text: str | None) -> str:
    text = text or ""
    return f'"{text}"' if len(text) <= _SHOWN else f'"{text[:_SHOWN]}..."'
