"""What a set's queries are called, by dense id: what matches want to know of the set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.model.arrays import Flags
from eddyline.model.names import unknown_query


class QueryIds(Protocol):
    """The ids of all dense ids below `size`."""

    @property
    def size(self) -> int:
        """How many dense ids there are."""

    @property
    def hidden(self) -> Flags | None:
        """For every dense id whether matches leave it out, removed queries for one; None if there are no such ids."""

    def dense(self, id: str) -> int:
        """The dense id of a query; an `UnknownQueryError`, which is a `KeyError`, if no query has it."""

    def by_id(self, values: Iterable[int]) -> dict[str, int]:
        """Values of all dense ids by id, hidden ones left out."""

    def named(self, dense: npt.NDArray[np.signedinteger[Any]]) -> pa.Array:
        """The ids of queries, given by dense id."""

    def listed(self, dense_ids: npt.NDArray[np.signedinteger[Any]]) -> list[str]:
        """The same as a list."""


class PlainIds:
    """ids[dense] is the id of a query.

    >>> ids = PlainIds(["a", "b"])
    >>> ids.dense("b"), ids.by_id([5, 7]), ids.named(np.array([1, 1])).to_pylist()
    (1, {'a': 5, 'b': 7}, ['b', 'b'])
    """

    hidden = None

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids
        self.size = len(ids)

    def dense(self, id: str) -> int:
        """The dense id of a query; an `UnknownQueryError`, which is a `KeyError`, if no query has it."""
        found = self._dense.get(id)
        if found is None:
            raise unknown_query(id, self._ids)
        return found

    def by_id(self, values: Iterable[int]) -> dict[str, int]:
        """Values of all dense ids by id."""
        return dict(zip(self._ids, values, strict=True))

    def named(self, dense: npt.NDArray[np.signedinteger[Any]]) -> pa.Array:
        """The ids of queries, given by dense id."""
        return self._names.take(pa.array(dense))

    def listed(self, dense_ids: npt.NDArray[np.signedinteger[Any]]) -> list[str]:
        """The same as a list."""
        return [self._ids[dense] for dense in dense_ids.tolist()]

    @cached_property
    def _dense(self) -> dict[str, int]:
        return self.by_id(range(self.size))

    @cached_property
    def _names(self) -> pa.Array:
        return pa.array(self._ids, pa.string())
