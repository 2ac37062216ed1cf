"""One push, step by step: matches, results, account."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.engine.account import BatchAccount
from eddyline.engine.deliveries import LEAD, DeliveryFailure
from eddyline.errors import LedgerError
from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression
from eddyline.project.account import Account, QueryAccounts
from eddyline.project.made_select_lists import MadeSelectLists
from eddyline.project.stage import QueryColumns, Results, Selected
from eddyline.standing.columns import Columns
from eddyline.standing.version import Version

log = logging.getLogger("eddyline.engine")


@dataclass(frozen=True, slots=True)
class Pushed:
    """What came out of a batch, before anybody was told.

    failures: rows in which parts of conditions failed. output_failures: outputs that failed, for which dense ids, how
    often.
    """

    tables: list[pa.Table]
    errors: list[DeliveryFailure]
    account: BatchAccount
    accounts: QueryAccounts
    failures: dict[Expression, int]
    output_failures: list[tuple[Expression, Integers, Integers]]


def evaluate(
    version: Version, stream: Stream, batch: pa.RecordBatch | pa.Table, lists: MadeSelectLists
) -> Pushed:
    """Match a batch and make what is to be delivered; a SELECT list that fails does not stop the others."""
    columns = version.table.columns
    failures: dict[Expression, int] = dict.fromkeys(version.fallible(stream.name), 0)
    matches = version.match(batch, stream.name, failed=failures)
    queries = QueryColumns(columns["select"], columns["shadow"], lambda dense: lists.of(columns, dense))
    results = Results(queries, *matches.pair_arrays())
    lead = _Lead(version, columns, results.accounts.query)
    tables: list[pa.Table] = []
    errors = [DeliveryFailure("matching", *failed) for failed in _failed(version, matches.failed_numbers)]
    output_failures: list[tuple[Expression, Integers, Integers]] = []
    for selected in results.selected(batch):
        if selected.error is None:
            tables.append(selected.table(LEAD, lead.columns(selected)))
            output_failures += [(output, selected.query, times) for output, times in selected.failures]
        else:
            names = tuple(version.table.listed(np.unique(selected.query)))
            errors.append(DeliveryFailure("projection", names, selected.error))
            log.error("%s", errors[-1], exc_info=selected.error)
    results.accounts.check()
    total = results.accounts.total
    delivered = sum(table.num_rows for table in tables)
    if delivered != total.delivered:
        raise LedgerError(f"{delivered} rows are delivered, {total.delivered} were counted")
    failed = np.array(list(matches.failed_numbers), np.int64)
    accounts = results.accounts.plus(QueryAccounts.of(np.sort(failed), errors=1))
    account = BatchAccount(
        stream.name,
        version.version,
        batch.num_rows,
        results.matched,
        len(tables),
        Account(
            total.matches,
            total.delivered,
            total.shadowed,
            total.undelivered,
            failures=total.failures + sum(failures.values()),
            errors=len(errors),
        ),
        dict(zip(lead.ids, results.accounts.matches.tolist(), strict=True)),
    )
    return Pushed(tables, errors, account, accounts, failures, output_failures)


class _Lead:
    """The columns of `LEAD`; ids become Arrow's text once for each query that has matches, not for each result."""

    def __init__(self, version: Version, columns: Columns, dense: Integers) -> None:
        self.ids = version.table.listed(dense)
        self._names = pa.array(self.ids, pa.string())
        self._version = version.version
        self._numbers = columns["number"][dense]
        self._revisions = columns["revision"][dense]

    def columns(self, selected: Selected) -> list[pa.Array]:
        """Those of some results."""
        return [
            self._names.take(pa.array(selected.account)),
            pa.array(self._numbers[selected.account]),
            pa.array(self._revisions[selected.account]),
            pa.array(np.full(len(selected), self._version, np.int64)),
        ]


def _failed(version: Version, failed: Mapping[int, Exception]) -> Iterator[tuple[tuple[str, ...], Exception]]:
    """What queries could not be evaluated for, and these queries."""
    together: dict[int, list[int]] = {}
    for dense, error in failed.items():
        together.setdefault(id(error), []).append(dense)
    for several in together.values():
        yield tuple(version.table.listed(np.array(several))), failed[several[0]]
