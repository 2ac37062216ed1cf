"""The keyed executor: each tuple meets only the queries that name its own values of their key subjects."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.execute.ordinals import Checked
from eddyline.execute.places import Map, Places, placer
from eddyline.execute.pool import POOL
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import Mask
from eddyline.index.keyed import KeyedIndex, KeyedTable, strides
from eddyline.index.ordinals import Ordinals
from eddyline.kernels import keyed as kernels

Integers = npt.NDArray[np.signedinteger[Any]]
Pairs = tuple[Integers, Integers]
Checks = list[tuple[Ordinals, Mask | None]]
BITS_A_KEY: Final = 32  # of a filter: one row in about so many is looked at in vain
MAX_FILTER: Final = 23  # logarithm of the bits of the largest filter: 1 MiB, what a core has of fast cache
_FACTOR: Final = 0x9E3779B1  # odd; its powers are the factors of a hash


class Keyed:
    """Evaluates the keyed part of a segment."""

    def __init__(self, index: KeyedIndex) -> None:
        self.index = index
        self._placers = [placer(cutting) for cutting in index.keys]
        self._checks = [Checked(cutting) for cutting in index.checks]
        sizes = [len(cutting.constants) for cutting in index.keys]
        self._tables = [
            _Single(table) if len(table.keys) == 1 else _Several(table, [sizes[key] for key in table.keys])
            for table in index.tables
        ]
        self._pairs_a_row = 0.25  # as in the last batch

    def match(self, evaluation: Evaluation, rows: int) -> Pairs:
        """Rows and query numbers of all pairs, table by table."""
        places = POOL.take(len(self._placers) * rows, np.uint32).reshape(len(self._placers), rows)
        for subject, found in zip(self._placers, places, strict=True):
            subject.place(evaluation, found)
        checks = [subject.read(evaluation) for subject in self._checks]
        picked = POOL.take(rows, np.int32 if rows < 2**31 else np.int64)
        output = _Output(int(1.25 * self._pairs_a_row * rows) + kernels.FAN, picked.dtype)
        for table in self._tables:
            table.match(places, checks, picked, output)
        self._pairs_a_row = output.filled / max(rows, 1)
        return _once(output.pairs, self.index.repeated) if len(self.index.repeated) else output.pairs


class _Output:
    """Pairs of rows and query numbers, with room for more."""

    def __init__(self, room: int, kind: npt.DTypeLike) -> None:
        self.filled = 0
        self.row, self.number = POOL.take(room, kind), POOL.take(room, np.int32)

    def grow(self) -> None:
        """Twice the room."""
        row, number = self.pairs
        room = 2 * len(self.row)
        self.row, self.number = POOL.take(room, row.dtype), POOL.take(room, np.int32)
        self.row[: self.filled], self.number[: self.filled] = row, number

    @property
    def pairs(self) -> Pairs:
        """What is filled."""
        return self.row[: self.filled], self.number[: self.filled]


class _Single:
    """A table by one subject: rows are picked that reach the least bounds of their key."""

    def __init__(self, table: KeyedTable) -> None:
        self._table = table

    def match(self, places: Places, checks: Checks, picked: Integers, output: _Output) -> None:
        """Add the table's pairs to the output; `picked` is scratch for row numbers."""
        keys = places[self._table.keys[0]]
        if self._table.columns:
            (first, flip), (second, other) = self._table.columns[:2]
            values = checks[first][0], -int(flip), checks[second][0], -int(other)
            count = kernels.screen_bounds(keys, self._table.leasts, *values, picked)
            picked = picked[:count]
            keys = keys[picked]
        else:
            picked[:] = np.arange(len(picked))
        _collect(self._table, picked, keys, checks, output)


class _Several:
    """A table by several subjects: rows are picked whose combination passes a filter and is found in a map."""

    def __init__(self, table: KeyedTable, sizes: list[int]) -> None:
        self._table = table
        self._subjects = np.array(table.keys)
        self._strides = np.array(strides(sizes), np.uint64)
        self._factors = np.array([_FACTOR ** (i + 1) % 2**32 for i in range(len(sizes))], np.uint32)
        self._map = Map(table.packed)
        bits = min(MAX_FILTER, max(6, (BITS_A_KEY * len(table.packed) - 1).bit_length()))
        self._shift, self._filter = np.uint32(32 - bits), np.zeros(1 << (bits - 6), np.uint64)
        digits = np.array(sizes, np.uint64)[:, None] + np.uint64(1)
        places = (table.packed // self._strides[:, None] % digits).astype(np.uint32)
        kernels.set_bits(places, self._factors, self._shift, self._filter)

    def match(self, places: Places, checks: Checks, picked: Integers, output: _Output) -> None:
        """Add the table's pairs to the output; `picked` is scratch for row numbers."""
        count = kernels.screen_combinations(
            places, self._subjects, self._factors, self._shift, self._filter, picked
        )
        keys = np.empty(count, np.int32)
        count = kernels.resolve(
            places, self._subjects, self._strides, count, self._map.shift, self._map.slots, picked, keys
        )
        _collect(self._table, picked[:count], keys[:count], checks, output)


def _collect(table: KeyedTable, picked: Integers, keys: Integers, checks: Checks, output: _Output) -> None:
    """Add the pairs of picked rows with keys, except where a checked subject is NULL."""
    for check in table.checks:
        valid = checks[check][1]
        if valid is not None:
            alive = valid[picked]
            picked, keys = picked[alive], keys[alive]
    values = np.empty((len(picked), len(table.columns)), np.int64)
    for place, (check, flipped) in enumerate(table.columns):
        ordinals = checks[check][0][picked]
        values[:, place] = ~ordinals if flipped else ordinals
    at = 0
    while True:
        out = at, output.filled, output.row, output.number
        if table.columns:
            entries = table.bounds, table.results, table.minima, table.levels
            output.filled, at = kernels.collect(picked, keys, values, table.starts, *entries, *out)
        else:
            output.filled, at = kernels.collect_all(picked, keys, table.starts, table.results, *out)
        if at == len(picked):
            return
        output.grow()


def _once(pairs: Pairs, repeated: Integers) -> Pairs:
    """Pairs without repetition; only some queries can be found twice by one row."""
    row, number = pairs
    suspect = np.isin(number, repeated)
    packed = np.unique(row[suspect].astype(np.int64) << 32 | number[suspect])
    return (
        np.concatenate([row[~suspect], packed >> 32]),
        np.concatenate([number[~suspect], packed & 0xFFFFFFFF]),
    )
