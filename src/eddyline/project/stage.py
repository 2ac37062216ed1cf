"""The result stage: matches to Arrow columns for each distinct SELECT list, each match accounted for.

    pairs (row, query) ─► shadows out ─► by SELECT list ─► each distinct row computed once ─► Selected, Selected, ...
                             │                 │
                             └── shadowed      └── delivered, or undelivered if the list fails     `accounts`

Every runtime makes its results here: it gives matches and what it knows of its queries as columns by dense id, and puts
its own columns (query, version, file, ...) in front of what it gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.model.arrays import Flags, Integers
from eddyline.model.expression import Expression
from eddyline.project.account import QueryAccounts, add
from eddyline.project.pair_rows import PairRows
from eddyline.project.select_list import SelectList
from eddyline.standing.version import Known

Batch: TypeAlias = pa.RecordBatch | pa.Table | PairRows
# A table of so many entries is made in the time in which a few values are sorted.
SMALL_TABLE: Final = 1 << 15


@dataclass(frozen=True, slots=True)
class QueryColumns:
    """What the result stage asks of queries, by dense id.

    Equal numbers in `select` mean equal SELECT lists; `select_list` gives that of a query. Matches of a `shadow` are
    counted and give no results.
    """

    select: Integers
    shadow: Flags
    select_list: Callable[[int], SelectList]


@dataclass(frozen=True, slots=True)
class Selected:
    """Results of one SELECT list, by row, then by query; `values` are computed once for each distinct row.

    place       which of the batch's pairs each result is, ascending
    query       the dense id of each result's query; `account` says where that query stands in the accounts
    rows        the distinct rows of the batch, ascending; result i is of row rows[row_of[i]]
    values      the selected columns of these rows; none if they could not be computed, which `error` tells
    failures    the outputs that failed for some result, and for each result how often
    """

    select: SelectList
    place: Integers
    query: Integers
    account: Integers
    rows: Integers
    row_of: Integers | None  # None: every result has a row of its own
    values: list[pa.Array | pa.ChunkedArray]
    failures: list[tuple[Expression, Integers]]
    error: Exception | None = None

    def __len__(self) -> int:
        return len(self.query)

    @property
    def row(self) -> Integers:
        """The row of each result."""
        return self.rows if self.row_of is None else self.rows[self.row_of]

    def spread(self, of_rows: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """Values of the distinct rows as values of the results."""
        return of_rows if self.row_of is None else of_rows.take(pa.array(self.row_of))

    @property
    def columns(self) -> list[pa.Array | pa.ChunkedArray]:
        """The selected columns of the results; raises the error if they could not be computed."""
        if self.error is not None:
            raise self.error
        return [self.spread(values) for values in self.values]

    def table(self, lead: pa.Schema, columns: list[pa.Array]) -> pa.Table:
        """The results as a table, these columns in front."""
        return pa.Table.from_arrays([*columns, *self.columns], schema=self.select.schema_behind(lead))


class Results:
    """What is made of the matches of one batch; `accounts` is complete once `selected` has given everything.

    row, query: the pairs, by row, then by dense id in the order of delivery.
    """

    def __init__(self, queries: QueryColumns, row: Integers, query: Integers) -> None:
        self._queries = queries
        self._row = row
        self._query = query
        met, self._met = _distinct(query, len(queries.select))
        self.accounts = QueryAccounts.of(met, matches=np.bincount(self._met, minlength=len(met)))
        self.matched = int(np.count_nonzero(row[1:] != row[:-1])) + bool(len(row))  # rows with any match

    def selected(
        self, batch: Batch, *, known: Known | None = None, most: int | None = None
    ) -> Iterator[Selected]:
        """The results, for each SELECT list together, of at most so many pairs at once where memory is to be bounded.

        A SELECT list that fails is told by the `error` of its results and does not stop the others.
        """
        met = self.accounts.query
        numbers, list_of_met = _lists(self._queries.select[met])
        shadow = self._queries.shadow[met]
        self.accounts.shadowed[shadow] = self.accounts.matches[shadow]
        wanted = np.flatnonzero(~shadow[self._met]) if shadow.any() else np.arange(len(self._row))
        # 16 bits are sorted by radix, in a fraction of the time
        kind = np.uint16 if len(numbers) <= 1 << 16 else np.int64
        for start in range(0, len(wanted), most or max(1, len(wanted))):
            piece = wanted[start : start + most] if most else wanted
            of_list = list_of_met[self._met[piece]].astype(kind)
            for place in _groups(piece, of_list, len(numbers)):
                yield self._project(batch, place, known)

    def _project(self, batch: Batch, place: Integers, known: Known | None) -> Selected:
        row, query, account = self._row, self._query, self._met
        if len(place) < len(row):
            row, query, account = row[place], query[place], account[place]
        rows, row_of = _runs(row)
        select = self._queries.select_list(int(query[0]))
        try:
            if isinstance(batch, PairRows):
                read, here = batch.batch(select, rows, int(query[0])), np.arange(len(rows))
                found = select.values(read, here, known, is_copied=True)
            else:
                found = select.values(batch, rows, known, is_copied=row_of is not None)
        except Exception as error:  # whatever one SELECT list does, the others are delivered
            add(self.accounts.undelivered, account)
            self.accounts.errors[np.unique(account)] += 1
            return Selected(select, place, query, account, rows, row_of, [], [], error)
        add(self.accounts.delivered, account)
        failures = [(e, each if row_of is None else each[row_of]) for e, each in found.failures]
        for _, each in failures:
            self.accounts.failures += np.bincount(account, each, len(self.accounts)).astype(np.int64)
        return Selected(select, place, query, account, rows, row_of, found.columns, failures)


def _lists(numbers: Integers) -> tuple[Integers, Integers]:
    """The distinct numbers of SELECT lists, and where each stands among them; mostly it is one list."""
    if len(numbers) and (numbers == numbers[0]).all():
        return numbers[:1], np.zeros(len(numbers), np.int64)
    return np.unique(numbers, return_inverse=True)


def _distinct(values: Integers, size: int) -> tuple[Integers, Integers]:
    """The distinct ones of values below `size`, ascending, and where each value stands among them."""
    if size > max(16 * len(values), SMALL_TABLE):
        return np.unique(values, return_inverse=True)
    there = np.zeros(size, np.bool_)  # a table takes a tenth of the time of sorting, if it is small
    there[values] = True
    distinct = np.flatnonzero(there)
    places = np.empty(size, np.int32)
    places[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, places[values]


def _groups(piece: Integers, of_list: npt.NDArray[Any], lists: int) -> Iterator[Integers]:
    """Pairs by SELECT list, in their order; lists that none of them has are left out."""
    if lists == 1:
        yield piece
        return
    piece = piece[np.argsort(of_list, kind="stable")]
    ends = np.cumsum(np.bincount(of_list, minlength=lists)).tolist()
    for start, end in zip([0, *ends], ends, strict=False):
        if end > start:
            yield piece[start:end]


def _runs(row: Integers) -> tuple[Integers, Integers | None]:
    """Distinct rows of ascending ones, and which of them each is; None where all are distinct."""
    first = np.append(True, row[1:] != row[:-1])
    if first.all():
        return row, None
    return row[first], np.cumsum(first) - 1
