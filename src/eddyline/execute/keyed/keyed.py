"""The keyed executor: each tuple meets only the queries that name its own values of their key subjects."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from eddyline.execute.keyed.combinations import SCRATCH, combine
from eddyline.execute.keyed.key_lookup import Ranks, lookup_of
from eddyline.execute.locating.ordinals import Checked
from eddyline.execute.pool import POOL
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import Mask
from eddyline.index.keyed.keyed import KeyedIndex, KeyedTable
from eddyline.index.keyed.ordinals import Ordinals
from eddyline.kernels import keyed as kernels
from eddyline.model.arrays import Integers

Pairs = tuple[Integers, Integers]
Checks = list[tuple[Ordinals, Mask | None]]
NARROW: Final = 1 << 15  # constants below which ranks, and ids of regions, fit into 16 bits


class Keyed:
    """Evaluates the keyed part of a segment."""

    def __init__(self, index: KeyedIndex) -> None:
        self.index = index
        self._lookups = [lookup_of(cutting) for cutting in index.keys]
        self._checks = [Checked(cutting) for cutting in index.checks]
        sizes = [len(cutting.constants) for cutting in index.keys]
        self._ranged = [table for table in index.tables if not table.keys]
        self._single = [table for table in index.tables if len(table.keys) == 1]
        self._combined = combine([table for table in index.tables if len(table.keys) > 1], sizes)
        self._kind = np.dtype(np.uint16 if max(sizes, default=0) < NARROW else np.uint32)
        self._pairs_a_row = 0.25  # as in the last batch

    def match(self, evaluation: Evaluation, rows: int) -> Pairs:
        """Rows and query numbers of all pairs, table by table."""
        ranks = POOL.take(len(self._lookups) * rows, self._kind).reshape(len(self._lookups), rows)
        for subject, found in zip(self._lookups, ranks, strict=True):
            subject.look_up(evaluation, found)
        checks = [subject.read(evaluation) for subject in self._checks]
        kind = np.int32 if rows < 2**31 else np.int64
        scratch = POOL.take(SCRATCH * rows, kind).reshape(SCRATCH, rows)
        output = _PairBuffer(int(1.25 * self._pairs_a_row * rows) + kernels.FAN, kind)
        for table in self._ranged:
            none = np.zeros(rows, self._kind)
            _collect(table, *_reaching(table, none, checks, scratch[0]), checks, output)
        for table in self._single:
            _collect(table, *_reaching(table, ranks[table.keys[0]], checks, scratch[0]), checks, output)
        for tables in self._combined:
            for table, picked, keys in tables.find(ranks, scratch):
                _collect(table, picked, keys, checks, output)
        self._pairs_a_row = output.filled / max(rows, 1)
        return _once(output.pairs, self.index.repeated) if len(self.index.repeated) else output.pairs


class _PairBuffer:
    """Pairs of rows and query numbers, with room for more."""

    def __init__(self, room: int, kind: npt.DTypeLike) -> None:
        self.filled = 0
        self.row, self.number = POOL.take(2 * room, kind).reshape(2, room)

    def grow(self) -> None:
        """Twice the room."""
        row, number = self.pairs
        room = 2 * len(self.row)
        self.row, self.number = POOL.take(2 * room, row.dtype).reshape(2, room)
        self.row[: self.filled], self.number[: self.filled] = row, number

    @property
    def pairs(self) -> Pairs:
        """What is filled."""
        return self.row[: self.filled], self.number[: self.filled]


def _reaching(table: KeyedTable, keys: Ranks, checks: Checks, picked: Integers) -> tuple[Integers, Ranks]:
    """The rows that reach the least bounds of their key, in a table by one subject, and their keys."""
    if not table.columns:
        picked[:] = np.arange(len(picked))
        return picked, keys
    (first, flip), (second, other) = table.columns[:2]
    values = checks[first][0], -int(flip), checks[second][0], -int(other)
    picked = picked[: kernels.screen_bounds(keys, table.leasts, *values, picked)]
    return picked, keys[picked]


def _collect(
    table: KeyedTable, picked: Integers, keys: Integers | Ranks, checks: Checks, output: _PairBuffer
) -> None:
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
