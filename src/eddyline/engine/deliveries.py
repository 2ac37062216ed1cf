"""What a push gives: one Arrow table for each distinct SELECT list, an account, and what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.engine.account import BatchAccount
from eddyline.errors import EddylineError

LEAD: Final = pa.schema(
    [("query", pa.string()), ("number", pa.int64()), ("revision", pa.int32()), ("version", pa.int64())]
)
What = Literal["matching", "projection", "callback", "queue"]


@dataclass(frozen=True, slots=True)
class DeliveryFailure:
    """Something that failed while all else went on: a condition or SELECT list (its queries got nothing), or a receiver."""

    what: What
    queries: tuple[str, ...]
    error: Exception

    def __str__(self) -> str:
        shown = ", ".join(f'"{id}"' for id in self.queries[:5]) + (", ..." if len(self.queries) > 5 else "")
        return f"{self.what} of {shown or 'all queries'} failed: {type(self.error).__name__}: {self.error}"


class Deliveries:
    """The tables of one push, in the order of the SELECT lists' first queries.

    Each table has the columns `query`, `number`, `revision` and `version`, then those of the SELECT list; its rows are in the
    order of the batch and, within a row, in the order in which queries were added. A query's number is given to one text
    of it and never again, by the registry where there is one, else by the engine.
    """

    def __init__(
        self,
        tables: Sequence[pa.Table],
        account: BatchAccount,
        errors: Sequence[DeliveryFailure] = (),
        *,
        empty: Callable[[str], pa.Table],
        repeated: bool = False,
    ) -> None:
        self.tables = tuple(tables)
        self.ledger = account
        self.errors = list(errors)
        self.repeated = repeated
        self._empty = empty

    def __iter__(self) -> Iterator[pa.Table]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def rows(self) -> int:
        """Number of rows in all tables."""
        return sum(table.num_rows for table in self.tables)

    def of(self, id: str) -> pa.Table:
        """The rows of one query, with the columns of its SELECT list alone."""
        for table in self.tables:
            mask = pc.equal(table.column(0), id)
            if pc.any(mask).as_py():
                return table.filter(mask).select(range(len(LEAD), table.num_columns))
        return self._empty(id)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels to other processes without the engine that it came from."""
        return _restored, (self.tables, self.ledger, self.errors, self.repeated)

    def __repr__(self) -> str:
        wrong = f", {len(self.errors)} errors" if self.errors else ""
        return f"<Deliveries: {self.rows} rows in {len(self)} tables, version {self.ledger.version}{wrong}>"


def _restored(
    tables: Sequence[pa.Table], account: BatchAccount, errors: Sequence[DeliveryFailure], repeated: bool
) -> Deliveries:
    return Deliveries(tables, account, errors, empty=_unknown_columns, repeated=repeated)


def _unknown_columns(id: str) -> pa.Table:
    raise EddylineError(
        f'query "{id}" has no rows here, and only its engine knows the columns that they would have',
        hint="the deliveries come from another process: look which queries are in their tables",
    )


def rows_of(table: pa.Table, ids: Sequence[str]) -> Iterator[tuple[str, pa.Table]]:
    """For each of some queries its rows of a delivery, where it has any."""
    codes = pc.index_in(table.column(0), pa.array(ids, pa.string())).combine_chunks()
    numbers = np.asarray(codes.fill_null(-1)) if isinstance(codes, pa.Array) else np.empty(0, np.int32)
    for number in np.unique(numbers[numbers >= 0]).tolist():
        yield ids[number], table.take(pa.array(np.flatnonzero(numbers == number)))
