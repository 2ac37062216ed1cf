"""What stands already when a change is checked: entries, by id and by digest, and the queries among them, compiled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.query_state import State
from eddyline.normalize.digest import FORMAT
from eddyline.queryset import QuerySet
from eddyline.registry import Entry
from eddyline.standing.version import Version

if TYPE_CHECKING:
    from eddyline.registry import Registry

Compiled = Callable[[Compiler], Version]


class Present(Protocol):
    """What stands already; asked for only as far as somebody wants to know it."""

    def entries(self) -> Sequence[Entry]:
        """All entries."""

    def by_id(self, ids: Collection[str]) -> Mapping[str, Entry]:
        """The entries of some ids."""

    def by_digest(self, digests: Collection[str], compiler: Compiler) -> Sequence[Entry]:
        """The entries whose digest is one of some, as far as digests are kept, in the order in which they were let in."""

    def compiled(self, compiler: Compiler) -> Version:
        """The queries that are evaluated, compiled for the streams of a compiler, all of which it knows."""


class ListedEntries:
    """Entries that somebody lists; nobody keeps digests of them."""

    def __init__(
        self, listed: Callable[[], Iterable[Entry]] = tuple, compiled: Compiled | None = None
    ) -> None:
        """`compiled` gives the queries as they are compiled already."""
        self._listed = listed
        self._compiled = compiled

    @cached_property
    def _entries(self) -> list[Entry]:
        return list(self._listed())

    def entries(self) -> Sequence[Entry]:
        """All of them."""
        return self._entries

    def by_id(self, ids: Collection[str]) -> Mapping[str, Entry]:
        """Those of some ids."""
        wanted = set(ids)
        return {entry.id: entry for entry in self._entries if entry.id in wanted}

    def by_digest(self, digests: Collection[str], compiler: Compiler) -> Sequence[Entry]:
        """None: to find out all digests takes longer than to compare queries, which tells the same."""
        return ()

    def compiled(self, compiler: Compiler) -> Version:
        """Those that are evaluated."""
        return compiled(self._entries, compiler) if self._compiled is None else self._compiled(compiler)


class RegisteredEntries:
    """What a registry holds now. `digested` are the entries whose digests had to be found out, for its next change."""

    def __init__(
        self, registry: Registry, compiled: Compiled | None = None, *, for_change: bool = True
    ) -> None:
        """`compiled` gives the queries as somebody keeps them compiled.

        Unless it is `for_change`, digests that are missing are not found out: that would be done again and again.
        """
        self._finds_out = for_change
        self._registry = registry
        self._compiled = compiled
        self.digested: list[Entry] = []
        self._knows_all = False

    def entries(self) -> Sequence[Entry]:
        """All of them."""
        return self._registry.entries()

    def by_id(self, ids: Collection[str]) -> Mapping[str, Entry]:
        """Those of some ids."""
        return self._registry.entries_by_id(ids)

    def by_digest(self, digests: Collection[str], compiler: Compiler) -> Sequence[Entry]:
        """Those of some digests; what an older version of Eddyline has registered has none yet."""
        if self._finds_out and not self._knows_all:
            self.digested += digested(self._registry.entries_without_digest(FORMAT), compiler)
            self._knows_all = True
        wanted = set(digests)
        found = [entry for entry in self.digested if entry.digest in wanted]
        return sorted([*found, *self._registry.entries_by_digest(digests)], key=lambda entry: entry.number)

    def compiled(self, compiler: Compiler) -> Version:
        """Those that are evaluated."""
        return compiled(self.entries(), compiler) if self._compiled is None else self._compiled(compiler)


def is_evaluated(entry: Entry) -> bool:
    """Whether a query is there for anybody: enabled or in shadow."""
    return entry.state is not State.DISABLED


def digested(entries: Iterable[Entry], compiler: Compiler) -> list[Entry]:
    """Entries with their digests; those that nobody can read here are left out."""
    found = []
    for entry in entries:
        try:
            digest = compiler.check(entry.query).digest
        except QueryError:
            continue
        if digest is not None:
            found.append(replace(entry, digest=digest))
    return found


def compiled(entries: Iterable[Entry], compiler: Compiler) -> Version:
    """The queries that are evaluated, without those that cannot be compiled here."""
    queries = [entry.query for entry in entries if is_evaluated(entry) and not entry.spark_only]
    return QuerySet.build(
        queries,
        streams=compiler.streams,
        on_error="collect",
        time_zone=compiler.time_zone,
        join_window=compiler.join_window,
    ).standing()
