"""Which of some constants each string or binary equals: one look into a hash table, for dictionaries once per distinct value."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.locating.nulls import mark_nulls
from eddyline.functions.evaluate.arrays import validity
from eddyline.index.cutting import Cutting
from eddyline.kernels import keyed as tables
from eddyline.kernels import strings as kernels
from eddyline.model import types as t

Ids = npt.NDArray[np.unsignedinteger[Any]]
_Bytes = npt.NDArray[np.uint8]
_Offsets = npt.NDArray[np.int32]
_Table = tuple[int, int, npt.NDArray[np.uint64], Ids, npt.NDArray[np.uint64]]
_NO_BYTES: Final = np.empty(0, np.uint8)
# Ten, as one fails only for strings made to defeat it: the table need not be found, and looking for it has an end.
SEEDS: Final = tuple(0x1B873593CC9E2D51 * odd % 2**63 for odd in range(1, 20, 2))


class StringTable:
    """The constants of a subject, in a hash table; constant i is answered by `step * i + first`."""

    def __init__(self, cutting: Cutting, *, step: int, first: int, missing: int, null: int) -> None:
        kind = pa.string() if cutting.subject.type == t.STRING else pa.binary()
        constants = pa.array(cutting.constants, kind)
        table = _table(*_buffers(constants), step, first)
        answers = range(first, first + step * len(constants), step)
        self._finder: _HashFinder | _DictionaryFinder = (
            _DictionaryFinder(constants, answers, missing)
            if table is None
            else _HashFinder(constants, table, missing)
        )
        self._null = null

    def find(self, values: pa.Array, ids: Ids) -> None:
        """Write the answer for every value, which may come as a dictionary."""
        if isinstance(values, pa.DictionaryArray):
            self._find_encoded(values, ids)
            return
        self._finder.find(values, ids)
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


class _HashFinder:
    """Answers by the kernels' table; anything for NULL."""

    def __init__(self, constants: pa.Array, table: _Table, missing: int) -> None:
        self._constants, self._table = _buffers(constants), (*table, missing)
        self._long = int(np.diff(self._constants[1]).max(initial=0)) > kernels.SHORT

    def find(self, values: pa.Array, ids: Ids) -> None:
        strings = _buffers(values)
        longest = kernels.find(*strings, *self._table, ids)
        if self._long and longest > kernels.SHORT:
            kernels.find_long(*strings, *self._table, *self._constants, ids)


class _DictionaryFinder:
    """Answers by a dictionary of Python, which no choice of constants defeats; slower by far."""

    def __init__(self, constants: pa.Array, answers: range, missing: int) -> None:
        self._answers = dict(zip(_bytes(constants), answers, strict=True))
        self._missing = missing

    def find(self, values: pa.Array, ids: Ids) -> None:
        encoded = values.dictionary_encode("encode")
        found = [self._answers.get(value, self._missing) for value in _bytes(encoded.dictionary)]
        tables.remap(encoded.indices.to_numpy(zero_copy_only=False), np.array(found, ids.dtype), ids)


class Points:
    """Region ids where strings are only compared for equality: one region stands for all other values."""

    def __init__(self, cutting: Cutting) -> None:
        self._table = StringTable(cutting, step=2, first=1, missing=0, null=cutting.null)

    def locate(self, values: pa.Array, ids: Ids) -> None:
        """Write the region ids."""
        self._table.find(values, ids)


def _buffers(values: pa.Array) -> tuple[_Bytes, _Offsets]:
    """The bytes that strings lie in, which may be more than theirs, and where each starts and the last one ends."""
    _, offsets, data = values.buffers()
    if not len(values):
        return _NO_BYTES, np.zeros(1, np.int32)
    plain = np.frombuffer(offsets, np.int32, len(values) + 1, 4 * values.offset)
    return _NO_BYTES if data is None else np.frombuffer(data, np.uint8), plain


def _bytes(values: pa.Array) -> list[bytes | None]:
    found: list[bytes | None] = values.view(pa.binary()).to_pylist()
    return found


def _table(data: _Bytes, offsets: _Offsets, step: int, first: int) -> _Table | None:
    """A seed for which every bucket has a factor, and the table that they make; None if no seed has one."""
    size = len(offsets) - 1
    bits = max(1, (size + size // 4).bit_length())  # at most four of five slots are taken
    entries, hashes = np.zeros(kernels.WORDS * (size + 1), np.uint64), np.empty(size, np.uint64)
    entries[-1] = 0xFFFFFFFF << 32
    factors = np.ones(1 << (size // 4).bit_length(), np.uint64)  # two to four constants per bucket
    for seed in SEEDS:
        kernels.fill(data, offsets, seed, step, first, entries, hashes)
        if len(np.unique(hashes)) < size:
            continue  # no factor parts equal hashes
        slots: Ids = np.full(1 << bits, size, np.uint16 if size < 1 << 16 else np.uint32)
        buckets = (hashes & np.uint64(len(factors) - 1)).astype(np.int64)
        counts = np.bincount(buckets, minlength=len(factors))
        members, order = np.argsort(buckets, kind="stable"), np.argsort(-counts, kind="stable")
        starts = np.concatenate([[0], np.cumsum(counts)])
        if kernels.build(hashes, members, starts, order, 64 - bits, size, factors, slots):
            return seed, 64 - bits, factors, slots, entries
    return None
