"""One push, step by step: matches, pairs of joins, results, account."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.engine.account import BatchAccount
from eddyline.engine.deliveries import LEAD, DeliveryFailure
from eddyline.engine.joining import Joining
from eddyline.errors import LedgerError
from eddyline.join.step import Step
from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression
from eddyline.project.account import Account, QueryAccounts, nothing
from eddyline.project.made_select_lists import MadeSelectLists
from eddyline.project.pair_rows import PairRows
from eddyline.project.stage import Batch, QueryColumns, Results, Selected
from eddyline.standing.rows.columns import Columns
from eddyline.standing.version import Version

log = logging.getLogger("eddyline.engine")


@dataclass(frozen=True, slots=True)
class Pushed:
    """What came out of a batch, before anybody was told.

    failures: rows in which parts of conditions failed. output_failures: outputs that failed, for which dense ids, how
    often. step: what the joins take over once the batch is accounted for, if there are any.
    """

    tables: list[pa.Table]
    errors: list[DeliveryFailure]
    account: BatchAccount
    accounts: QueryAccounts
    failures: dict[Expression, int]
    output_failures: list[tuple[Expression, Integers, Integers]]
    step: Step | None


def evaluate(
    version: Version,
    stream: Stream,
    batch: pa.RecordBatch | pa.Table,
    lists: MadeSelectLists,
    joining: Joining,
) -> Pushed:
    """Match a batch and make what is to be delivered; a SELECT list that fails does not stop the others."""
    failures: dict[Expression, int] = dict.fromkeys(version.fallible(stream.name), 0)
    matches = version.match(batch, stream.name, failed=failures)
    step = joining.step(version, stream, batch, matches)
    gathered = _Gathered(version, lists, batch.num_rows)
    gathered.take(batch, *matches.pair_arrays())
    failed = dict(matches.failed_numbers)
    if step is not None:
        for pairs in step.pairs():
            rows, row = PairRows.of(pairs, step.roles)
            gathered.take(rows, row, pairs.query, completed_by=pairs.row)
        failed |= step.failed  # which is complete now
    gathered.errors += [DeliveryFailure("matching", *each) for each in _failed(version, failed)]
    culprits = np.array(sorted(version.table.owners(failed)), np.int64)
    accounts = gathered.accounts.plus(QueryAccounts.of(culprits, errors=1))
    tables = gathered.tables
    in_conditions = sum(failures.values()) + (0 if step is None else sum(step.failures.values()))
    account = BatchAccount(
        stream.name,
        version.version,
        batch.num_rows,
        gathered.matched,
        len(tables),
        _total(gathered, tables, in_conditions),
        dict(gathered.matches_by_id),
        {} if step is None else step.left_out,
    )
    return Pushed(tables, gathered.errors, account, accounts, failures, gathered.output_failures, step)


def _total(gathered: _Gathered, tables: Iterable[pa.Table], failures: int) -> Account:
    """What a batch comes to; `failures` are those of conditions, keys and residuals, beside those of outputs."""
    total = gathered.accounts.total
    delivered = sum(table.num_rows for table in tables)
    if delivered != total.delivered:
        raise LedgerError(f"{delivered} rows are delivered, {total.delivered} were counted")
    return Account(
        total.matches,
        total.delivered,
        total.shadowed,
        total.undelivered,
        failures=total.failures + failures,
        errors=len(gathered.errors),
    )


class _Gathered:
    """The results of one batch, as they are made: of its tuples, then of the pairs that it completes."""

    def __init__(self, version: Version, lists: MadeSelectLists, rows: int) -> None:
        columns = version.table.columns
        self._version, self._columns = version, columns
        self._queries = QueryColumns(
            columns["select"], columns["shadow"], lambda dense: lists.of(columns, dense)
        )
        self._tables: dict[int, list[pa.Table]] = {}  # by SELECT list
        self._has_match = np.zeros(rows, np.bool_)  # by row of the batch
        self.accounts = nothing()
        self.matches_by_id: Counter[str] = Counter()
        self.errors: list[DeliveryFailure] = []
        self.output_failures: list[tuple[Expression, Integers, Integers]] = []

    def take(
        self, batch: Batch, row: Integers, query: Integers, completed_by: Integers | None = None
    ) -> None:
        """Make the results of some matches, or of pairs, each of which a row of the batch has completed."""
        results = Results(self._queries, row, query)
        lead = _Lead(self._version, self._columns, results.accounts.query)
        for selected in results.selected(batch):
            if selected.error is None:
                table = selected.table(LEAD, lead.columns(selected))
                self._tables.setdefault(selected.select.number, []).append(table)
                self.output_failures += [
                    (output, selected.query, times) for output, times in selected.failures
                ]
            else:
                names = tuple(self._version.table.listed(np.unique(selected.query)))
                self.errors.append(DeliveryFailure("projection", names, selected.error))
                log.error("%s", self.errors[-1], exc_info=selected.error)
        results.accounts.check()
        self.accounts = self.accounts.plus(results.accounts)
        counts = dict(zip(lead.ids, results.accounts.matches.tolist(), strict=True))
        self.matches_by_id.update(counts)
        self._has_match[row if completed_by is None else completed_by] = True

    @property
    def matched(self) -> int:
        """How many rows of the batch have a match, or complete a pair."""
        return int(np.count_nonzero(self._has_match))

    @property
    def tables(self) -> list[pa.Table]:
        """One for each SELECT list that has results."""
        return [
            several[0] if len(several) == 1 else pa.concat_tables(several)
            for several in self._tables.values()
        ]


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
    """What queries could not be evaluated for, and these queries: of a role the join that it belongs to."""
    together: dict[int, list[int]] = {}
    for dense, error in failed.items():
        together.setdefault(id(error), []).append(dense)
    for several in together.values():
        yield tuple(version.table.listed(np.array(version.table.owners(several)))), failed[several[0]]
