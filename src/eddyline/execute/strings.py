"""Which of some constants each string or binary equals: one look into a hash table, for dictionaries once a distinct value."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.nulls import mark_nulls
from eddyline.functions.evaluate.arrays import validity
from eddyline.index.cutting import Cutting
from eddyline.kernels import keyed as tables
from eddyline.kernels import strings as kernels
from eddyline.model import types as t

Ids = npt.NDArray[np.unsignedinteger[Any]]
_NO_BYTES: Final = np.empty(0, np.uint8)


class StringTable:
    """The constants of a subject, in a hash table; constant i is answered by `step * i + first`."""

    def __init__(self, cutting: Cutting, *, step: int, first: int, missing: int, null: int) -> None:
        kind = pa.string() if cutting.subject.type == t.STRING else pa.binary()
        constants = pa.array(cutting.constants, kind)
        bits = len(constants).bit_length() + 2  # at most a quarter of the slots is taken
        self._shift, self._slots = 64 - bits, np.zeros(4 << bits, np.uint64)
        self._constants = _buffers(constants)
        kernels.build(*self._constants, self._shift, self._slots)
        self._answers = step, first, missing
        self._null = null

    def find(self, values: pa.Array, ids: Ids) -> None:
        """Write the answer for every value, which may come as a dictionary."""
        if isinstance(values, pa.DictionaryArray):
            self._find_encoded(values, ids)
            return
        kernels.find(*_buffers(values), self._shift, self._slots, *self._constants, *self._answers, ids)
        mark_nulls(values, self._null, ids)

    def _find_encoded(self, values: pa.DictionaryArray, ids: Ids) -> None:
        size, indices = len(values.dictionary), values.indices
        answers = np.empty(size + 1, ids.dtype)
        answers[size] = self._null
        self.find(values.dictionary, answers[:size])
        width = np.dtype(indices.type.to_pandas_dtype())
        plain = np.frombuffer(indices.buffers()[1], width)[indices.offset : indices.offset + len(indices)]
        valid = validity(indices)
        if valid is not None:  # anything may lie where an index is NULL
            plain = np.where(valid, plain, size)
        tables.remap(plain, answers, ids)


class Points:
    """Region ids where strings are only compared for equality: one region stands for all other values."""

    def __init__(self, cutting: Cutting) -> None:
        self._table = StringTable(cutting, step=2, first=1, missing=0, null=cutting.null)

    def locate(self, values: pa.Array, ids: Ids) -> None:
        """Write the region ids."""
        self._table.find(values, ids)


def _buffers(values: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """The bytes that strings lie in, which may be more than theirs, and where each starts and the last one ends."""
    _, offsets, data = values.buffers()
    if not len(values):
        return _NO_BYTES, np.zeros(1, np.int32)
    plain = np.frombuffer(offsets, np.int32, len(values) + 1, 4 * values.offset)
    return _NO_BYTES if data is None else np.frombuffer(data, np.uint8), plain
