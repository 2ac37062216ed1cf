"""Rows that an expectation names: by their values, or by their place in a file."""

from __future__ import annotations

import json
from difflib import get_close_matches

import pyarrow as pa

from eddyline.backtest.expectations import Wanted
from eddyline.errors import FileError
from eddyline.functions.zones import find_zone
from eddyline.model.catalog import Stream
from eddyline.runtime.embedded.json_rows import row_of
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import read


def fetch_row(
    wanted: Wanted, stream: Stream, *, format: str | None = None, time_zone: str = "UTC"
) -> pa.RecordBatch:
    """A batch of one row; columns that values do not name are NULL.

    >>> fetch_row({"PRICE": 5}, Stream("ticks", pa.schema({"price": pa.float64()}))).to_pylist()
    [{'price': 5.0}]
    """
    if isinstance(wanted, str):
        file, number = _place(wanted)
        return _find(file, number, stream, format, time_zone)
    values = {_spelled(name, stream): value for name, value in wanted.items()}
    zone = find_zone(time_zone)
    assert zone is not None, f"the time zone {time_zone} was checked where it came in"
    return row_of(json.dumps(values, default=str), stream, zone)


def _spelled(name: str, stream: Stream) -> str:
    spelled = stream.spelling.get(name.lower())
    if spelled is None:
        close = get_close_matches(name.lower(), stream.spelling, 1)
        hint = f'did you mean "{stream.spelling[close[0]]}"?' if close else None
        raise FileError(f'stream "{stream.name}" has no column "{name}"', hint=hint)
    return spelled


def _place(text: str) -> tuple[str, int]:
    file, _, number = text.rpartition(":")
    if not file or not number.isdecimal() or int(number) < 1:
        raise FileError(
            f'"{text}" names no row', hint="write FILE:N, the N-th row of a file, such as quotes.csv:17"
        )
    return file, int(number)


def _find(file: str, number: int, stream: Stream, format: str | None, time_zone: str) -> pa.RecordBatch:
    for piece in read(file, stream, format=format, rejects=Rejects(), time_zone=time_zone):
        indices = (piece.rows == number - 1).nonzero()[0]
        if len(indices):
            return piece.batch.slice(int(indices[0]), 1)
    raise FileError(f'"{file}" has no row {number} that can be read', hint="rows count from 1")
