"""Accounts of everything that went through the engine; sums that must agree are checked at every push.

    tuples in ─► matched ─► matches = delivered + shadowed + undelivered       of each batch, of each query, in total
                            matches of all queries, removed ones included = matches in total

Failures of expressions are not counted query by query: for each expression there is one count of rows that failed, and a
query's share is what was added to it since the query came.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from eddyline.engine.account import BatchAccount, PushTotals
from eddyline.errors import EddylineError, LedgerError
from eddyline.model.arrays import Integers
from eddyline.model.expression import Expression
from eddyline.project.account import KINDS, Account, QueryAccounts
from eddyline.sql.render import render
from eddyline.standing.standing import OF_PAIRS, Change, Member, Moved
from eddyline.standing.version import Version

_ERRORS: Final = KINDS.index("errors")
_CHECKED: Final = KINDS.index("failures")  # kinds before it are told of batches and of queries alike


class Ledger:
    """Totals, and one account for each query that is there; those of removed queries are kept as one.

    An account belongs to an id: replacing a query goes on with it, removing ends it.
    """

    def __init__(self, *, for_saving: bool = False) -> None:
        self._lock = threading.RLock()
        # gains of removed queries
        self._unsaved_of_removed: dict[str, Account] | None = {} if for_saving else None
        self._events: deque[Change | Moved] = deque()
        self._counts = np.zeros((len(KINDS), 0), np.int64)  # by dense id; failures are counted by expression
        self._members: dict[str, Member] = {}
        self._earlier: dict[str, tuple[Account, Counter[str]]] = {}  # of revisions that were replaced
        self._failed: Counter[tuple[str, Expression]] = Counter()
        # by dense id: failures when the member came
        self._before: dict[int, dict[tuple[str, Expression], int]] = {}
        self._outputs: dict[int, Counter[Expression]] = {}  # by dense id: failures of outputs
        self._saved: dict[str, Account] = {}
        self._totals = PushTotals()
        self._removed = Account()

    def note(self, event: Change | Moved) -> None:
        """Hear of a change, or of rows that have moved; it is entered when the next batch that sees it comes.

        Without the lock: a change must not wait for a push that is being entered, and a deque's append is atomic.
        """
        self._events.append(event)

    def advance(self, version: Version) -> None:
        """Enter what leads up to a version; pushes call this in front of their batch."""
        with self._lock:
            while self._events and _is_seen_by(self._events[0], version):
                event = self._events.popleft()
                if isinstance(event, Moved):
                    self._move(event.rows)
                else:
                    self._enter(event)
            if version.table.size > self._room:
                self._grow(2 * version.table.size)

    @property
    def _room(self) -> int:
        return self._counts.shape[1]

    def _grow(self, room: int) -> None:
        self._counts = np.pad(self._counts, ((0, 0), (0, room - self._room)))

    def _move(self, rows: Integers) -> None:
        """Enter that dense ids have changed; accounts of queries that are gone were closed before."""
        kept = np.flatnonzero(rows >= 0)
        self._grow(max(self._room, len(rows)))  # rows that came since the last batch have no counts yet
        self._counts = self._counts[:, kept]
        self._members = {id: replace(m, dense=int(rows[m.dense])) for id, m in self._members.items()}
        self._before = {int(rows[dense]): counts for dense, counts in self._before.items()}
        self._outputs = {int(rows[dense]): counts for dense, counts in self._outputs.items()}
        used = {part for member in self._members.values() for part in member.fallible}
        self._failed = Counter({key: count for key, count in self._failed.items() if key in used})

    def _enter(self, change: Change) -> None:
        again = {member.id for member in change.added}
        for member in change.removed:
            account, failures = self._account(member), self._failures(member)
            if member.id in again:
                earlier = self._earlier.get(member.id, (Account(), Counter()))
                self._earlier[member.id] = earlier[0] + account, earlier[1] + failures
            else:
                account += self._earlier.pop(member.id, (Account(), None))[0]
                self._removed += account
                gained = account - self._saved.pop(member.id, Account())
                if self._unsaved_of_removed is not None:
                    self._unsaved_of_removed[member.id] = (
                        self._unsaved_of_removed.get(member.id, Account()) + gained
                    )
            del self._members[member.id]
            self._before.pop(member.dense, None)
            self._outputs.pop(member.dense, None)
        for member in change.added:
            self._members[member.id] = member
            if member.fallible:
                self._before[member.dense] = {part: self._failed[part] for part in member.fallible}

    def commit(
        self,
        batch: BatchAccount,
        accounts: QueryAccounts,
        failures: Mapping[Expression, int],
        failures_of_pairs: Mapping[Expression, int],
        output_failures: Iterable[tuple[Expression, Integers, Integers]],
    ) -> None:
        """Enter a batch; see `Pushed` for its failures."""
        with self._lock:
            self._counts[:, accounts.query] += accounts.counts
            for of, counts in ((batch.stream, failures), (OF_PAIRS, failures_of_pairs)):
                for expression, rows in counts.items():
                    if rows:
                        self._failed[of, expression] += rows
            for expression, found, times in output_failures:
                for dense, count in _by_dense(found, times):
                    self._outputs.setdefault(dense, Counter())[expression] += count
            self._totals = _plus(self._totals, batch)

    def add_error(self, ids: Iterable[str]) -> None:
        """Count a receiver that failed, for the queries whose rows it was to get."""
        with self._lock:
            self._totals = replace(self._totals, total=self._totals.total + Account(errors=1))
            dense = [self._members[id].dense for id in ids if id in self._members]
            self._counts[_ERRORS, dense] += 1

    @property
    def totals(self) -> PushTotals:
        """All batches together."""
        return self._totals

    @property
    def removed(self) -> Account:
        """All queries together that are gone."""
        return self._removed

    def of(self, id: str) -> Account:
        """The account of a query."""
        with self._lock:
            return self._whole(self._member(id))

    def queries(self) -> dict[str, Account]:
        """The accounts of all queries that are there."""
        with self._lock:
            return {id: self._whole(member) for id, member in self._members.items()}

    def failures(self, id: str) -> dict[str, int]:
        """How many operations failed in each expression of a query, by the expression's text."""
        with self._lock:
            member = self._member(id)
            found = self._failures(member) + self._earlier.get(id, (None, Counter()))[1]
            return {text: count for text, count in found.items() if count}

    def check(self) -> None:
        """Whether everything agrees; a `LedgerError` if not."""
        with self._lock:
            accounts = [*self.queries().values(), self._removed]
            total = sum(accounts, Account())
            for name in KINDS[:_CHECKED]:
                of_all, of_batches = getattr(total, name), getattr(self._totals.total, name)
                if of_all != of_batches:
                    raise LedgerError(f"{name} of all queries are {of_all}, of all batches {of_batches}")
            if not all(account.agrees for account in accounts):
                raise LedgerError("an account has matches of which nobody knows what became")

    def take_gains(self) -> dict[str, Account]:
        """What each account has gained since this was last asked, for somebody who keeps it; removed queries included."""
        with self._lock:
            accounts = self.queries()
            gains = {id: account - self._saved.get(id, Account()) for id, account in accounts.items()}
            self._saved = accounts
            for id, gone in (self._unsaved_of_removed or {}).items():
                gains[id] = gains.get(id, Account()) + gone
            if self._unsaved_of_removed:
                self._unsaved_of_removed = {}
            return {id: gained for id, gained in gains.items() if gained != Account()}

    def give_back(self, gains: Mapping[str, Account]) -> None:
        """Count gains that could not be kept as gained again."""
        with self._lock:
            for id, gained in gains.items():
                if id in self._saved:
                    self._saved[id] -= gained
                elif self._unsaved_of_removed is not None:
                    self._unsaved_of_removed[id] = self._unsaved_of_removed.get(id, Account()) + gained

    def _member(self, id: str) -> Member:
        if id not in self._members:
            raise EddylineError(
                f'there is no account of a query "{id}"', hint="accounts begin with the next push"
            )
        return self._members[id]

    def _whole(self, member: Member) -> Account:
        earlier = self._earlier.get(member.id)
        account = self._account(member)
        return account if earlier is None else earlier[0] + account

    def _account(self, member: Member) -> Account:
        dense = member.dense
        account = Account(*self._counts[:, dense].tolist()) if dense < self._room else Account()
        failed = member.fallible or dense in self._outputs
        return replace(account, failures=self._failures(member).total() if failed else 0)

    def _failures(self, member: Member) -> Counter[str]:
        found: Counter[str] = Counter()
        for part, before in self._before.get(member.dense, {}).items():
            found[render(part[1])] += self._failed[part] - before
        for expression, count in self._outputs.get(member.dense, Counter()).items():
            found[render(expression)] += count
        return found


def _is_seen_by(event: Change | Moved, version: Version) -> bool:
    """Whether a version has what an event tells; events are in the order in which versions were published."""
    return event.epoch <= version.epoch if isinstance(event, Moved) else event.version <= version.version


def _by_dense(dense: Integers, times: Integers) -> list[tuple[int, int]]:
    counts = np.bincount(dense, weights=times).astype(np.int64)
    found = np.flatnonzero(counts)
    return list(zip(found.tolist(), counts[found].tolist(), strict=True))


def _plus(totals: PushTotals, batch: BatchAccount) -> PushTotals:
    return PushTotals(
        totals.batches + 1,
        totals.tuples + batch.tuples,
        totals.matched + batch.matched,
        totals.deliveries + batch.deliveries,
        totals.total + batch.total,
        dict(Counter(totals.left_out) + Counter(batch.left_out)),
    )
