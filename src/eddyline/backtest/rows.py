"""Rows of the history as a report shows them, alone or in pairs: plain values and their place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.backtest.axis import Axis, Positions
from eddyline.backtest.lots import Lots, lots
from eddyline.backtest.values import Row
from eddyline.functions.evaluate.odd_text import decoded
from eddyline.model.arrays import Flags, Integers

_LONGEST: Final = 200  # characters of a value that are kept


class FoundPair(NamedTuple):
    """Two rows that satisfy joins, in the order of a lane's streams; `at` is where the later one stands on the axis."""

    at: str
    rows: tuple[Row, Row]


Shown = Row | FoundPair


@dataclass(frozen=True)
class Stretch:
    """Consecutive rows of the history: `numbers` in their file, `ordinal`.. in all of it, both counted from zero."""

    batch: pa.RecordBatch
    file: str
    numbers: Integers
    ordinal: int

    def lots(self, start: int, size: int) -> Lots:
        """By which samples are chosen, of some of its rows."""
        return lots(self.ordinal + start, size)

    def fetch(self, axis: Axis, places: Integers) -> dict[int, Row]:
        """Some rows by their places in the batch."""
        taken = self.batch.take(pa.array(places, pa.int64()))
        positions, known = axis.positions(taken, 0)
        if axis.column is None:
            positions = places + self.ordinal + 1
        found = shown_rows(taken, [self.file] * len(places), self.numbers[places], axis, positions, known)
        return dict(zip(places.tolist(), found, strict=True))


def shown_rows(
    batch: pa.RecordBatch,
    files: list[str],
    numbers: Integers,
    axis: Axis,
    positions: Positions,
    known: Flags | None,
) -> list[Row]:
    """Rows with their files, their numbers there, counted from zero, and where they stand on an axis."""
    columns = [[plain(value) for value in _values(column)] for column in batch.columns]
    found = []
    for i, file in enumerate(files):
        at = axis.text(int(positions[i])) if known is None or known[i] else ""
        values = {name: column[i] for name, column in zip(batch.schema.names, columns, strict=True)}
        found.append(Row(file, int(numbers[i]) + 1, at, values))
    return found


def _values(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError):
        return [_value(column.slice(place, 1)) for place in range(len(column))]


def _value(one: pa.Array) -> Any:
    """A value, as text where Python has none for it.

    >>> _value(pa.array([4_000_000], pa.date32()))
    '12921-08-18'
    """
    try:
        return one.to_pylist()[0]
    except UnicodeDecodeError:
        return str(one.to_string(indent=0)) if pa.types.is_nested(one.type) else decoded(one).to_pylist()[0]
    except (ValueError, OverflowError):  # before the year 1 or after 9999
        nested = pa.types.is_nested(one.type)
        return one.to_string(indent=0) if nested else one.cast(pa.string()).to_pylist()[0]


def plain(value: Any) -> Any:
    """A value as JSON has it, texts cut to a length that a report can show.

    >>> plain(3), plain(b"\\x01"), plain(float("nan")), plain(date(2024, 1, 2))
    (3, '01', 'nan', '2024-01-02')
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if isinstance(value, bytes):
        text = value[:_LONGEST].hex()
    elif isinstance(value, datetime):
        text = value.isoformat(" ")
    elif isinstance(value, date | time):
        text = value.isoformat()
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
