"""One version of a registry as compiled queries and what goes with them, made anew or from the version before it.

Disabled queries are not evaluated; enabled and shadow ones are. One that does not compile is left out and named: nothing
that is registered can keep the others from being evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.config import FIXED_ORDER, IndexSettings
from eddyline.model.catalog import Stream
from eddyline.model.query import NormalQuery
from eddyline.model.query_state import State
from eddyline.queryset import QuerySet
from eddyline.registry import Diff, Entry
from eddyline.runtime.spark.versions.table import Table
from eddyline.sql.resolver import Resolver

# Compiling so many queries again takes some 30 ms, the most that a change may have to wait for. The order of subjects
# comes with each batch: workers that found one of their own would not find it again in a replay.
SETTINGS: Final = IndexSettings(largest_merge=500, order=FIXED_ORDER)
MOST_SEGMENTS: Final = 16
FEW: Final = 1000  # numbers of removed queries that are not worth an effort


@dataclass(frozen=True, slots=True)
class Compiled:
    """A version; `stamp` tells it from one of the same number in another registry, `problems` are the queries left out."""

    version: int
    stamp: str
    queries: QuerySet
    table: Table
    problems: Mapping[str, str]

    @property
    def is_worn(self) -> bool:
        """Whether so many changes have piled up that compiling everything again pays."""
        removed = self.queries.size - len(self.queries)
        return len(self.queries.executors()) > MOST_SEGMENTS or removed > max(FEW, len(self.queries))

    def entries(self) -> Iterable[Entry]:
        """The queries that are evaluated, as far as they matter here."""
        columns, destinations = self.table.columns, self.table.lists.destinations.texts
        for number, query in self.queries.queries():
            yield Entry(
                query.id,
                query.sql,
                int(columns["revision"][number]),
                int(columns["number"][number]),
                State.SHADOW if columns["shadow"][number] else State.ENABLED,
                destination=destinations[columns["destination"][number]],
            )


@dataclass(frozen=True, slots=True)
class Recipe:
    """How versions are compiled; `key` is a text that changes when the resolver may answer otherwise."""

    time_zone: str = "UTC"
    resolver: Resolver | None = None
    key: str = ""

    def compiled(
        self, version: int, stamp: str, streams: Iterable[Stream], entries: Iterable[Entry]
    ) -> Compiled:
        """A version, made of nothing but its entries."""
        empty = QuerySet.build(
            [], streams=streams, time_zone=self.time_zone, settings=SETTINGS, resolver=self.resolver
        )
        added = _added(_Growing(empty, Table(), {}), _evaluated(entries))
        return Compiled(version, stamp, added.queries, added.table, added.problems)

    def rebuilt(self, worn: Compiled) -> Compiled:
        """The same version without what earlier changes left in it."""
        fresh = self.compiled(worn.version, worn.stamp, worn.queries.streams, worn.entries())
        return Compiled(
            fresh.version, fresh.stamp, fresh.queries, fresh.table, {**worn.problems, **fresh.problems}
        )

    def advanced(self, base: Compiled, diff: Diff, stamp: str) -> Compiled:
        """The version that a difference leads to; the streams must be the same."""
        assert not diff.streams, "other streams need other compilations"
        moved, gone, come = _sorted_out(diff)
        problems = {id: why for id, why in base.problems.items() if id not in gone}
        queries, table = base.queries, base.table
        changes = [(queries.number(entry.id), entry) for entry in moved if entry.id in queries]
        if changes:
            table = table.changed(changes)
        leaving = [id for id in gone if id in queries]
        if leaving:
            queries = queries.remove(leaving)
        added = _added(_Growing(queries, table, problems), come)
        return Compiled(diff.new, stamp, added.queries, added.table, added.problems)


@dataclass(frozen=True, slots=True)
class _Growing:
    queries: QuerySet
    table: Table
    problems: dict[str, str]


def _sorted_out(diff: Diff) -> tuple[list[Entry], set[str], list[Entry]]:
    """What a difference asks for: entries of which only state or destination changed, ids to remove, entries to add."""
    moved = [after for before, after in diff.changed if _stays(before, after)]
    other = [(before, after) for before, after in diff.changed if not _stays(before, after)]
    gone = {entry.id for entry in diff.removed} | {before.id for before, _ in other}
    come = _evaluated([*(after for _, after in other), *diff.added])
    return moved, gone, sorted(come, key=lambda entry: entry.number)


def _stays(before: Entry, after: Entry) -> bool:
    same = before.number == after.number and before.sql == after.sql and before.revision == after.revision
    return same and len(_evaluated([before, after])) == 2


def _evaluated(entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.state != State.DISABLED]


def _added(base: _Growing, entries: Sequence[Entry]) -> _Growing:
    """With more queries, all that can be compiled; those that cannot are gone, if they got a number at all."""
    if not entries:
        return base
    first = base.queries.size
    queries = base.queries.add([entry.query for entry in entries], on_error="collect")
    normal: list[NormalQuery] = [query for number, query in queries.uncompiled if number >= first]
    numbered = [entry for entry in entries if entry.id in queries]
    assert len(numbered) == len(normal), "a query is compiled or refused"
    assert queries.executors() is not None, "now is known who is left out"
    why = {problem.query or "": problem.message for problem in queries.problems}
    return _Growing(queries, base.table.added(numbered, normal), {**base.problems, **why})
