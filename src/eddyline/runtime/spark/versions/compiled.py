"""One version of a registry as compiled queries and what goes with them, made anew or from the version before it.

Disabled queries are not evaluated; enabled and shadow ones are. One that does not compile is left out and named: nothing
that is registered can keep the others from being evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from eddyline.compile import Compiler
from eddyline.config import FIXED_ORDER, IndexSettings
from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.query import Query, check_query
from eddyline.model.query_state import State
from eddyline.queryset import QuerySet
from eddyline.registry import Diff, Entry
from eddyline.sql.resolver import Resolver
from eddyline.standing.rows.columns import Attributes, Columns
from eddyline.standing.rows.table import Table
from eddyline.standing.saved.files import NO_PAGES, Pages
from eddyline.standing.version import Newcomer, Version

# Compiling so many queries again takes some 30 ms, the most that a change may have to wait for. The order of subjects
# comes with each batch: workers that found one of their own would not find it again in a replay.
SETTINGS: Final = IndexSettings(largest_merge=500, order=FIXED_ORDER)
MOST_SEGMENTS: Final = 16
FEW: Final = 1000  # numbers of removed queries that are not worth an effort

Described = tuple[Query, Attributes]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A version of a registry, all of it compiled, under the registry's number.

    `stamp` tells it from one of the same number in another registry, `problems` are the queries left out; `pages` say
    where its queries lie on disk.
    """

    stamp: str
    standing: Version
    problems: Mapping[str, str]
    pages: Pages = NO_PAGES

    @property
    def version(self) -> int:
        """The registry's number."""
        return self.standing.version

    @property
    def queries(self) -> QuerySet:
        """The queries, to be matched."""
        return QuerySet(self.standing)

    @property
    def is_worn(self) -> bool:
        """Whether so many changes have piled up that compiling everything again pays."""
        table = self.standing.table
        return len(self.standing.segments) > MOST_SEGMENTS or table.dead > max(FEW, len(table))


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
        described = [(entry.query, _attributes(entry)) for entry in _evaluated(entries)]
        return self._fresh(version, stamp, streams, described)

    def rebuilt(self, worn: Compiled) -> Compiled:
        """The same version without what earlier changes left in it."""
        standing, table = worn.standing, worn.standing.table
        described = [(query, table.columns.attributes(dense)) for dense, query in table.queries()]
        fresh = self._fresh(worn.version, worn.stamp, standing.compiler.streams, described)
        return replace(fresh, problems={**worn.problems, **fresh.problems})

    def advanced(self, base: Compiled, diff: Diff, stamp: str) -> Compiled:
        """The version that a difference leads to; the streams must be the same."""
        assert not diff.streams, "other streams need other compilations"
        moved, gone, come = _sorted_out(diff)
        table = base.standing.table
        leaving = [dense for id in gone if (dense := table.find(id)) is not None]
        staying = [
            (dense, _attributes(entry)) for entry in moved if (dense := table.find(entry.id)) is not None
        ]
        problems = {id: why for id, why in base.problems.items() if id not in gone}
        coming = _newcomers(
            base.standing.compiler, [(entry.query, _attributes(entry)) for entry in come], problems
        )
        standing = base.standing.change(leaving, coming, staying=staying, version=diff.new)
        return _ready(Compiled(stamp, standing, problems, base.pages))

    def _fresh(
        self, version: int, stamp: str, streams: Iterable[Stream], described: Iterable[Described]
    ) -> Compiled:
        compiler = Compiler(streams, time_zone=self.time_zone, resolver=self.resolver)
        problems: dict[str, str] = {}
        coming = _newcomers(compiler, described, problems)
        empty = Version(version, compiler, SETTINGS, Table(columns=Columns()))
        return _ready(Compiled(stamp, empty.change((), coming, version=version), problems))


def _attributes(entry: Entry) -> Attributes:
    return Attributes(entry.number, entry.revision, entry.state == State.SHADOW, entry.destination)


def _newcomers(
    compiler: Compiler, described: Iterable[Described], problems: dict[str, str]
) -> list[Newcomer]:
    """Queries in normal form, all that can be compiled; the others are entered into `problems`."""
    coming: list[Newcomer] = []
    for query, attributes in described:
        try:
            check_query(query.id, query.sql)
            coming.append(Newcomer(query, compiler.selection(query, "a pipeline on Spark"), attributes))
        except QueryError as error:
            problems[query.id] = error.message
    return coming


def _ready(compiled: Compiled) -> Compiled:
    """The same, compiled; queries of which no segment can be made are among the problems."""
    standing = compiled.standing.ready()
    why = {problem.query or "": problem.message for problem in standing.left_out}
    return replace(compiled, standing=standing, problems={**compiled.problems, **why})


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
