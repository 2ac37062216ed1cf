"""The set in force: changed by whole changes, read by pushes without waiting, merged on the side.

    changes     lock ─► compile ─► slots ─► a small new piece ─► publish State v+1
    pushes                                        State v  ─► match            no lock: a State is never changed
    merging     pieces that are too many ─► one piece, beside everything ─► lock ─► publish, same version

A State lists the pieces; removals are written into the table of slots with their version, so a push of an older version
does not see them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.engine.gate import Gate
from eddyline.engine.members import NEVER, Flags, Integers, Member, Quarantine, Table
from eddyline.engine.pieces import OPEN, Piece, build_piece, normal_forms
from eddyline.errors import LedgerError
from eddyline.execute.reading.batch import ColumnReader
from eddyline.functions.evaluate import fallible
from eddyline.model.catalog import Stream, distinct_streams
from eddyline.model.expression import Expression, columns_of
from eddyline.model.predicate import conditions_of
from eddyline.model.query import NormalQuery, Query
from eddyline.project.select_list import SharedSelectLists


@dataclass(frozen=True, slots=True)
class State:
    """One version of the set, as a push sees it; `fallible` are the expressions whose failures are counted."""

    version: int
    table: Table
    streams: Mapping[str, Stream]
    pieces: Mapping[str, tuple[Piece, ...]] = field(default_factory=dict)
    fallible: Mapping[str, tuple[Expression, ...]] = field(default_factory=dict)
    _readers: dict[str, ColumnReader] = field(default_factory=dict, init=False, repr=False, compare=False)

    def reader(self, stream: Stream) -> ColumnReader:
        """Takes what these queries read out of the batches of a stream."""
        known = self._readers.get(stream.name)
        if known is None:
            used = dict.fromkeys(name for piece in self.pieces.get(stream.name, ()) for name in piece.columns)
            for expression in self.fallible.get(stream.name, ()):
                used.update(dict.fromkeys(sorted(columns_of(expression))))
            known = self._readers[stream.name] = ColumnReader(stream, used)
        return known


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A query to be added; one that a registry has numbered already keeps its number."""

    id: str
    sql: str
    revision: int = 1
    shadow: bool = False
    number: int | None = None

    @staticmethod
    def of(member: Member) -> Newcomer:
        """A member as it would come again."""
        return Newcomer(member.id, member.sql, member.revision, member.shadow, member.number)


@dataclass(frozen=True, slots=True)
class Change:
    """What one version changed: members that went and members that came."""

    version: int
    removed: tuple[Member, ...]
    added: tuple[Member, ...]


