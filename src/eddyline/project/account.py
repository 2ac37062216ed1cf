"""What became of matches, in numbers: of one query, of all queries of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.errors import LedgerError
from eddyline.model.arrays import Integers

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Account:
    """Of every match it is said what became of it: matches = delivered + shadowed + undelivered.

    `shadowed` matches belong to shadow queries, `undelivered` ones to SELECT lists that failed or have nowhere to go.
    `failures` counts operations inside of expressions that gave NULL because they failed. `errors` are conditions,
    SELECT lists and receivers that failed.
    """

    matches: int = 0
    delivered: int = 0
    shadowed: int = 0
    undelivered: int = 0
    failures: int = 0
    errors: int = 0

    @property
    def agrees(self) -> bool:
        """Whether nothing is missing."""
        return self.matches == self.delivered + self.shadowed + self.undelivered

    def __add__(self, other: Account) -> Account:
        return Account(*(getattr(self, name) + getattr(other, name) for name in KINDS))

    def __sub__(self, other: Account) -> Account:
        return Account(*(getattr(self, name) - getattr(other, name) for name in KINDS))


KINDS: Final = tuple(field.name for field in fields(Account))


class QueryAccounts:
    """The accounts of the queries that some rows concern, as arrays side by side.

        query        3   17   40      dense ids, ascending; queries of which nothing is to be said are left out
        matches      2    9    1
        delivered    2    0    1
        shadowed     0    9    0      and so on

    >>> one = QueryAccounts.of(np.array([3, 17]), matches=np.array([2, 9]))
    >>> both = one.plus(QueryAccounts.of(np.array([3]), matches=np.array([1]), delivered=np.array([1])))
    >>> both.query.tolist(), both.matches.tolist(), both.total
    ([3, 17], [3, 9], Account(matches=12, delivered=1, shadowed=0, undelivered=0, failures=0, errors=0))
    """

    def __init__(self, query: Integers, counts: Counts) -> None:
        self.query = query
        self.counts = counts  # one row for each of `KINDS`
        self.matches, self.delivered, self.shadowed, self.undelivered, self.failures, self.errors = counts

    @staticmethod
    def of(query: Integers, **counts: npt.ArrayLike) -> QueryAccounts:
        """Accounts with some of the numbers; the others are 0."""
        found = QueryAccounts(query, np.zeros((len(KINDS), len(query)), np.int64))
        for name, values in counts.items():
            getattr(found, name)[:] = values
        return found

    def __len__(self) -> int:
        return len(self.query)

    def __iter__(self) -> Iterator[tuple[int, Account]]:
        """Each query and its account."""
        for query, *numbers in zip(self.query.tolist(), *self.counts.tolist(), strict=True):
            yield query, Account(*numbers)

    def account(self, query: int) -> Account:
        """The account of one query."""
        place = int(np.searchsorted(self.query, query))
        there = place < len(self) and self.query[place] == query
        return Account(*self.counts[:, place].tolist()) if there else Account()

    def most_matches(self, most: int) -> list[tuple[int, int]]:
        """The queries with the most matches, and how many each has."""
        return self._most(self.matches, most)

    def most_failures(self, most: int) -> list[tuple[int, int]]:
        """The queries in which the most operations failed, and how many in each."""
        return self._most(self.failures, most)

    def _most(self, counts: Integers, most: int) -> list[tuple[int, int]]:
        places = np.argsort(-counts, kind="stable")[:most]
        places = places[counts[places] > 0]
        return list(zip(self.query[places].tolist(), counts[places].tolist(), strict=True))

    @property
    def total(self) -> Account:
        """All queries together."""
        return Account(*self.counts.sum(axis=1).tolist())

    def plus(self, *others: QueryAccounts) -> QueryAccounts:
        """All of them together."""
        several = [accounts for accounts in (self, *others) if len(accounts)]
        if len(several) < 2:
            return several[0] if several else self
        query = np.concatenate([accounts.query for accounts in several])
        counts = np.concatenate([accounts.counts for accounts in several], axis=1)
        order = np.argsort(query, kind="stable")
        query = query[order]
        starts = np.flatnonzero(np.append(True, query[1:] != query[:-1]))
        return QueryAccounts(query[starts], np.add.reduceat(counts[:, order], starts, axis=1))

    def withdraw(self, places: Integers) -> None:
        """Of results of the queries at these places it turns out that nobody gets them."""
        add(self.delivered, places, -1)
        add(self.undelivered, places)

    def check(self) -> None:
        """Every match became something, or it is a `LedgerError`."""
        wrong = np.flatnonzero(self.matches != self.delivered + self.shadowed + self.undelivered)
        if len(wrong):
            raise LedgerError(
                f"matches of {len(wrong)} queries are unaccounted for, first of query {self.query[wrong[0]]}"
            )

    def to_ipc(self) -> bytes:
        """As a stream of Arrow's format; `of_ipc` takes it back."""
        columns = [pa.array(values) for values in (self.query.astype(np.int64), *self.counts)]
        batch = pa.RecordBatch.from_arrays(columns, names=["query", *KINDS])
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        return bytes(sink.getvalue())

    @staticmethod
    def of_ipc(content: bytes) -> QueryAccounts:
        """What `to_ipc` wrote."""
        with pa.ipc.open_stream(content) as stream:
            query, *counts = [np.asarray(column) for column in stream.read_next_batch().columns]
        return QueryAccounts(query, np.stack(counts))


def add(counts: Counts, places: Integers, times: int = 1) -> None:
    """Count places, each so many times as it is named."""
    if 4 * len(places) < len(counts):
        np.add.at(counts, places, times)  # slower for each place, but does not look at all the others
    else:
        counts += times * np.bincount(places, minlength=len(counts))


def nothing() -> QueryAccounts:
    """The accounts of no query."""
    return QueryAccounts.of(np.empty(0, np.int64))


def together(accounts: Iterable[QueryAccounts]) -> QueryAccounts:
    """The sum of accounts."""
    return nothing().plus(*accounts)
