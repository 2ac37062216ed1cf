"""Which region of its subject each value lies in.

small integers, booleans      offset from the least constant, or a table of all values between the constants
wide integers, floats         grid over the constants and a short scan
strings compared by equality  one hash look-up, see `strings.py`
anything else                 each distinct value once, by binary search
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.nulls import mark_nulls
from eddyline.execute.strings import Points
from eddyline.functions.evaluate.odd_text import bytes_of
from eddyline.index.cutting import Cutting, Offsets
from eddyline.kernels import locate as kernels
from eddyline.model import types as t

Ids = npt.NDArray[np.unsignedinteger[Any]]
Starts = npt.NDArray[np.int64]
TABLE_LIMIT: Final = 1 << 16
CELLS_A_CONSTANT: Final = 4
_NO_CELLS: Final[Starts] = np.empty(0, np.int64)
SCAN_LIMIT: Final = 16  # comparisons a value from which binary search is quicker
_INTEGER: Final = {t.BYTE: np.int8, t.SHORT: np.int16, t.INT: np.int32, t.LONG: np.int64, t.DATE: np.int32}
_LONGS: Final = (t.TIMESTAMP, t.TIMESTAMP_NTZ, t.DAY_TIME)
_WIDTHS: Final = {**_INTEGER, **dict.fromkeys(_LONGS, np.int64), t.FLOAT: np.float32, t.DOUBLE: np.float64}


class Locator(Protocol):
    """Fills `ids` with the region of every value of an array of the subject's canonical Arrow type."""

    def locate(self, values: pa.Array, ids: Ids) -> None:
        """Write the region ids."""


def locator(cutting: Cutting) -> Locator:
    """The quickest way for a subject."""
    kind = cutting.subject.type
    if not len(cutting.constants):
        return _Presence(cutting)
    if isinstance(cutting, Offsets):
        return _Offsets(cutting)
    if kind in _INTEGER or kind in _LONGS or kind == t.BOOLEAN or _is_short_decimal(kind):
        return _Integers(cutting)
    if t.is_fractional(kind):
        return _Floats(cutting)
    if kind in (t.STRING, t.BINARY) and cutting.points_only:
        return Points(cutting)
    return _Distinct(cutting)


def _is_short_decimal(kind: t.DataType) -> bool:
    return isinstance(kind, t.DecimalType) and kind.precision <= 18


def plain_values(values: pa.Array, kind: t.DataType) -> npt.NDArray[Any]:
    """The fixed-width values of an array without copying, NULLs being whatever lies there."""
    width: Any = _WIDTHS.get(kind)
    if width is not None:
        return np.frombuffer(values.buffers()[1], width)[values.offset : values.offset + len(values)]
    if kind == t.BOOLEAN:
        bits = np.frombuffer(values.buffers()[1], np.uint8)
        return np.unpackbits(bits, bitorder="little")[values.offset : values.offset + len(values)]
    assert isinstance(kind, t.DecimalType), f"{kind} has no values of a fixed width"
    halves = np.frombuffer(values.buffers()[1], np.int64)  # 128 bits, low half first
    return np.ascontiguousarray(halves[0::2][values.offset : values.offset + len(values)])


class _Presence:
    """A subject that is only asked for NULL."""

    def __init__(self, cutting: Cutting) -> None:
        self._cutting = cutting

    def locate(self, values: pa.Array, ids: Ids) -> None:
        ids[:] = 0
        if t.is_fractional(self._cutting.subject.type):
            ids[np.isnan(plain_values(values, self._cutting.subject.type))] = self._cutting.nan
        mark_nulls(values, self._cutting.null, ids)


class _Offsets:
    """Whole numbers whose ids are their distance from the number below the least constant."""

    def __init__(self, cutting: Offsets) -> None:
        self._kind, self._null = cutting.subject.type, cutting.null
        self._low, self._high = int(cutting.constants[0]) - 1, int(cutting.constants[-1]) + 1

    def locate(self, values: pa.Array, ids: Ids) -> None:
        plain = plain_values(values, self._kind)
        held = np.iinfo(plain.dtype)
        low, high = (plain.dtype.type(min(max(end, held.min), held.max)) for end in (self._low, self._high))
        base = ids.dtype.type(self._low % 2 ** (8 * ids.dtype.itemsize))
        kernels.by_offset(plain, low, high, base, ids)
        mark_nulls(values, self._null, ids)


