"""What a set's queries are called, by number: what matches want to know of the set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.model.names import unknown_query

Flags = npt.NDArray[np.bool_]


class QueryIds(Protocol):
    """The ids of all query numbers below `size`; `gone` are the numbers of removed queries, None if there are none."""

    @property
    def size(self) -> int:
        """How many numbers there are."""

    @property
    def gone(self) -> Flags | None:
        """For every number whether its query is removed."""

    def number(self, id: str) -> int:
        """The number of an id; an `UnknownQueryError`, which is a `KeyError`, if no query has it."""

    def by_id(self, values: Iterable[int]) -> dict[str, int]:
        """Values of all numbers by id, those of removed queries left out."""

    def named(self, numbers: npt.NDArray[np.signedinteger[Any]]) -> pa.Array:
        """The ids of numbers."""


class PlainIds:
    """ids[number] is the id of a query number.

    >>> ids = PlainIds(["a", "b"])
    >>> ids.number("b"), ids.by_id([5, 7]), ids.named(np.array([1, 1])).to_pylist()
    (1, {'a': 5, 'b': 7}, ['b', 'b'])
    """

    gone = None

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids
        self.size = len(ids)

    def number(self, id: str) -> int:
        """The number of an id; an `UnknownQueryError`, which is a `KeyError`, if no query has it."""
        number = self._numbers.get(id)
        if number is None:
            raise unknown_query(id, self._ids)
        return number

    def by_id(self, values: Iterable[int]) -> dict[str, int]:
        """Values of all numbers by id."""
        return dict(zip(self._ids, values, strict=True))

    def named(self, numbers: npt.NDArray[np.signedinteger[Any]]) -> pa.Array:
        """The ids of numbers."""
        return self._names.take(pa.array(numbers))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return self.by_id(range(self.size))

    @cached_property
    def _names(self) -> pa.Array:
        return pa.array(self._ids, pa.string())
