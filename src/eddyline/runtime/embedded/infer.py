"""Schemas of sources: what Parquet and Arrow files say, and what the first rows of text suggest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

import pyarrow as pa

from eddyline.errors import FileError
from eddyline.functions.evaluate.layouts import ordinary_type
from eddyline.runtime.embedded import csv_text
from eddyline.runtime.embedded.chunk import native
from eddyline.runtime.embedded.csv_rows import SEPARATORS
from eddyline.runtime.embedded.input_files import TEXT, InputFile, head, input_files, open_bytes
from eddyline.runtime.embedded.json_rows import parse_lines
from eddyline.runtime.embedded.pipes import HEAD

_MOMENT: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:([T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(Z|[+-]\d\d(?::?\d\d)?)?)?"
)


_MARK: Final = b"\xef\xbb\xbf"  # of the order of bytes, before a text in UTF-8


class Inferred(NamedTuple):
    """A schema, and the number of rows that it was guessed from; None where the file states it."""

    schema: pa.Schema
    guessed_from: int | None


def infer(source: str, format: str | None = None) -> Inferred:
    """The schema of the first file of a source. Columns that have no value in the first rows are text."""
    input_file = input_files(source, format)[0]
    if input_file.format not in TEXT:
        stated = _stated(input_file)
        return Inferred(pa.schema([(field.name, ordinary_type(field.type)) for field in stated]), None)
    data = head(input_file)
    if not data.removeprefix(_MARK).strip():
        raise FileError(f'"{input_file.name}" is empty, so it has no schema', hint="give one with a schema")
    found = guess(data, input_file.format)
    if not found.schema.names:
        raise FileError(
            f'no schema can be guessed from the first rows of "{input_file.name}"', hint="give a schema"
        )
    return found


def guess(data: bytes, format: str) -> Inferred:
    """The schema that the first bytes of a text suggest, which are at most `HEAD`; one without columns where they say nothing.

    >>> guess(b'{"at": "2026-01-05T09:30:00+02:00", "n": 1}', "jsonl").schema.types
    [TimestampType(timestamp[us, tz=UTC]), DataType(int64)]
    """
    whole = data if len(data) < HEAD else data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1] or data
    whole = whole.removeprefix(_MARK)
    if not whole.strip():
        return Inferred(pa.schema([]), 0)
    return guess_objects(parse_lines(whole)) if format == "jsonl" else _csv_schema(whole, SEPARATORS[format])


def guess_objects(objects: Sequence[Mapping[str, Any]]) -> Inferred:
    """The schema that objects of a JSON text suggest."""
    columns: dict[str, list[Any]] = {}
    for found in objects:
        for name, value in found.items():
            columns.setdefault(name, []).append(value)
    return Inferred(pa.schema([(name, _json_type(values)) for name, values in columns.items()]), len(objects))


def _stated(input_file: InputFile) -> pa.Schema:
    from pyarrow import parquet

    try:
        if input_file.is_pipe:
            start = head(input_file)
            if input_file.format == "arrow" and not start.startswith(b"ARROW1"):
                return pa.ipc.open_stream(native(start)).schema
            raise FileError(
                f'"{input_file.name}" is a pipe with a Parquet or Arrow file, whose schema cannot be seen before it is read',
                hint="give a schema",
            )
        if input_file.format == "parquet":
            return parquet.read_schema(input_file.name)
        with open_bytes(input_file.name) as file:
            is_file = file.read(6) == b"ARROW1"
        with (pa.ipc.open_file if is_file else pa.ipc.open_stream)(input_file.name) as reader:
            return reader.schema
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FileError(
            f'no schema can be read from "{input_file.name}": {str(error).splitlines()[0]}'
        ) from None


def _csv_schema(data: bytes, separator: bytes) -> Inferred:
    records = [record.fields for record in csv_text.records(data, separator)]
    names = [(name or b"").decode("utf-8", "backslashreplace").strip() for name in records[0]]
    rows = [fields for fields in records[1:] if len(fields) == len(names)]
    columns = [[row[index] for row in rows] for index in range(len(names))]
    return Inferred(
        pa.schema([(name, _text_type(column)) for name, column in zip(names, columns, strict=True)]),
        len(rows),
    )


def _text_type(values: list[bytes | None]) -> pa.DataType:
    """The narrowest type that all texts of a column are of."""
    texts = [value.decode("utf-8", "replace") for value in values if value is not None]
    if not texts:
        return pa.string()
    return _moment_type(texts) or _number_type(texts) or pa.string()


def _number_type(texts: list[str]) -> pa.DataType | None:
    if all(text.lower() in ("true", "false") for text in texts):
        return pa.bool_()
    array = pa.array(texts)
    if all(re.fullmatch(r"-?\d+", text) for text in texts):
        kinds = [pa.int64(), pa.float64()]
    elif all(
        re.fullmatch(r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|nan|inf)", text, re.IGNORECASE)
        for text in texts
    ):
        kinds = [pa.float64()]
    else:
        return None
    for kind in kinds:
        try:
            array.cast(kind)
        except pa.ArrowInvalid:
            continue
        return kind
    return None


def _moment_type(texts: list[str]) -> pa.DataType | None:
    found = [_MOMENT.fullmatch(text) for text in texts]
    if not all(found):
        return None
    if not any(match[1] for match in found if match):
        return pa.date32()
    zoned = [match[2] is not None for match in found if match]
    return pa.timestamp("us", "UTC") if all(zoned) else pa.timestamp("us") if not any(zoned) else None


def _json_type(values: list[Any]) -> pa.DataType:
    values = [value for value in values if value is not None]
    kinds = {type(value) for value in values}
    if not kinds:
        return pa.string()
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return pa.int64()
    if not kinds - {int, float, Decimal}:
        return pa.float64()
    if kinds == {str}:
        return _moment_type(values) or pa.string()
    if kinds == {list}:
        return pa.list_(_json_type([item for value in values for item in value]))
    if kinds == {dict}:
        names = dict.fromkeys(name for value in values for name in value)
        return pa.struct([(name, _json_type([value.get(name) for value in values])) for name in names])
    return pa.string()