class _Integers:
    """Whole numbers of up to 64 bits, and what is held as such."""

    def __init__(self, cutting: Cutting) -> None:
        self._kind, self._null = cutting.subject.type, cutting.null
        constants = self._constants = np.asarray(cutting.constants)
        self._low = int(constants[0])
        span = int(constants[-1]) - self._low
        self._table: Ids | None = None
        if span < TABLE_LIMIT and -(2**62) < self._low < 2**62:
            inner = np.arange(span + 1)
            below = np.searchsorted(constants - self._low, inner, "left")
            hit = (constants - self._low)[np.minimum(below, len(constants) - 1)] == inner
            self._table = np.concatenate([[0], 2 * below + hit, [2 * len(constants)]]).astype(cutting.id_type)

    def locate(self, values: pa.Array, ids: Ids) -> None:
        plain = plain_values(values, self._kind)
        if self._table is not None:
            kernels.by_table(plain, self._low - 1, self._table, ids)
        else:
            kernels.by_search(plain, self._constants, ids)
        mark_nulls(values, self._null, ids)


class _Floats:
    """Floats and doubles: by cells of equal width, or of equal numbers of doubles, whichever leave less to scan."""

    def __init__(self, cutting: Cutting) -> None:
        self._kind, self._null, self._nan = cutting.subject.type, cutting.null, cutting.nan
        self._constants = np.asarray(cutting.constants)
        cells = CELLS_A_CONSTANT * len(self._constants)
        self._low, self._scale, starts = self._by_width(cells)
        self._first, self._shift, other = self._by_numbers(cells)
        self._by_bits = _scanned(other) < _scanned(starts)
        self._starts = other if self._by_bits else starts
        self._searches = _scanned(self._starts) > SCAN_LIMIT * len(self._constants)

    def _by_width(self, cells: int) -> tuple[float, float, Starts]:
        low, high = float(self._constants[0]), float(self._constants[-1])
        width = high - low
        if not (0 < width < np.inf) or np.isinf(cells / width):
            return low, 0.0, _NO_CELLS
        scale = cells / width
        return low, scale, _cell_starts(((self._constants - low) * scale).astype(np.int64), cells)

    def _by_numbers(self, cells: int) -> tuple[int, int, Starts]:
        first, last = kernels.order(self._constants[0]), kernels.order(self._constants[-1])
        if last - first >= 2**62:
            return first, 0, _NO_CELLS
        shift = max(0, (last - first).bit_length() - cells.bit_length())
        places = [(kernels.order(constant) - first) >> shift for constant in self._constants]
        return first, shift, _cell_starts(np.array(places, np.int64), places[-1] + 1)

    def locate(self, values: pa.Array, ids: Ids) -> None:
        plain = plain_values(values, self._kind)
        if self._searches:
            kernels.by_search(plain, self._constants, ids)
            ids[np.isnan(plain)] = self._nan
        elif self._by_bits:
            kernels.by_bits(plain, self._constants, self._first, self._shift, self._starts, self._nan, ids)
        else:
            kernels.by_grid(plain, self._constants, self._low, self._scale, self._starts, self._nan, ids)
        mark_nulls(values, self._null, ids)


def _cell_starts(places: npt.NDArray[np.int64], cells: int) -> Starts:
    """For each cell the number of constants in the cells before it; one more cell at the end."""
    return np.searchsorted(places, np.arange(cells + 1), "left").astype(np.int64)


def _scanned(starts: Starts) -> float:
    """Comparisons for one look-up of each constant, were values spread as the constants are."""
    if not len(starts):
        return np.inf
    sizes = np.diff(np.append(starts, starts[-1]))
    return float((sizes * sizes).sum())


class _Distinct:
    """Any ordered type: each distinct value is searched once, text by its bytes, which need not be UTF-8."""

    def __init__(self, cutting: Cutting) -> None:
        self._cutting = cutting
        self._is_text = cutting.subject.type == t.STRING
        self._constants = [c.encode() for c in cutting.constants] if self._is_text else cutting.constants

    def locate(self, values: pa.Array, ids: Ids) -> None:
        constants = self._constants
        encoded = (bytes_of(values) if self._is_text else values).dictionary_encode()
        regions = np.zeros(len(encoded.dictionary) + 1, ids.dtype)
        for place, value in enumerate(encoded.dictionary.to_pylist()):
            below = bisect_left(constants, value)
            hit = below < len(constants) and constants[below] == value
            regions[place] = 2 * below + hit
        ids[:] = regions[plain_values(encoded.indices.fill_null(len(regions) - 1), t.INT)]
        mark_nulls(values, self._cutting.null, ids)
