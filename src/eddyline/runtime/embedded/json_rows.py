"""JSON lines: one object per line, blocks converted as a whole where that works, line by line where it does not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from eddyline.delivery.kinds import is_text
from eddyline.errors import FileError
from eddyline.functions.zones import Zone, find_zone
from eddyline.model.catalog import Stream
from eddyline.runtime.embedded.blocks import LONGEST, Block, blocks
from eddyline.runtime.embedded.chunk import Chunk, FileReading, native, without
from eddyline.runtime.embedded.from_text import from_text
from eddyline.runtime.embedded.input_files import open_bytes, position, unpacked
from eddyline.runtime.embedded.json_values import column_of

_FEED: Final = ord("\n")
_BRACE: Final = ord("{")
_OTHER_LINE: Final = re.compile(rb"^[ \t\r]*+[^{ \t\r\n]", re.MULTILINE)  # that is no object
_LINE: Final = re.compile(rb"^[ \t\r]*+\{", re.MULTILINE)
_ODD_NUMBER: Final = re.compile(rb"[:,\[]\s*-?(?:Inf|NaN)")  # Arrow takes Inf for a number


def read_json_lines(reading: FileReading) -> Iterator[Chunk]:
    """The rows of a file; fields that the stream does not have are ignored, missing ones are NULL; case does not matter."""
    row = 0
    with open_bytes(reading.input_file.name) as file:
        for block in blocks(
            unpacked(file, reading.input_file.name), reading.input_file.name, _find_end, returns=False
        ):
            if block.too_long:
                reason = f"the line has {block.too_long} bytes, more than {LONGEST}"
                reading.reject(row, reason, line=block.line, text=block.data)
                row += 1
                continue
            if not row and block.line == 1 and block.data.lstrip()[:1] == b"[":
                raise FileError(
                    f'"{reading.input_file.name}" is a JSON array, and JSON lines are wanted: one object per line',
                    hint="jq -c '.[]' makes lines of an array",
                )
            batch = read_whole(reading, block.data)
            if batch is not None:
                yield Chunk(batch, row, position(file))
                row += batch.num_rows
            else:
                chunk, rows = _read_lines(reading, block, row, position(file))
                yield chunk
                row += rows


def _find_end(data: bytes, at_end: bool) -> int:
    return len(data) if at_end else data.rfind(b"\n") + 1


def read_whole(reading: FileReading, data: bytes) -> pa.RecordBatch | None:
    """All lines at once, None where one of them may have to be rejected.

    Arrow does not care for lines or for UTF-8, and a block of nothing but `null` makes it crash: all that is looked at
    before.
    """
    lines = _count_objects(data)
    if lines is None or ((b"Inf" in data or b"NaN" in data) and _ODD_NUMBER.search(data)):
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    schema = reading.stream.schema
    if not lines:
        return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
    direct = [_direct(field) for field in schema]
    if any(field is None for field in direct):
        return None
    try:
        table = arrow_json.read_json(
            native(data),
            read_options=arrow_json.ReadOptions(block_size=len(data) + 1),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=pa.schema(direct),
                unexpected_field_behavior="ignore",
                newlines_in_values=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != lines:
        return None
    columns = []
    for field in schema:
        column = table.column(field.name).combine_chunks()
        if column.null_count and _has_other_case(data, field.name):
            return None
        if column.type != field.type:
            column, failed = from_text(column, field.type, reading.zone)
            if failed is not None and failed.any():
                return None
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _has_other_case(data: bytes, name: str) -> bool:
    """Whether there may be a field of a name in other letters, which Arrow takes for another one."""
    key = f'"{name}"'.encode()
    return data.lower().count(key.lower()) != data.count(key)


def _field(found: dict[str, Any], name: str) -> Any:
    """A field of an object, its name compared without case where it does not stand there as it is."""
    if name in found or not found:
        return found.get(name)
    return next((value for key, value in found.items() if key.lower() == name.lower()), None)


def _count_objects(data: bytes) -> int | None:
    """How many lines look like objects; None if some line looks like anything else."""
    text = np.frombuffer(data, np.uint8)
    starts = np.flatnonzero(text == _FEED) + 1
    first = text[starts[starts < len(text)]]
    if data[:1] == b"{" and (first == _BRACE).all():
        return len(first) + 1
    return None if _OTHER_LINE.search(data) else len(_LINE.findall(data))


def _direct(field: pa.Field) -> pa.Field | None:
    """How Arrow is to read a column: as it is, as text to be converted, or not at all."""
    kind = field.type
    if is_text(kind):
        return pa.field(field.name, pa.string())
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64()):
        return field
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return pa.field(field.name, pa.string())
    return None


def _read_lines(reading: FileReading, block: Block, row: int, bytes: int) -> tuple[Chunk, int]:
    """Line by line, those that cannot be read rejected."""
    numbers, texts = [], []
    for number, line in enumerate(block.data.split(b"\n")):
        if line.strip(b" \t\r"):
            numbers.append(block.line + number)
            texts.append(line)
    problems: dict[int, str] = {}
    objects = [_object(text, index, problems) for index, text in enumerate(texts)]
    columns = []
    for field in reading.stream.schema:
        values = [_field(found, field.name) for found in objects]
        column, unfit = column_of(values, field.type, reading.zone)
        columns.append(column)
        for index, reason in unfit.items():
            problems.setdefault(index, f"{field.name}: {reason}")
    bad = np.zeros(len(texts), np.bool_)
    for index in sorted(problems):
        reading.reject(row + index, problems[index], line=numbers[index], text=texts[index].rstrip(b"\r"))
        bad[index] = True
    batch = pa.RecordBatch.from_arrays(columns, schema=reading.stream.schema)
    return without(batch, row, bad, bytes), len(texts)


def _object(text: bytes, index: int, problems: dict[int, str]) -> dict[str, Any]:
    try:
        found = _JSON.decode(text.decode().strip(" \t\r"))
    except UnicodeDecodeError as error:
        problems[index] = f"the byte 0x{error.object[error.start]:02X} is not UTF-8"
    except json.JSONDecodeError as error:
        problems[index] = f"this is not JSON: {error.msg[0].lower() + error.msg[1:]} (column {error.colno})"
    except (ValueError, RecursionError) as error:
        problems[index] = "this is not JSON that can be read: " + (
            "nested too deep" if isinstance(error, RecursionError) else str(error)
        )
    else:
        if isinstance(found, dict):
            return found
        problems[index] = "the line is no object"
    return {}


def row_of(text: str, stream: Stream, zone: Zone | str = "UTC") -> pa.RecordBatch:
    """One row from the text of an object; `FileError` says what is wrong with it."""
    known = find_zone(zone) if isinstance(zone, str) else zone
    assert known is not None, f"the time zone {zone} was checked where it came in"
    problems: dict[int, str] = {}
    found = _object(text.encode("utf-8", "surrogateescape"), 0, problems)
    columns = []
    for field in stream.schema:
        column, unfit = column_of([_field(found, field.name)], field.type, known)
        problems.update({index: f"{field.name}: {reason}" for index, reason in unfit.items()})
        columns.append(column)
    if problems:
        raise FileError(f"the row cannot be read: {problems[0]}")
    return pa.RecordBatch.from_arrays(columns, schema=stream.schema)


def parse_lines(data: bytes) -> list[dict[str, Any]]:
    """The objects of a text, lines that are none left out."""
    problems: dict[int, str] = {}
    lines = [line for line in data.split(b"\n") if line.strip()]
    objects = [_object(line, index, problems) for index, line in enumerate(lines)]
    return [found for index, found in enumerate(objects) if index not in problems]


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'the key "{repeated}" stands twice in one object')
    return found


_JSON: Final = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=Decimal)
