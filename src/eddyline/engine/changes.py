"""Changes asked for by id and text, checked as a whole before any of it is made."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from eddyline.admission import Admission
from eddyline.admission.present import ListedEntries
from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length, settled_length
from eddyline.model.join import Normal
from eddyline.model.query import Query, as_ids, as_queries, check_query
from eddyline.registry import Drop, Entry, Put, State
from eddyline.standing.rows.columns import Attributes
from eddyline.standing.standing import Standing
from eddyline.standing.version import Newcomer, Version

log = logging.getLogger("eddyline.engine")


@dataclass(frozen=True, slots=True)
class Edit:
    """What one change adds, removes and replaces."""

    add: tuple[Query, ...] = ()
    remove: tuple[str, ...] = ()
    replace: tuple[Query, ...] = ()

    @staticmethod
    def of(
        add: Mapping[str, str] | Iterable[Query],
        remove: str | Iterable[str],
        replace: Mapping[str, str] | Iterable[Query],
    ) -> Edit:
        """An edit from what a caller may give."""
        return Edit(tuple(as_queries(add)), tuple(as_ids(remove)), tuple(as_queries(replace)))

    def __bool__(self) -> bool:
        return bool(self.add or self.remove or self.replace)

    @property
    def puts(self) -> list[Put]:
        """The texts that it brings, as a registry takes them."""
        return [Put(query.id, query.sql) for query in (*self.add, *self.replace)]


class Changes:
    """Makes edits of a standing set."""

    def __init__(self, standing: Standing, admission: Admission) -> None:
        self._standing = standing
        self._admission = admission

    def make(self, edit: Edit) -> int:
        """Make an edit, or raise a `QueryError` and change nothing; the caller holds the lock."""
        compiled = self.check(edit)
        version = self._standing.current
        if not edit:
            return version.version
        table, shadows = version.table, self._shadows(edit)
        replaced = {query.id: table.dense(query.id) for query in edit.replace}
        revisions = {id: int(table.columns["revision"][dense]) + 1 for id, dense in replaced.items()}
        coming = [
            Newcomer(query, normal, Attributes(None, revisions.get(query.id, 1), query.id in shadows))
            for query, normal in zip((*edit.add, *edit.replace), compiled, strict=True)
        ]
        leaving = [*(table.dense(id) for id in edit.remove), *replaced.values()]
        self._standing.change(leaving, coming)
        return self._standing.current.version

    def check(self, edit: Edit) -> list[Normal]:
        """The normal forms of what is added and replaced, or a `QueryError`."""
        version = self._standing.current
        seen: set[str] = set()
        for query in (*edit.add, *edit.replace):
            check_query(query.id, query.sql)
        for id in (*(q.id for q in edit.add), *edit.remove, *(q.id for q in edit.replace)):
            if id in seen:
                raise QueryError(
                    "the change names it twice", query=id, hint="one change of a query at a time"
                )
            seen.add(id)
        for query in edit.add:
            if version.table.find(query.id) is not None:
                raise QueryError(
                    "the id is taken already", query=query.id, hint="replace it, or remove it first"
                )
        for id in (*edit.remove, *(query.id for query in edit.replace)):
            if version.table.find(id) is None:
                raise QueryError("there is no such query", query=id)
        return [version.compiler.compile(query) for query in (*edit.add, *edit.replace)]

    def _shadows(self, edit: Edit) -> set[str]:
        """The queries that are let in to be counted only; a `QueryError` if one of them is not let in."""
        if self._admission.is_open:
            return set()
        puts, version = edit.puts, self._standing.current
        present = ListedEntries(self._entries, lambda _: version.ready())
        gone = [Drop(id) for id in edit.remove]
        check = self._admission.check([*puts, *gone], version.compiler, present)
        verdicts = {put.id: check(Query(put.id, put.sql)) for put in puts}
        for id, verdict in verdicts.items():
            if verdict.state is State.DISABLED:
                raise QueryError(verdict.note or "it would stay disabled", query=id)
            if verdict.note is not None:
                log.warning('query "%s": %s', id, verdict.note)
        return {id for id, verdict in verdicts.items() if verdict.state is State.SHADOW}

    def _entries(self) -> list[Entry]:
        """The queries as a registry would have them."""
        table = self._standing.current.table
        found = []
        for dense, query in table.queries():
            known = table.columns.attributes(dense)
            state = State.SHADOW if known.shadow else State.ENABLED
            found.append(Entry(query.id, query.sql, known.revision, state=state))
        return found

    def take_over(
        self,
        version: int,
        streams: Iterable[Stream],
        entries: Sequence[Entry],
        join_window: Length | None = None,
    ) -> list[QueryError]:
        """Make the set that of a registry's version; gives the queries that cannot be evaluated here.

        A query that is the same goes on. One whose streams were redeclared starts anew, and so does a join that takes the
        join window if that is another one now. The caller holds the lock.
        """
        before = self._standing.current
        compiler, redeclared = _declared(before.compiler, streams, join_window)
        has_other_window = compiler.join_window != before.compiler.join_window
        problems: list[QueryError] = []
        coming: list[Newcomer] = []
        kept: set[int] = set()
        staying: list[tuple[int, Attributes]] = []
        for entry in entries:
            if entry.state is State.DISABLED:
                continue
            now = Attributes(entry.number, entry.revision, entry.state is State.SHADOW)
            dense = before.table.find(entry.id)
            if dense is not None and _is_same(before, dense, entry.sql, now, redeclared, has_other_window):
                kept.add(dense)
                if bool(before.table.columns["shadow"][dense]) != now.shadow:
                    staying.append((dense, now))
                continue
            try:
                coming.append(Newcomer(entry.query, compiler.compile(entry.query), now))
            except QueryError as error:
                problems.append(error)
        leaving = [dense for dense in before.table.alive.tolist() if dense not in kept]
        left_out = self._standing.change(
            leaving, coming, staying=staying, version=version, compiler=compiler, allow_left_out=True
        )
        return [*problems, *left_out]


def _declared(
    compiler: Compiler, streams: Iterable[Stream], join_window: Length | None
) -> tuple[Compiler, set[str]]:
    """A compiler that knows these streams and this join window, and the names that meant another stream before.

    Names are compared without case, as queries do.
    """
    before = {stream.name: stream for stream in compiler.streams}
    declared = {stream.name.lower(): stream for stream in streams}
    after = {name: stream for name, stream in before.items() if name.lower() not in declared}
    after |= {stream.name: stream for stream in declared.values()}
    if after == before and compiler.join_window == settled_length(join_window, "join_window"):
        return compiler, set()
    changed = {name for name, stream in before.items() if after.get(name) != stream}
    return compiler.redeclared(after.values(), join_window), changed


def _is_same(
    version: Version, dense: int, sql: str, now: Attributes, redeclared: set[str], has_other_window: bool
) -> bool:
    """Whether a query is the one that a registry has, and is compiled for the streams and the join window that there are.

    It may have become a shadow, or a shadow no longer: it goes on all the same, and so do the pairs of a join.
    """
    columns = version.table.columns
    if version.table.query(dense).sql != sql:
        return False
    if redeclared and not redeclared.isdisjoint(version.streams_of(dense)):
        return False
    if has_other_window and version.takes_join_window(dense):
        return False
    known = columns.attributes(dense)
    return (known.number, known.revision) == (now.number, now.revision)
