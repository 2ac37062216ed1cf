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

from eddyline.execute.locating.nulls import mark_nulls
from eddyline.execute.locating.strings import Points
from eddyline.functions.evaluate.odd_text import bytes_of
from eddyline.index.cutting import Cutting, Offsets
from eddyline.kernels import locate as kernels
from eddyline.model import types as t

Ids = npt.NDArray[np.unsignedinteger[Any]]
Values = npt.NDArray[Any]
Starts = npt.NDArray[np.int64]
TABLE_LIMIT: Final = 1 << 16
CELLS_A_CONSTANT: Final = 4
SCAN_LIMIT: Final = 16  # comparisons a value from which binary search is quicker
_WIDTHS: Final = {
    t.BYTE: np.int8,
    t.SHORT: np.int16,
    **dict.fromkeys((t.INT, t.DATE, t.YEAR_MONTH), np.int32),
    **dict.fromkeys((t.LONG, t.TIMESTAMP, t.TIMESTAMP_NTZ, t.DAY_TIME), np.int64),
    t.FLOAT: np.float32,
    t.DOUBLE: np.float64,
}


class Locator(Protocol):
    """Fills `ids` with the region of every value of an array of the subject's canonical Arrow type."""

    def locate(self, values: pa.Array, ids: Ids) -> None:
        """Write the region ids."""


def locator(cutting: Cutting) -> Locator:
    """The quickest way for a subject."""
    kind = cutting.subject.type
    if not len(cutting.constants):
        return _Presence(cutting)
    if kind in _WIDTHS or kind == t.BOOLEAN or _is_short_decimal(kind):
        return NumberLocator(cutting, min(lookups(cutting).values(), key=lambda lookup: lookup.effort))
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


class Lookup(Protocol):
    """One kind of look-up, from plain numbers to region ids; `effort`: comparisons for one look-up of each constant."""

    effort: float

    def locate(self, values: Values, ids: Ids) -> None:
        """Write the region ids, whatever stands for NULL included."""


class NumberLocator:
    """Types of a fixed width, by one kind of look-up."""

    def __init__(self, cutting: Cutting, lookup: Lookup) -> None:
        self._kind, self._null, self._lookup = cutting.subject.type, cutting.null, lookup

    def locate(self, values: pa.Array, ids: Ids) -> None:
        self._lookup.locate(plain_values(values, self._kind), ids)
        mark_nulls(values, self._null, ids)


def lookups(cutting: Cutting) -> dict[str, Lookup]:
    """All kinds that serve the constants of a subject of numbers, by name; of two that are as quick the first is taken."""
    if isinstance(cutting, Offsets):
        return {"offset": _ByOffset(cutting)}
    constants = np.asarray(cutting.constants)
    if t.is_fractional(cutting.subject.type):
        possible: dict[str, Lookup | None] = {
            "width": _ByWidth.over(constants, cutting.nan),
            "bits": _ByBits.over(constants, cutting.nan),
            "search": _BySearch(constants, cutting.nan),
        }
    else:
        possible = {"table": _ByTable.over(constants, cutting.id_type), "search": _BySearch(constants)}
    return {name: lookup for name, lookup in possible.items() if lookup is not None}


class _ByOffset:
    """Whole numbers whose ids are their distance from the number below the least constant."""

    effort = 0.0

    def __init__(self, cutting: Offsets) -> None:
        self._low, self._high = int(cutting.constants[0]) - 1, int(cutting.constants[-1]) + 1

    def locate(self, values: Values, ids: Ids) -> None:
        held = np.iinfo(values.dtype)
        low, high = (values.dtype.type(min(max(end, held.min), held.max)) for end in (self._low, self._high))
        base = ids.dtype.type(self._low % 2 ** (8 * ids.dtype.itemsize))
        kernels.by_offset(values, low, high, base, ids)


class _ByTable:
    """Whole numbers whose constants lie so close together that a table has all numbers between them."""

    effort = 0.0

    def __init__(self, low: int, table: Ids) -> None:
        self._low, self._table = low, table

    @classmethod
    def over(cls, constants: Values, id_type: npt.DTypeLike) -> _ByTable | None:
        """The table, if the constants lie close enough and not at the ends of 64 bits."""
        low, span = int(constants[0]), int(constants[-1]) - int(constants[0])
        if span >= TABLE_LIMIT or not -(2**62) < low < 2**62:
            return None
        inner = np.arange(span + 1)
        below = np.searchsorted(constants - low, inner, "left")
        hit = (constants - low)[np.minimum(below, len(constants) - 1)] == inner
        return cls(low - 1, np.concatenate([[0], 2 * below + hit, [2 * len(constants)]]).astype(id_type))

    def locate(self, values: Values, ids: Ids) -> None:
        kernels.by_table(values, self._low, self._table, ids)


class _BySearch:
    """Any numbers, by halving."""

    def __init__(self, constants: Values, nan: int | None = None) -> None:
        self._constants, self._nan = constants, nan
        self.effort = float(SCAN_LIMIT * len(constants))

    def locate(self, values: Values, ids: Ids) -> None:
        kernels.by_search(values, self._constants, ids)
        if self._nan is not None:
            ids[np.isnan(values)] = self._nan


class _ByWidth:
    """Floats by cells of equal width."""

    def __init__(self, constants: Values, nan: int, low: float, scale: float) -> None:
        cells = CELLS_A_CONSTANT * len(constants)
        starts = _cell_starts(((constants - low) * scale).astype(np.int64), cells)
        self.effort, self._arguments = _scanned(starts), (constants, low, scale, starts, nan)

    @classmethod
    def over(cls, constants: Values, nan: int) -> _ByWidth | None:
        """Cells between the least and the greatest constant, if their distance and a cell's are numbers."""
        low, cells = float(constants[0]), CELLS_A_CONSTANT * len(constants)
        width = float(constants[-1]) - low
        if not 0 < width < np.inf or np.isinf(cells / width):
            return None
        return cls(constants, nan, low, cells / width)

    def locate(self, values: Values, ids: Ids) -> None:
        kernels.by_grid(values, *self._arguments, ids)


class _ByBits:
    """Floats by cells of equal numbers of doubles."""

    def __init__(self, constants: Values, nan: int, orders: list[int]) -> None:
        first, span = orders[0], orders[-1] - orders[0]
        shift = max(0, span.bit_length() - (CELLS_A_CONSTANT * len(constants)).bit_length())
        places = np.array([(order - first) >> shift for order in orders], np.int64)
        cells = int(places[-1]) + 1
        starts = _cell_starts(places, cells)
        # the cell behind all constants may start beyond infinity, where 64 bits do not reach, and neither does any value
        last = min(first + (cells << shift), kernels.order(np.inf))
        self.effort, self._arguments = _scanned(starts), (constants, first, last, shift, starts, nan)

    @classmethod
    def over(cls, constants: Values, nan: int) -> _ByBits | None:
        """Cells between the least and the greatest constant, if their distance is well within 64 bits."""
        orders = [kernels.order(constant) for constant in constants]
        return cls(constants, nan, orders) if orders[-1] - orders[0] < 2**62 else None

    def locate(self, values: Values, ids: Ids) -> None:
        kernels.by_bits(values, *self._arguments, ids)


def _cell_starts(places: npt.NDArray[np.int64], cells: int) -> Starts:
    """For each cell the number of constants in the cells before it; one more cell at the end."""
    return np.searchsorted(places, np.arange(cells + 1), "left").astype(np.int64)


def _scanned(starts: Starts) -> float:
    """Comparisons for one look-up of each constant, were values spread as the constants are."""
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
