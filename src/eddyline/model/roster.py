"""The ids of all query numbers of a version, as matches give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.model.names import unknown_query
from eddyline.model.texts import Texts

Find = Callable[[str], int | None]


class Roster:
    """ids[number] is the id of a query number below `size`; removed numbers have no matches.

    The list of ids may grow after the roster is made: what comes later is not of this version. `find` gives the number of
    an id, if somebody knows it already.

    >>> roster = Roster(["a", "b", "a"], frozenset({0}))
    >>> roster.number("a"), roster.by_id([0, 5, 7]), roster.named(np.array([1, 2])).to_pylist()
    (2, {'b': 5, 'a': 7}, ['b', 'a'])
    """

    def __init__(
        self,
        ids: Sequence[str],
        removed: frozenset[int] = frozenset(),
        size: int | None = None,
        find: Find | None = None,
    ) -> None:
        self._ids = ids
        self._size = len(ids) if size is None else size
        self._find = find
        self.removed: npt.NDArray[np.int64] = np.fromiter(removed, np.int64, len(removed))

    def __len__(self) -> int:
        return self._size

    def number(self, id: str) -> int:
        """The number of an id; an `UnknownQueryError`, which is a `KeyError`, if no query has it."""
        number = self._numbers.get(id) if self._find is None else self._find(id)
        if number is None:
            dead = set(self.removed.tolist())
            raise unknown_query(
                id, (known for n, known in enumerate(islice(self._ids, self._size)) if n not in dead)
            )
        return number

    def by_id(self, values: list[int]) -> dict[str, int]:
        """Values of numbers by id, those of removed queries left out."""
        if not len(self.removed):
            return dict(zip(islice(self._ids, self._size), values, strict=True))
        dead = set(self.removed.tolist())
        return {self._ids[n]: value for n, value in enumerate(values) if n not in dead}

    def named(self, numbers: npt.NDArray[np.signedinteger[Any]]) -> pa.Array:
        """The ids of numbers."""
        return self._names.take(pa.array(numbers))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return self.by_id(list(range(self._size)))

    @cached_property
    def _names(self) -> pa.Array:
        if isinstance(self._ids, Texts):
            return self._ids.array.slice(0, self._size)
        return pa.array(self._ids[: self._size], pa.string())
