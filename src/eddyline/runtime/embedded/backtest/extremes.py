"""The first and the last match of every query, by the axis; among equals the first, or the last, of the history."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.runtime.embedded.backtest.axis import Flags, Positions
from eddyline.runtime.embedded.backtest.values import Row

Integers = npt.NDArray[np.signedinteger[Any]]
_LARGE: Final = np.iinfo(np.int64).max


class Extremes:
    """One end of every query's matches: the first, or the last (`sign` -1: all keys turned around).

    A row without a time comes after all that have one, from either end.
    """

    def __init__(self, queries: int, sign: int) -> None:
        self.rows: list[Row | None] = [None] * queries
        self._sign = sign
        self._keys = np.full(queries, _LARGE)
        self._seen = np.zeros(queries, np.bool_)
        self._places = np.full(queries, -1)  # in the stretch that is being read

    def add(
        self, start: int, positions: Positions, known: Flags | None, row: Integers, number: Integers
    ) -> None:
        """Note the matches of a block that starts at row `start` of the stretch."""
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
        fresh = keys[rows]
        # among equals the later one is the last
        closer = fresh < self._keys[found] if self._sign > 0 else fresh <= self._keys[found]
        better = closer | ~self._seen[found]
        self._seen[found] = True
        self._keys[found[better]] = fresh[better]
        self._places[found[better]] = rows[better] + start

    def _order(self, keys: Positions) -> Integers:
        if self._sign > 0:
            return np.argsort(keys, kind="stable")
        return len(keys) - 1 - np.argsort(keys[::-1], kind="stable")

    def wanted(self) -> Integers:
        """Places in the stretch whose rows are needed."""
        return self._places[self._places >= 0]

    def keep(self, rows: dict[int, Row]) -> None:
        """Take the rows that were asked for; the stretch ends."""
        for query in np.flatnonzero(self._places >= 0).tolist():
            self.rows[query] = rows[int(self._places[query])]
        self._places[:] = -1