class LiveSet:
    """The current members and their compiled pieces."""

    def __init__(
        self,
        streams: Iterable[Stream],
        time_zone: str,
        settings: IndexSettings,
        on_change: Callable[[Change], None],
        version: int = 0,
    ) -> None:
        self.lock = threading.RLock()
        self.settings = settings
        self.gate = Gate()
        self.time_zone = time_zone
        self.members: dict[str, Member] = {}
        self.streams = {s.name: s for s in distinct_streams(streams)}  # that queries are compiled for
        self.state = State(version, Table(), self.streams)
        self.slots = Quarantine()
        self.select_lists = SharedSelectLists()
        self._compiler = self.new_compiler()
        self._on_change = on_change
        self._given = 0  # slots ever made
        self._entered = 0  # members ever entered
        self._fallible: dict[str, dict[Expression, int]] = {name: {} for name in self.streams}

    @contextmanager
    def pushing(self) -> Iterator[State]:
        """The state for a push; as long as it lasts no slot of that state is used again."""
        self.slots.begun += 1
        try:
            with self.gate:
                yield self.state
        finally:
            self.slots.ended += 1

    def new_compiler(self) -> Compiler:
        """A compiler of these streams; one serves one thread."""
        return Compiler(self.streams.values(), time_zone=self.time_zone)

    def compile(self, query: Query) -> NormalQuery:
        """A query in normal form, or a `QueryError`."""
        with self.lock:
            return self._compiler.compile(query)

    def declare(self, streams: Iterable[Stream]) -> set[str]:
        """Know more streams, or others under a known name; gives the names under which there was another one.

        Names are compared without case, as queries do. Pushes see the streams with the change that comes next.
        """
        before, declared = self.streams, {stream.name.lower(): stream for stream in streams}
        after = {name: stream for name, stream in before.items() if name.lower() not in declared}
        after |= {stream.name: stream for stream in declared.values()}
        if after == before:
            return set()
        for name in after:
            self._fallible.setdefault(name, {})
        self.streams = after
        self._compiler = self.new_compiler()
        return {name for name, stream in before.items() if after.get(name) != stream}

    def change(
        self,
        leaving: Sequence[Member],
        coming: Sequence[tuple[Newcomer, NormalQuery]],
        version: int | None = None,
    ) -> int:
        """Remove and add as one change; the caller holds the lock and has checked everything."""
        version = self.state.version + 1 if version is None else version
        self._mark(leaving, version)
        added: list[tuple[Member, NormalQuery]] = []
        try:
            added += [(self._admit(new, query, version), query) for new, query in coming]
            pieces, retired = self._pieces(leaving, added)
        except BaseException:
            self._mark(leaving, NEVER)
            self._dismiss([member for member, _ in added])
            raise
        for member in leaving:
            self._leave(member)
        for member, _ in added:
            self._enter(member)
        counted = {name: tuple(users) for name, users in self._fallible.items() if users}
        self._on_change(Change(version, tuple(leaving), tuple([member for member, _ in added])))
        state = replace(self.state, version=version, streams=self.streams, pieces=pieces, fallible=counted)
        self.publish(state, retired)
        return version

    def _pieces(
        self, leaving: Sequence[Member], added: Sequence[tuple[Member, NormalQuery]]
    ) -> tuple[dict[str, tuple[Piece, ...]], list[Integers]]:
        """The pieces after a change, and the slots that are in none of them any more."""
        pieces = dict(self.state.pieces)
        retired: list[Integers] = []
        for stream in dict.fromkeys([*(m.stream for m in leaving), *(m.stream for m, _ in added)]):
            kept, gone = _without_dead(pieces.get(stream, ()))
            retired += gone
            own = [(member, query) for member, query in added if member.stream == stream]
            if own:
                kept, gone = self._with_new(kept, stream, own)
                retired += gone
            pieces[stream] = kept
        return pieces, retired

    def publish(self, state: State, retired: Iterable[Integers]) -> None:
        """Put a state in force; `retired` are slots that it has no longer."""
        self._check(state)
        self.state = state
        for slots in retired:
            self.slots.retire(slots.tolist())

    def _check(self, state: State) -> None:
        """Every member stands in exactly one piece, or somebody would be skipped in silence."""
        found = sum(len(piece) - piece.dead for pieces in state.pieces.values() for piece in pieces)
        if found != len(self.members):
            raise LedgerError(f"{len(self.members)} queries are alive, but {found} are compiled")

    def _mark(self, members: Iterable[Member], version: int) -> None:
        """Write down when members go: a version, or NEVER if they stay after all."""
        state = self.state
        for member in members:
            state.table.removed_at[member.slot] = version
            for piece in state.pieces[member.stream]:
                place = np.searchsorted(piece.slots, member.slot)
                if place < len(piece) and piece.slots[place] == member.slot:
                    piece.dead += -1 if version == NEVER else 1

    def _admit(self, new: Newcomer, query: NormalQuery, version: int) -> Member:
        """A member with a slot, which nobody sees yet."""
        slot = self.slots.take()
        if slot is None:
            slot, self._given = self._given, self._given + 1
            if slot >= len(self.state.table):
                self.state = replace(self.state, table=self.state.table.grown(2 * slot))
        subjects = dict.fromkeys(condition.subject for condition in conditions_of(query.predicate))
        counted = tuple(dict.fromkeys(part for subject in subjects for part in fallible(subject)))
        select_list = self.select_lists.take(self.streams[query.stream], query.outputs, query.time_zone)
        member = Member(
            new.id,
            self._entered if new.number is None else new.number,
            new.sql,
            new.revision,
            version,
            slot,
            query.stream,
            select_list,
            counted,
            new.shadow,
        )
        self._entered += 1
        self.state.table.enter(member, self._entered)
        return member

    def _dismiss(self, members: Iterable[Member]) -> None:
        """Take back what `_admit` gave."""
        for member in members:
            self.select_lists.give_back(member.select_list)
            self.slots.retire([member.slot])

    def _enter(self, member: Member) -> None:
        self.members[member.id] = member
        users = self._fallible[member.stream]
        for expression in member.fallible:
            users[expression] = users.get(expression, 0) + 1

    def _leave(self, member: Member) -> None:
        del self.members[member.id]
        self.select_lists.give_back(member.select_list)
        users = self._fallible[member.stream]
        for expression in member.fallible:
            users[expression] -= 1
            if not users[expression]:
                del users[expression]

    def _with_new(
        self, pieces: tuple[Piece, ...], stream: str, own: list[tuple[Member, NormalQuery]]
    ) -> tuple[tuple[Piece, ...], list[Integers]]:
        """Pieces with the new members in one; it takes the youngest in as long as it stays small."""
        youngest = pieces[-1] if pieces else None
        gone: list[Integers] = []
        if youngest is not None and not youngest.taken and len(youngest) - youngest.dead + len(own) <= OPEN:
            members, queries, dropped = self.alive([youngest])
            own = [*zip(members, queries, strict=True), *own]
            pieces, gone = pieces[:-1], [dropped]
        piece = build_piece(
            stream, [member for member, _ in own], [query for _, query in own], self.settings, self.gate
        )
        return (*pieces, piece), gone

    def alive(
        self, pieces: Iterable[Piece], compiler: Compiler | None = None
    ) -> tuple[list[Member], list[NormalQuery], Integers]:
        """The members of pieces that are alive, with their normal forms, and the slots of the others."""
        members: list[Member] = []
        queries: list[NormalQuery] = []
        dead: list[Integers] = [np.empty(0, np.int64)]
        for piece in pieces:
            own, living = self.living(piece)
            members += own
            queries += normal_forms(piece, own, living, compiler or self._compiler)
            dead.append(piece.slots[~living])
        return members, queries, np.concatenate(dead)

    def living(self, piece: Piece) -> tuple[list[Member], Flags]:
        """The members of a piece that are alive, and which of its slots these are."""
        table = self.state.table
        living = table.removed_at[piece.slots] == NEVER
        return table.members[piece.slots[living]].tolist(), living


def _without_dead(pieces: Iterable[Piece]) -> tuple[tuple[Piece, ...], list[Integers]]:
    """Pieces without those that nobody lives in; a piece that is being merged is left to that."""
    kept = tuple([piece for piece in pieces if piece.taken or piece.dead < len(piece)])
    return kept, [piece.slots for piece in pieces if not piece.taken and piece.dead == len(piece)]
