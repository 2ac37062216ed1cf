"""Changes asked for by id and text, checked as a whole before any of it is made."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from eddyline.admission import Admission
from eddyline.engine.live import LiveSet, Newcomer
from eddyline.errors import PASSED_ON, QueryError
from eddyline.execute.rescue.uncompilable import find_uncompilable
from eddyline.model.catalog import Stream
from eddyline.model.query import NormalQuery, Query, as_ids, as_queries, check_query
from eddyline.registry import Entry, Put, State

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
    """Makes edits of a live set."""

    def __init__(self, live: LiveSet, admission: Admission) -> None:
        self._live = live
        self._admission = admission

    def make(self, edit: Edit) -> int:
        """Make an edit, or raise a `QueryError` and change nothing; the caller holds the lock."""
        compiled = self.check(edit)
        if not edit:
            return self._live.state.version
        members, shadows = self._live.members, self._shadows(edit)
        leaving = [members[id] for id in (*edit.remove, *(query.id for query in edit.replace))]
        coming = [Newcomer(q.id, q.sql, shadow=q.id in shadows) for q in edit.add]
        coming += [Newcomer(q.id, q.sql, members[q.id].revision + 1, q.id in shadows) for q in edit.replace]
        several = list(zip(coming, compiled, strict=True))
        try:
            return self._live.change(leaving, several)
        except PASSED_ON:
            raise
        except Exception:
            culprits = self._culprits(several)
        raise next(iter(culprits.values()))

    def check(self, edit: Edit) -> list[NormalQuery]:
        """The normal forms of what is added and replaced, or a `QueryError`."""
        members = self._live.members
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
            if query.id in members:
                raise QueryError(
                    "the id is taken already", query=query.id, hint="replace it, or remove it first"
                )
        for id in (*edit.remove, *(query.id for query in edit.replace)):
            if id not in members:
                raise QueryError("there is no such query", query=id)
        return [self._live.compile(query) for query in (*edit.add, *edit.replace)]

    def _shadows(self, edit: Edit) -> set[str]:
        """The queries that are let in to be counted only; a `QueryError` if one of them is not let in."""
        if self._admission.is_open:
            return set()
        edits = edit.puts
        check = self._admission.check(edits, self._live.new_compiler(), self._entries)
        verdicts = {put.id: check(Query(put.id, put.sql)) for put in edits}
        for id, verdict in verdicts.items():
            if verdict.state is State.DISABLED:
                raise QueryError(verdict.note or "it would stay disabled", query=id)
            if verdict.note is not None:
                log.warning('query "%s": %s', id, verdict.note)
        return {id for id, verdict in verdicts.items() if verdict.state is State.SHADOW}

    def _entries(self) -> list[Entry]:
        """The members as a registry would have them."""
        return [
            Entry(m.id, m.sql, m.revision, state=State.SHADOW if m.shadow else State.ENABLED)
            for m in self._live.members.values()
        ]

    def take_over(
        self, version: int, streams: Iterable[Stream], entries: Sequence[Entry]
    ) -> list[QueryError]:
        """Make the set that of a registry's version; gives the queries that cannot be evaluated here."""
        redeclared = self._live.declare(streams)
        members, wanted = self._live.members, {e.id: e for e in entries if e.state is not State.DISABLED}
        problems: list[QueryError] = []
        coming: list[tuple[Newcomer, NormalQuery]] = []
        kept: set[str] = set()
        for id, entry in wanted.items():
            now = Newcomer(id, entry.sql, entry.revision, entry.state is State.SHADOW, entry.number)
            member = members.get(id)
            if member is not None and member.stream not in redeclared and now == Newcomer.of(member):
                kept.add(id)
                continue
            try:
                coming.append((now, self._live.compile(entry.query)))
            except QueryError as error:
                problems.append(error)
        leaving = [member for id, member in members.items() if id not in kept]
        try:
            self._live.change(leaving, coming, version)
        except PASSED_ON:
            raise
        except Exception:
            culprits = self._culprits(coming)
            self._live.change(leaving, [new for n, new in enumerate(coming) if n not in culprits], version)
            problems += culprits.values()
        return problems

    def _culprits(self, coming: Sequence[tuple[Newcomer, NormalQuery]]) -> dict[int, QueryError]:
        """The newcomers at which a change fails, by place; if it is none of them, what is being handled goes on."""
        culprits = find_uncompilable([(n, query) for n, (_, query) in enumerate(coming)], self._live.settings)
        if not culprits:
            raise
        return culprits
