"""One push, step by step: matches, results, account."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.engine.account import BatchAccount
from eddyline.engine.deliveries import LEAD, DeliveryFailure
from eddyline.engine.live import State
from eddyline.engine.matching import Found, find
from eddyline.engine.members import Integers, Member, Table
from eddyline.errors import LedgerError
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression
from eddyline.project.account import Account, QueryAccounts
from eddyline.project.select_list import SelectList
from eddyline.project.stage import QueryColumns, Results, Selected

log = logging.getLogger("eddyline.engine")


@dataclass(frozen=True, slots=True)
class Pushed:
    """What came out of a batch, before anybody was told.

    failures: rows in which parts of conditions failed. output_failures: outputs that failed, for which slots, how often.
    """

    tables: list[pa.Table]
    errors: list[DeliveryFailure]
    account: BatchAccount
    accounts: QueryAccounts
    failures: dict[Expression, int]
    output_failures: list[tuple[Expression, Integers, Integers]]


def evaluate(state: State, stream: Stream, batch: pa.RecordBatch | pa.Table, time_zone: str) -> Pushed:
    """Match a batch and make what is to be delivered; a SELECT list that fails does not stop the others."""
    found = find(state, stream, batch, time_zone)
    results = Results(_columns(state.table), found.row, found.slot)
    lead = _Lead(state, results.accounts.query)
    tables: list[pa.Table] = []
    errors = [DeliveryFailure("matching", names, error) for names, error in _failed(state.table, found)]
    output_failures: list[tuple[Expression, Integers, Integers]] = []
    for selected in results.selected(batch):
        if selected.error is None:
            tables.append(selected.table(LEAD, lead.columns(selected)))
            output_failures += [(output, selected.query, times) for output, times in selected.failures]
        else:
            names = tuple(dict.fromkeys(state.table.names[selected.query].tolist()))
            errors.append(DeliveryFailure("projection", names, selected.error))
            log.error("%s", errors[-1], exc_info=selected.error)
    results.accounts.check()
    total = results.accounts.total
    delivered = sum(table.num_rows for table in tables)
    if delivered != total.delivered:
        raise LedgerError(f"{delivered} rows are delivered, {total.delivered} were counted")
    failed = np.array(list(found.failed), np.int64)
    accounts = results.accounts.plus(QueryAccounts.of(np.sort(failed), errors=1))
    account = BatchAccount(
        stream.name,
        state.version,
        batch.num_rows,
        results.matched,
        len(tables),
        Account(
            total.matches,
            total.delivered,
            total.shadowed,
            total.undelivered,
            failures=total.failures + sum(found.failures.values()),
            errors=len(errors),
        ),
        _matches(state.table, results.accounts),
    )
    return Pushed(tables, errors, account, accounts, found.failures, output_failures)


def _columns(table: Table) -> QueryColumns:
    def select_list(slot: int) -> SelectList:
        member: Member = table.members[slot]
        return member.select_list

    return QueryColumns(table.select_lists, table.shadows, select_list)


class _Lead:
    """The columns of `LEAD`; ids become Arrow's text once for each query, not for each result."""

    def __init__(self, state: State, slots: Integers) -> None:
        self._version = state.version
        self._names = pa.array(state.table.names[slots], pa.string())
        self._numbers = state.table.numbers[slots]
        self._revisions = state.table.revisions[slots]

    def columns(self, selected: Selected) -> list[pa.Array]:
        """Those of some results."""
        return [
            self._names.take(pa.array(selected.account)),
            pa.array(self._numbers[selected.account]),
            pa.array(self._revisions[selected.account]),
            pa.array(np.full(len(selected), self._version, np.int64)),
        ]


def _matches(table: Table, accounts: QueryAccounts) -> dict[str, int]:
    """The matches of every query that has any."""
    return dict(zip(table.names[accounts.query].tolist(), accounts.matches.tolist(), strict=True))


def _failed(table: Table, found: Found) -> Iterator[tuple[tuple[str, ...], Exception]]:
    """What queries could not be evaluated for, and these queries."""
    slots: dict[int, list[int]] = {}
    for slot, error in found.failed.items():
        slots.setdefault(id(error), []).append(slot)
    for several in slots.values():
        yield tuple(table.names[several].tolist()), found.failed[several[0]]
