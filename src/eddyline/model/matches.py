"""Which tuples of a batch satisfy which queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.errors import EddylineError
from eddyline.kernels.sorting import run_starts
from eddyline.model.arrays import Flags, Integers
from eddyline.model.numbering import Numbering
from eddyline.model.query_ids import PlainIds, QueryIds


class Part(Protocol):
    """The matches of some of the queries, in whatever form their executor leaves them; no pair is in two parts."""

    def counts(self) -> tuple[Integers, Integers]:
        """Query numbers and how many tuples match each."""

    def rows(self, number: int) -> Integers:
        """Rows that match one query, ascending."""

    def pairs(self) -> tuple[Integers, Integers]:
        """Rows and query numbers of all pairs, by row, then by number."""


class SegmentPart(Part, Protocol):
    """A part of one segment's matches: named by slots, until it is told what their queries are called elsewhere."""

    def numbered(self, numbering: Numbering) -> SegmentPart:
        """The same, named otherwise."""


@runtime_checkable
class Listed(Protocol):
    """A part that has the queries of each row at hand, in less time than all pairs take."""

    def lists(self, rows: int) -> tuple[Integers, Integers]:
        """Where the queries of each of the batch's rows start, one place more than there are rows, and their numbers."""


def sorted_pairs(row: Integers, number: Integers) -> tuple[Integers, Integers]:
    """Pairs by row, then by number, which fits into 32 bits.

    >>> [a.tolist() for a in sorted_pairs(np.array([5, 1, 5]), np.array([7, 9, 2]))]
    [[1, 5, 5], [9, 2, 7]]
    """
    if len(row) and int(row.max()) >= 2**31:
        order = np.lexsort((number, row))
        return row[order], number[order]
    packed = row.astype(np.int64) << 32 | number  # one sort of words takes a quarter of the time of lexsort
    packed.sort()
    return (packed >> 32).astype(row.dtype), packed.astype(np.int32).astype(number.dtype, copy=False)


class RowLists:
    """A part that holds the rows of each query, ascending."""

    def __init__(self, lists: Sequence[npt.ArrayLike]) -> None:
        self._lists = [np.asarray(rows, dtype=np.int64) for rows in lists]

    def counts(self) -> tuple[Integers, Integers]:
        """Query numbers and how many tuples match each."""
        return np.arange(len(self._lists)), np.array([len(rows) for rows in self._lists], np.int64)

    def rows(self, number: int) -> Integers:
        """Rows that match one query, ascending."""
        return self._lists[number]

    def pairs(self) -> tuple[Integers, Integers]:
        """Rows and query numbers of all pairs, by row, then by number."""
        numbers, counts = self.counts()
        row, number = np.concatenate([*self._lists, np.empty(0, np.int64)]), np.repeat(numbers, counts)
        return sorted_pairs(row, number)


