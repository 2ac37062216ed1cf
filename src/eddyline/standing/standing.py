"""The version in force: changed by one writer at a time, read without waiting, merged on the side.

    changes     lock ─► Version v+1 ─► its new queries compiled ─► published
    readers     Version v                                            no lock: a version is never changed
    merging     segments that are too many ─► one, beside everything ─► lock ─► published, same version

Whoever keeps numbers by dense id hears of changes, and of rows that have moved, before the version that has them is
published: so it has heard of everything that a version it meets is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.arrays import Integers
from eddyline.model.expression import Expression
from eddyline.standing.merging.building import Building
from eddyline.standing.merging.gate import Gate
from eddyline.standing.merging.merger import Merger, Where
from eddyline.standing.merging.turn_lock import TurnLock
from eddyline.standing.rows.columns import Attributes
from eddyline.standing.version import Newcomer, Version


@dataclass(frozen=True, slots=True)
class Member:
    """One revision of a query, as accounts know it; `fallible` is what can fail in its conditions, by stream."""

    id: str
    dense: int
    fallible: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What one version changed: members that went and members that came."""

    version: int
    removed: tuple[Member, ...]
    added: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """A new epoch: row i of the table is row `rows[i]` now, or is gone if that is -1."""

    epoch: int
    rows: Integers


OF_PAIRS: Final = ""  # in place of a stream: what fails in keys and residuals, which no single stream has


class Standing:
    """Holds the version in force. Its first version has columns."""

    def __init__(
        self, version: Version, on_event: Callable[[Change | Moved], None], merging: Where = "thread"
    ) -> None:
        assert version.table.has_columns, "accounts and results need what goes with the queries"
        self.lock = TurnLock()
        self.current = version
        self.gate = Gate()
        self.building = Building(version.settings, self.gate)
        self._on_event = on_event
        self.merger = Merger(self, merging)

    @contextmanager
    def pushing(self) -> Iterator[Version]:
        """The version for a push; as long as it lasts, compiling gives way."""
        with self.gate:
            yield self.current

    def change(
        self,
        leaving: Sequence[int],
        coming: Sequence[Newcomer],
        *,
        staying: Sequence[tuple[int, Attributes]] = (),
        version: int | None = None,
        compiler: Compiler | None = None,
        allow_left_out: bool = False,
    ) -> tuple[QueryError, ...]:
        """Make the next version and put it in force, see `Version.change`.

        Queries that cannot be compiled are left out and given back with `allow_left_out`; without it the first of them is
        raised, and nothing changes.
        """
        with self.lock:
            before = self.current
            after = before.change(leaving, coming, staying=staying, version=version, compiler=compiler)
            after = after.ready(self.building)
            if after.left_out and not allow_left_out:
                raise after.left_out[0]
            after.check()
            added = after.table.owners(range(before.table.size, after.table.size))
            # Told first, published then: a push that meets the version finds the ledger told of it. Nothing in between
            # may fail.
            self._on_event(
                Change(
                    after.version,
                    tuple([_member(before, dense) for dense in leaving]),
                    tuple([_member(after, dense) for dense in added if not after.table.is_gone(dense)]),
                )
            )
            self.current = after
            self.merger.wake()
            return after.left_out

    def swap(self, make: Callable[[Version], Version | None]) -> bool:
        """Put the same version in another form in force; None leaves the one that there is, and False is given."""
        with self.lock:
            other = make(self.current)
            if other is None:
                return False
            other.check()
            self.current = other
            return True

    def compact(self) -> None:
        """Begin a new epoch, in a table without rows that nobody needs."""
        with self.lock:
            shorter, moved = self.current.compacted()
            shorter.check()
            # in this order, as above
            self._on_event(Moved(shorter.epoch, moved))
            self.current = shorter


def _member(version: Version, dense: int) -> Member:
    columns = version.table.columns
    fallible = [
        (columns.selection(row)[0].name, part)
        for row in version.table.rows_of([dense])
        for part in columns.fallible(row)
    ]
    if version.table.joins is not None:
        fallible += [(OF_PAIRS, part) for part in version.table.joins.fallible(dense)]
    return Member(version.name(dense), dense, tuple(dict.fromkeys(fallible)))
