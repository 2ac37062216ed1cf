"""The first and the last match of every query, by the axis; among equals the first, or the last, of the history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from eddyline.backtest.axis import Positions
from eddyline.backtest.rows import Shown
from eddyline.model.arrays import Flags, Integers

_LARGE: Final = np.iinfo(np.int64).max


class Extremes:
    """One end of every query's matches: the first, or the last (`sign` -1: all keys turned around).

    A row without a time comes after all that have one, from either end.
    """

    def __init__(self, queries: int, sign: int) -> None:
        self.rows: list[Shown | None] = [None] * queries
        self._sign = sign
        self._keys = np.full(queries, _LARGE)
        self._ordinals = np.full(queries, -1)  # in the history; -1: no match yet
        self._places = np.full(queries, -1)  # in the stretch that is being read

    def add(
        self,
        start: int,
        ordinal: int,
        positions: Positions,
        known: Flags | None,
        row: Integers,
        number: Integers,
    ) -> None:
        """Note the matches of a block that starts at row `start` of the stretch, at `ordinal` of the history."""
        count, queries = len(positions), len(self.rows)
        keys = positions if self._sign > 0 else ~positions  # not -positions: the least has no opposite
        keys = keys if known is None else np.where(known, keys, _LARGE)
        order = self._order(keys)
        rank = np.empty(count, np.int64)
        rank[order] = np.arange(count)
        best = np.full(queries, count)
        np.minimum.at(best, number, rank[row])
        found = np.flatnonzero(best < count)
        rows = order[best[found]]
        better = self._take(found, keys[rows], rows + ordinal)
        self._places[found[better]] = rows[better] + start

    def _take(self, queries: Integers, keys: Positions, ordinals: Integers) -> Flags:
        """Which matches, one a query, stand closer to the end than those known; these are known from now on."""
        held, ordinal = self._keys[queries], self._ordinals[queries]
        # among equals the later is the last
        further = ordinals < ordinal if self._sign > 0 else ordinals > ordinal
        better: Flags = (keys < held) | ((keys == held) & further) | (ordinal < 0)
        self._keys[queries[better]] = keys[better]
        self._ordinals[queries[better]] = ordinals[better]
        return better

    def merge(self, other: Extremes) -> None:
        """Take in the end of another part of the history, in whatever order the parts come."""
        found = np.flatnonzero(other._ordinals >= 0)
        for query in found[self._take(found, other._keys[found], other._ordinals[found])].tolist():
            self.rows[query] = other.rows[query]

    def ordinal(self, query: int) -> int:
        """Where the match of a query stands in the history; -1 if it has none."""
        return int(self._ordinals[query])

    def _order(self, keys: Positions) -> Integers:
        if self._sign > 0:
            return np.argsort(keys, kind="stable")
        return len(keys) - 1 - np.argsort(keys[::-1], kind="stable")

    def wanted(self) -> Integers:
        """Places in the stretch whose rows are needed."""
        return self._places[self._places >= 0]

    def keep(self, rows: Mapping[int, Shown]) -> None:
        """Take the rows that were asked for; the stretch ends."""
        for query in np.flatnonzero(self._places >= 0).tolist():
            self.rows[query] = rows[int(self._places[query])]
        self._places[:] = -1