class Matches:
    """The (row, query) pairs of one batch, or of `batch_rows` consecutive rows of it that start at row `first`.

    Parts know queries by dense id: ids[dense] is the id of one. Row numbers are those of the whole batch. Queries that could not be evaluated
    for this batch have no matches in it and stand in `failed`, with the reason. With `nothing_hidden` no part has matches of
    queries that are hidden.

    >>> m = Matches(["a", "b"], 3, [RowLists([[0, 2], []])])
    >>> len(m), m.counts(), m.rows("a").tolist(), m.query_lists().to_pylist()
    (2, {'a': 2, 'b': 0}, [0, 2], [['a'], [], ['a']])
    """

    def __init__(
        self,
        ids: Sequence[str] | QueryIds,
        batch_rows: int,
        parts: Sequence[Part],
        *,
        first: int = 0,
        failed: Mapping[int, Exception] | None = None,
        nothing_hidden: bool = False,
    ) -> None:
        self.failed_numbers: Mapping[int, Exception] = failed or {}
        self._ids: QueryIds = PlainIds(ids) if isinstance(ids, Sequence) else ids
        self._batch_rows = batch_rows
        self._parts = parts
        # removed queries that are still compiled have matches, and so have roles of joins
        self._hidden = None if nothing_hidden else self._ids.hidden
        self.first = first

    @property
    def row_range(self) -> range:
        """The rows that these are the matches of."""
        return range(self.first, self.first + self._batch_rows)

    @property
    def failed(self) -> dict[str, Exception]:
        """The queries that could not be evaluated for this batch, by id, each with what was raised."""
        names = self._ids.named(np.array(list(self.failed_numbers), np.int64)).to_pylist()
        return dict(zip(names, self.failed_numbers.values(), strict=True))

    def __len__(self) -> int:
        return int(self._counts.sum())

    @cached_property
    def _counts(self) -> Integers:
        totals = np.zeros(self._ids.size, np.int64)
        for part in self._parts:
            numbers, counts = part.counts()
            totals[numbers] += counts
        if self._hidden is not None:
            totals[self._hidden] = 0
        return totals

    def counts(self) -> dict[str, int]:
        """Number of matching tuples for every query, zeros included."""
        return self._ids.by_id(self._counts.tolist())

    def rows(self, id: str) -> Integers:
        """Numbers of the rows that match a query, ascending."""
        dense = self._ids.dense(id)
        if self._hidden is not None and self._hidden[dense]:
            raise EddylineError(
                f'query "{id}" is a join, whose matches are pairs of rows',
                hint="call join({stream: table, ...}), or push to an Engine",
            )
        found = [part.rows(dense) for part in self._parts]
        rows = found[0] if len(found) == 1 else np.sort(np.concatenate([*found, np.empty(0, np.int64)]))
        return rows + self.first if self.first else rows

    def pairs(self) -> pa.Table:
        """All pairs as columns `row` and `query`, by row, then in order of registration."""
        row, number = self.pair_arrays()
        return pa.table({"row": pa.array(row, pa.int64()), "query": self._ids.named(number)})

    def query_lists(self) -> pa.ListArray:
        """For every row the ids of the queries that it satisfies."""
        starts, number = self.lists()
        return pa.ListArray.from_arrays(pa.array(starts, pa.int32()), self._ids.named(number))

    def lists(self) -> tuple[Integers, Integers]:
        """Where the queries of each row start, one place more than there are rows, and the numbers of all of them.

        >>> [a.tolist() for a in Matches(["a", "b"], 3, [RowLists([[0, 2], [2]])]).lists()]
        [[0, 1, 1, 3], [0, 0, 1]]
        """
        only = self._parts[0] if len(self._parts) == 1 and self._hidden is None else None
        if isinstance(only, Listed) and "_sorted_pairs" not in self.__dict__:
            return only.lists(self._batch_rows)
        row, number = self._sorted_pairs
        starts = np.empty(self._batch_rows + 1, np.int64)
        run_starts(row, starts)
        return starts, number

    def pair_arrays(self) -> tuple[Integers, Integers]:
        """All pairs as two arrays, rows and query numbers, by row, then in order of registration."""
        row, number = self._sorted_pairs
        return (row + self.first if self.first else row), number

    def ids_of(self, numbers: Integers) -> pa.Array:
        """The ids of query numbers."""
        return self._ids.named(numbers)

    def pairs_among(self, chosen: Flags) -> tuple[Integers, Integers]:
        """The pairs of some dense ids, hidden ones too, as `pair_arrays` gives them: how joins get their roles."""
        row, number = self._all_pairs()
        if "_sorted_pairs" not in self.__dict__:
            # worked out here, where all pairs are at hand: the parts do not keep them
            self.__dict__["_sorted_pairs"] = _some(
                row, number, None if self._hidden is None else ~self._hidden
            )
        row, number = _some(row, number, chosen)
        return (row + self.first if self.first else row), number

    @cached_property
    def _sorted_pairs(self) -> tuple[Integers, Integers]:
        return _some(*self._all_pairs(), None if self._hidden is None else ~self._hidden)

    def _all_pairs(self) -> tuple[Integers, Integers]:
        parts = [part.pairs() for part in self._parts]
        if len(parts) == 1:
            return parts[0]
        row = np.concatenate([*(rows for rows, _ in parts), np.empty(0, np.int64)])
        number = np.concatenate([*(numbers for _, numbers in parts), np.empty(0, np.int64)])
        return sorted_pairs(row, number)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels to other processes without the set that it came from: the queries in force, and the rows of each."""
        known = self._ids.by_id(range(self._ids.size))
        lists = [np.asarray(self.rows(id)) - self.first for id in known]
        places = {number: place for place, number in enumerate(known.values())}
        failed = {places[number]: error for number, error in self.failed_numbers.items() if number in places}
        return _restored, (list(known), self._batch_rows, lists, self.first, failed)

    def __repr__(self) -> str:
        hidden = 0 if self._ids.hidden is None else int(np.count_nonzero(self._ids.hidden))
        queries = self._ids.size - hidden
        return f"<Matches: {len(self)} pairs of {self._batch_rows} rows and {queries} queries>"


def _some(row: Integers, number: Integers, chosen: Flags | None) -> tuple[Integers, Integers]:
    if chosen is None:
        return row, number
    wanted = chosen[number]
    return row[wanted], number[wanted]


def _restored(
    ids: list[str], batch_rows: int, lists: list[Integers], first: int, failed: dict[int, Exception]
) -> Matches:
    return Matches(ids, batch_rows, [RowLists(lists)], first=first, failed=failed)
