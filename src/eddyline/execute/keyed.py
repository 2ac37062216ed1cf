"""The keyed executor: each tuple meets only the queries that name its own value of the access subject."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from eddyline.execute.locate import Locator, locator
from eddyline.functions.evaluate import Evaluation
from eddyline.index.keyed import KeyedIndex, KeyedTable
from eddyline.kernels import keyed as kernels

Integers = npt.NDArray[np.signedinteger[Any]]
Pairs = tuple[Integers, Integers]


class Keyed:
    """Evaluates the keyed part of a segment."""

    def __init__(self, index: KeyedIndex) -> None:
        self.index = index
        self._locators: list[Locator] = [locator(cutting) for cutting in index.cuttings]

    def match(self, evaluation: Evaluation, rows: int) -> Pairs:
        """Rows and query numbers of all pairs, table by table."""
        ids = np.empty((len(self._locators), rows), np.uint32)
        for place, cutting in enumerate(self.index.cuttings):
            self._locators[place].locate(evaluation.values(cutting.subject), ids[place])
        found = [self._probe(table, ids) for table in self.index.tables]
        if len(found) == 1:
            return found[0]
        none = np.empty(0, np.int64)
        return np.concatenate([none, *(r for r, _ in found)]), np.concatenate([none, *(n for _, n in found)])

    @staticmethod
    def _probe(table: KeyedTable, ids: npt.NDArray[np.uint32]) -> Pairs:
        keys = ids[table.access]
        checks = ids[list(table.checks)]
        room = max(table.longest, 4 * len(keys))
        pieces: list[Pairs] = []
        at = 0
        while at < len(keys):
            rows, numbers = np.empty(room, np.int64), np.empty(room, np.int32)
            found, at = kernels.probe(
                keys,
                checks,
                table.starts,
                table.lows,
                table.highs,
                table.results,
                table.group_starts,
                table.group_lows,
                at,
                rows,
                numbers,
            )
            pieces.append((rows[:found], numbers[:found]))
        if len(pieces) == 1:
            return pieces[0]
        none = np.empty(0, np.int64)
        return np.concatenate([none, *(r for r, _ in pieces)]), np.concatenate(
            [none, *(n for _, n in pieces)]
        )
