"""A few matches of every query beside its first and its last, chosen by lots that never vary: those with the lowest."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Final

import numpy as np

from eddyline.backtest.lots import Lots
from eddyline.backtest.rows import Shown
from eddyline.model.arrays import Integers

_ENDS: Final = 2  # a first and a last match, which are known only at the end and shown beside the samples


class Samples:
    """Up to `size` rows, or pairs of rows, of every query."""

    def __init__(self, queries: int, size: int) -> None:
        self._size = size
        self._most = size + _ENDS if size else 0  # so that enough are left when the ends are taken away
        self._bar = np.full(queries, np.iinfo(np.uint64).max)  # only lots below it can still get in
        self._chosen: list[list[tuple[int, int, Shown]]] = [[] for _ in range(queries)]  # lot, ordinal, row
        self._candidates: list[tuple[Integers, Integers, Lots]] = []

    def rows(self, query: int, ends: Container[int]) -> tuple[Shown, ...]:
        """The samples of a query but for those at the ordinals `ends`, in the order of the history."""
        others = [kept for kept in self._chosen[query] if kept[1] not in ends][: self._size]
        return tuple(row for _, _, row in sorted(others, key=lambda kept: kept[1]))

    def add(self, start: int, lots: Lots, row: Integers, number: Integers) -> None:
        """Note the matches of a block of rows with these lots, from `start` on in the stretch."""
        lot = lots[row]
        possible = lot < self._bar[number]
        row, number, lot = row[possible], number[possible], lot[possible]
        if not len(row) or not self._most:
            return
        order = np.lexsort((lot, number))
        row, number, lot = row[order], number[order], lot[order]
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        rank = np.arange(len(number)) - np.repeat(starts, np.diff(starts, append=len(number)))
        few = rank < self._most
        self._candidates.append((row[few] + start, number[few], lot[few]))

    def wanted(self) -> Integers:
        """Places in the stretch whose rows are needed."""
        return np.concatenate([*(row for row, _, _ in self._candidates), np.empty(0, np.int64)])

    def keep(self, rows: Mapping[int, Shown], ordinal: int) -> None:
        """Take the rows that were asked for; the stretch, which began at `ordinal` of the history, ends."""
        touched = set()
        for row, number, lot in self._candidates:
            for place, query, drawn in zip(row.tolist(), number.tolist(), lot.tolist(), strict=True):
                self._chosen[query].append((drawn, ordinal + place, rows[place]))
                touched.add(query)
        self._candidates = []
        self._trim(touched)

    def merge(self, other: Samples) -> None:
        """Take in the samples of another part of the history."""
        for mine, theirs in zip(self._chosen, other._chosen, strict=True):
            mine += theirs
        self._trim(query for query, theirs in enumerate(other._chosen) if theirs)

    def _trim(self, queries: Iterable[int]) -> None:
        """Give up what is more than wanted."""
        for query in queries:
            kept = sorted(self._chosen[query], key=lambda entry: entry[:2])[: self._most]
            self._chosen[query] = kept
            if len(kept) == self._most:
                self._bar[query] = kept[-1][0]
