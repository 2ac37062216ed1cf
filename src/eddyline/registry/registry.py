"""The registry: queries and streams of every version, changed by edits, one transaction a change."""

from __future__ import annotations

import getpass
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from eddyline.errors import ConflictError, QueryError, RefusedError, RegistryError
from eddyline.model.catalog import Stream, distinct_streams
from eddyline.model.event_time import Length, settled_length
from eddyline.model.query_state import State
from eddyline.registry import accounts, reading
from eddyline.registry.database import Database
from eddyline.registry.editing import EntryDraft, look, restored
from eddyline.registry.values import (
    KEEP,
    Budget,
    Change,
    Check,
    Diff,
    Edit,
    Entry,
    Keep,
    Put,
    Set,
    Step,
    Version,
    author_name,
    fitting_reason,
    reason_text,
    storable,
    what_differs,
)
from eddyline.registry.writing import forget_digests, write

EDDYLINE: Final = "eddyline"  # the author of changes that nobody asked for
PATIENCE: Final = 30.0  # seconds that a writer waits for another one


class Registry:
    """Queries that outlive processes; any number of processes may read and change one registry.

    >>> import tempfile, pyarrow as pa
    >>> from eddyline.registry import Put, Set, State
    >>> folder = tempfile.TemporaryDirectory()
    >>> registry = Registry.open(Path(folder.name) / "eddyline.db")
    >>> quotes = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
    >>> registry.declare(quotes, author="ann", reason="the first stream").version
    1
    >>> cheap = Put("cheap", "SELECT symbol FROM quotes WHERE price < 10", tags=["fx"])
    >>> registry.change([cheap], author="ann", reason="wanted by sales").added
    ('cheap',)
    >>> registry.change([Set("cheap", state=State.SHADOW)], author="bob", reason="too many matches").version
    3
    >>> [(entry.id, entry.revision, str(entry.state)) for entry in registry.entries()]
    [('cheap', 1, 'shadow')]
    >>> [(step.version.number, step.what) for step in registry.history("cheap")]
    [(2, 'added'), (3, 'changed')]
    >>> folder.cleanup()
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @staticmethod
    def open(where: str | Path, *, timeout: float = PATIENCE, shown: str | None = None) -> Registry:
        """Open a registry: a path or `sqlite:///...`, which is made if it is not there, or `postgresql://...`.

        `timeout` is how many seconds a change waits for others that are being made; `shown` is what messages call the
        registry, if its path or address is not to be shown.
        """
        return Registry(Database(where, timeout=timeout, shown=shown))

    @property
    def where(self) -> str:
        """The path or address, without a password."""
        return self._database.where

    @property
    def identity(self) -> str | None:
        """What tells this registry from every other one, also from one that is put in its place later.

        None for a registry of an older form that may only be read.
        """
        return self._database.identity

    def close(self) -> None:
        """Let go of all connections."""
        self._database.close()

    def __enter__(self) -> Registry:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def version(self) -> int:
        """The version in force: 0 for an empty registry, one more with every change."""
        with self._database.reading() as connection:
            return reading.newest(connection)[0]

    def versions(self, numbers: Collection[int] | None = None) -> list[Version]:
        """All versions, or those of some numbers that there are, the oldest first."""
        with self._database.reading() as connection:
            return reading.read_versions(connection, numbers)

    def streams(self, version: int | None = None) -> list[Stream]:
        """The streams of a version, of the newest if it is None."""
        with self._database.reading() as connection:
            _look_for(connection, version)
            return reading.read_streams(connection, version)

    def join_window(self, version: int | None = None) -> Length | None:
        """The window of joins that name no time bound, in a version, the newest if it is None; None where there is none."""
        with self._database.reading() as connection:
            _look_for(connection, version)
            return reading.read_join_window(connection, version)

    def entries(
        self,
        version: int | None = None,
        *,
        state: State | str | None = None,
        tags: Collection[str] = (),
        owner: str | None = None,
        search: str | None = None,
    ) -> list[Entry]:
        """The queries of a version that fit, by number: in this state, with all these tags, of this owner.

        `search` is a text that stands in the id, the SQL, the destination or the metadata, in whatever case.
        """
        state = None if state is None else State(state)
        with self._database.reading() as connection:
            _look_for(connection, version)
            return reading.read_entries(
                connection, version, state=state, tags=tags, owner=owner, search=search
            )

    def entry(self, id: str, version: int | None = None) -> Entry | None:
        """One query of a version; None where it has none of that id."""
        with self._database.reading() as connection:
            _look_for(connection, version)
            return reading.read_entry(connection, id, version)

    def entries_by_id(self, ids: Collection[str]) -> dict[str, Entry]:
        """The queries that are registered under some ids now."""
        with self._database.reading() as connection:
            return reading.entries_by_id(connection, ids)

    def entries_by_digest(self, digests: Collection[str]) -> list[Entry]:
        """The queries, registered now, whose normal forms have one of some digests, by number."""
        with self._database.reading() as connection:
            return reading.entries_by_digest(connection, digests)

    def entries_without_digest(self, format: str) -> list[Entry]:
        """The queries, registered now, of which no digest of a format is known, without those that only Spark can read."""
        with self._database.reading() as connection:
            return reading.entries_without_digest(connection, format)

    def history(self, id: str) -> list[Step]:
        """What happened to a query, the oldest first; empty for an id that never was."""
        with self._database.reading() as connection:
            return reading.read_history(connection, id)

    def diff(self, old: int, new: int) -> Diff:
        """What is different in version `new` from version `old`."""
        with self._database.reading() as connection:
            return reading.read_diff(connection, old, new)

    def declare(
        self, stream: Stream, *, author: str | None = None, reason: str = "", check: Check | None = None
    ) -> Change:
        """Enter a stream; one that has another declaration is changed if `check` lets all queries be."""
        return self.change((), streams=[stream], author=author, reason=reason, check=check)

    def set_join_window(
        self,
        length: Length | None,
        *,
        author: str | None = None,
        reason: str = "",
        check: Check | None = None,
    ) -> Change:
        """Give joins that name no time bound a window, "5 minutes" say: their event times differ by at most so much.

        Where there is another one already, it is changed or taken away (None) if `check` lets all queries be.
        """
        return self.change((), join_window=length, author=author, reason=reason, check=check)

    def change(
        self,
        edits: Iterable[Edit],
        *,
        streams: Iterable[Stream] = (),
        join_window: Length | Keep | None = KEEP,
        author: str | None = None,
        reason: str = "",
        check: Check | None = None,
        all_or_nothing: bool = True,
        base: int | None = None,
        digested: Iterable[Entry] = (),
    ) -> Change:
        """Make edits, in their order, declare streams and set the join window: all one version, in one transaction.

        `check` sees the text of every query that is put, before anything is written. An edit that is refused makes the
        whole change a `RefusedError`; without `all_or_nothing` the others are made, and the result names it.
        `base` is the version that the edits were made for: if there is a newer one, the change is a `ConflictError`.
        `digested` are registered queries whose digests the check has found out; they are asked for after it.
        """
        edits, declared = list(edits), distinct_streams(streams)
        given = join_window if join_window is KEEP else settled_length(join_window, "join_window")
        author, reason = author_of(author), reason_text(reason)
        checked_for = self._declarations() if check is not None else None
        seen = look(edits, check)
        with self._database.writing() as connection:
            version, next_number = reading.newest(connection)
            if base is not None and base != version:
                raise ConflictError(
                    f"the change was made for version {base}, and the registry is at version {version}",
                    hint="look at what is different, and make the change again",
                )
            present, window = declarations = _declarations(connection)
            if checked_for is not None and declarations != checked_for:
                what = "streams" if present != checked_for[0] else "join window"
                raise ConflictError(
                    f"the {what} changed while the queries were checked", hint="make the change again"
                )
            wanted = window if given is KEEP else given
            ids = {edit.id for edit in edits}
            before = reading.entries_by_id(connection, ids)
            gone = [id for id in ids if id not in before]
            draft = EntryDraft(before, reading.last_revisions(connection, gone), next_number)
            unknown = any(not isinstance(edit, Put) and edit.id not in before for edit in edits)
            refused = draft.apply(seen, reading.read_ids(connection) if unknown else ())
            other = _redeclared(present, declared, window, wanted)
            disturbed, redigested = ([], []) if other is None else _disturbed(connection, other, check, ids)
            if disturbed or (refused and all_or_nothing):
                raise RefusedError([*refused, *disturbed], len(edits))
            done = write(
                connection,
                before,
                draft.after,
                _merged(present, declared) if declared else None,
                join_window=wanted,
                next_number=draft.next_number,
                author=author,
                reason=reason,
                digested=[*digested, *draft.digested, *redigested],
            )
        return replace(done, refused=tuple(refused), notes=draft.notes)

    def quarantine(self, id: str, reason: str, *, revision: int | None = None) -> Change:
        """Disable a query that does harm, in the name of `eddyline`; nothing changes if it is gone or disabled already.

        With `revision`, nothing changes either if the query has another text by now.
        """
        while True:
            version = self.version
            entry = self.entry(id, version)
            if entry is None or entry.state == State.DISABLED or revision not in (None, entry.revision):
                return Change(version, unchanged=() if entry is None else (id,))
            try:
                return self.change(
                    [Set(id, state=State.DISABLED)],
                    author=EDDYLINE,
                    reason=fitting_reason(reason),
                    base=version,
                )
            except ConflictError:  # somebody changed something meanwhile: look again
                continue

    def rollback(self, to: int, *, author: str | None = None, reason: str = "") -> Change:
        """Make a new version that holds what version `to` held, streams and join window included.

        A text that returns is a new revision.
        """
        author, reason = author_of(author), reason_text(reason)
        with self._database.writing() as connection:
            reading.check_version(connection, to)
            if _declarations(connection) != _declarations(connection, to):
                forget_digests(connection)
            before = {entry.id: entry for entry in reading.read_entries(connection)}
            target = reading.read_entries(connection, to)
            gone = [entry.id for entry in target if entry.id not in before]
            draft = EntryDraft(
                before, reading.last_revisions(connection, gone), reading.newest(connection)[1]
            )
            restored(target, draft)
            return write(
                connection,
                before,
                draft.after,
                reading.read_streams(connection, to),
                join_window=reading.read_join_window(connection, to),
                next_number=draft.next_number,
                author=author,
                reason=reason or f"back to version {to}",
            )

    def _declarations(self) -> tuple[list[Stream], str | int | None]:
        with self._database.reading() as connection:
            return _declarations(connection)

    def set_budget(self, budget: Budget, *, author: str | None = None) -> None:
        """Limit what a query, or every query of an owner, may cost; a budget without limits takes the old one away."""
        with self._database.writing() as connection:
            accounts.write_budget(connection, budget, author_of(author))

    def budgets(self) -> list[Budget]:
        """All budgets: those of owners, then those of queries, by name."""
        with self._database.reading() as connection:
            return accounts.read_budgets(connection)

    def add_counters(
        self, counts: Mapping[str, Mapping[str, int]], *, once: tuple[str, int] | None = None
    ) -> bool:
        """Add to counters of queries, all or none: `{"cheap": {"matches": 12, "deliveries": 12}}`.

        With `once`, an origin and the number of a batch, a batch that is not above the last one of its origin adds
        nothing: it was counted before. Gives whether anything was added.
        """
        with self._database.writing() as connection:
            if once is not None and accounts.is_counted(connection, storable("the origin", once[0]), once[1]):
                return False
            accounts.add_counters(connection, counts)
            return True

    def counters(self, id: str | None = None) -> dict[str, dict[str, int]]:
        """All counters, by query and name, or those of one query."""
        with self._database.reading() as connection:
            return accounts.read_counters(connection, id)


def author_of(author: str | None) -> str:
    """An author's name; the user's login name where none is given."""
    if author is None:
        try:
            author = getpass.getuser()
        except (OSError, KeyError):  # a container's user may have a number and no name
            author = f"user {os.getuid()}"
    return author_name(author)


def _look_for(connection: Connection, version: int | None) -> None:
    if version is not None:
        reading.check_version(connection, version)


def _declarations(
    connection: Connection, version: int | None = None
) -> tuple[list[Stream], str | int | None]:
    """What queries are checked for: the streams and the join window of a version, the newest if it is None."""
    return reading.read_streams(connection, version), reading.read_join_window(connection, version)


def _merged(present: Sequence[Stream], declared: Sequence[Stream]) -> list[Stream]:
    return list({stream.name.lower(): stream for stream in (*present, *declared)}.values())


def _redeclared(
    present: Sequence[Stream],
    declared: Sequence[Stream],
    window: str | int | None,
    wanted: str | int | None,
) -> str | None:
    """What was declared otherwise before, in words; None if nothing was."""
    before = {stream.name.lower(): stream for stream in present}
    for stream in declared:
        known = before.get(stream.name.lower(), stream)
        if known != stream:
            return f'the stream "{stream.name}" is declared with {what_differs(known, stream)}'
    # A first join window breaks nothing: joins that stand without one name their own.
    return None if window in (None, wanted) else f"the join window is {window}"


def _disturbed(
    connection: Connection, redeclared: str, check: Check | None, put: Collection[str]
) -> tuple[list[QueryError], list[Entry]]:
    """What is redeclared would break some registered queries, and others get another digest by it.

    `put` are those that are checked anyway.
    """
    if check is None:
        raise RegistryError(
            redeclared,
            hint="hand in a check for the new declaration, so that the registered queries are looked at again",
        )
    broken: list[QueryError] = []
    digested: list[Entry] = []
    for entry in reading.read_entries(connection):
        if entry.id in put:
            continue
        try:
            digest = check(entry.query).digest
        except QueryError as error:
            error.query = entry.id
            broken.append(error)
        else:
            if digest != entry.digest:
                digested.append(replace(entry, digest=digest))
    return broken, digested
