"""A database as registries use it: one kind of transaction for readers, one for writers, on SQLite and PostgreSQL."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from eddyline.errors import RegistryError, SetupError
from eddyline.registry.failures import CLOSED, DENIED, LOCKED, READ_ONLY, failure, meaning, told
from eddyline.registry.migrations import FORMAT, READABLE, format_of, identity_of, migrate

LOCK: Final = 0x6564_6479_6C69_6E65  # "eddyline": PostgreSQL's advisory lock that writers take
ASLEEP: Final = 0.01  # seconds between attempts where SQLite does not wait by itself
NOTICE: Final = 3.0  # seconds of waiting for others after which there is a warning
# SQLite's mode for a file beside which it can write nothing, not even locks
IMMUTABLE: Final = "ro&immutable=1"

log = logging.getLogger("eddyline.registry")


class Database:
    """Transactions on one database.

    Readers see one state from their first to their last look, and never wait. Writers come one after the other: on
    SQLite by BEGIN IMMEDIATE, on PostgreSQL by an advisory lock. Everything is written at the end, or nothing.

    `identity` is the registry's own name for itself, which no other has: every transaction looks whether it is still
    the same, since a file may be replaced and a database made anew under those who use it. None for a registry of an
    older form that may only be read.
    """

    identity: str | None

    def __init__(self, where: str | Path, *, timeout: float, shown: str | None = None) -> None:
        self._timeout = timeout
        url = _url_of(where)
        self._file = _file_of(url)
        self.where = shown or (str(where) if "://" not in str(where) else _without_password(url))
        self._engine = _postgres(url, timeout) if self._file is None else self._sqlite()
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _sqlite(self, mode: str = "rw") -> Engine:
        # Every transaction has a connection of its own: none is left behind, and processes may fork.
        return create_engine("sqlite://", creator=partial(self._connect, mode), poolclass=NullPool)

    def _connect(self, mode: str = "rw") -> sqlite3.Connection:
        assert self._file is not None, "only SQLite has a file"
        return sqlite3.connect(
            f"{self._file.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=min(NOTICE, self._timeout),
            isolation_level=None,  # transactions begin where this module says so
            check_same_thread=False,
        )

    @property
    def _is_read_only(self) -> bool:
        """Whether it is a file that we may not write.

        SQLite is not let near it then unless others have it open: its log and locks, which it puts beside the file, would
        be ours, and as read-only as the file is. Who may write the file would be locked out by them.
        """
        return self._file is not None and self._file.exists() and not os.access(self._file, os.W_OK)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database."""
        with self._reading() as connection:
            self._refuse_another(connection)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that no other writer is beside of; kept if the block ends well, else undone."""
        with self._writing() as connection:
            self._refuse_another(connection)
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with told(self.where), ExitStack() as stack:
            if self._file is not None and self._is_read_only and not _has_side_files(self._file):
                yield stack.enter_context(self._reading_immutable(self._file))
                return
            connection = stack.enter_context(self._engine.connect())
            if self._file is None:
                connection = connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            else:
                try:
                    # the first look takes the state that is seen, and the lock that it may have to wait for
                    self._begin(connection, ["BEGIN", "SELECT 1 FROM sqlite_master LIMIT 1"])
                except DBAPIError as error:
                    if meaning(error.orig) not in (READ_ONLY, CLOSED) or not self._file.exists():
                        raise
                    connection = stack.enter_context(self._reading_immutable(self._file))
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self._is_read_only:
            fact, hint = READ_ONLY
            raise RegistryError(f'the registry "{self.where}" {fact}', hint=hint)
        with told(self.where), self._engine.connect() as connection:
            if self._file is not None:
                self._begin(connection, ["BEGIN IMMEDIATE"])
            else:
                self._begin(connection, [f"SELECT pg_advisory_xact_lock({LOCK})"])
            yield connection
            connection.commit()

    def _begin(self, connection: Connection, statements: list[str]) -> None:
        """Run the first statements of a transaction, which may have to wait for others; a long wait is logged."""
        waiting = "PRAGMA busy_timeout = {}" if self._file is not None else "SET LOCAL lock_timeout = {}"

        def attempt(seconds: float) -> None:
            connection.exec_driver_sql(waiting.format(max(1, int(seconds * 1000))))
            for statement in statements:
                connection.exec_driver_sql(statement)

        if self._timeout <= NOTICE:
            return attempt(self._timeout)
        try:
            attempt(NOTICE)
        except DBAPIError as error:
            if meaning(error.orig) is not LOCKED:
                raise
            connection.rollback()
            self._warn_of_waiting()
            attempt(self._timeout - NOTICE)

    def _warn_of_waiting(self) -> None:
        log.warning(
            'the registry "%s" is locked by another process; waiting for it up to %.0f s',
            self.where,
            self._timeout,
        )

    @contextmanager
    def _reading_immutable(self, file: Path) -> Iterator[Connection]:
        """A look at a file that may not be written, without anything beside it, so without a lock.

        Others may have that right. So what would be read wrongly is refused: a file with changes that still stand in its
        write-ahead log, and one that was changed meanwhile.
        """
        before = _changed_at(file)
        if before[-1]:
            raise RegistryError(
                f'the registry "{self.where}" was not closed, and cannot be read without the right to write it',
                hint=f"its last changes stand in {file.name}-wal: let somebody open it who may write it",
            )
        with self._sqlite(IMMUTABLE).connect() as connection:
            yield connection
        if _changed_at(file) != before:
            raise RegistryError(
                f'the registry "{self.where}" was changed while it was read', hint="try again"
            )

    def _refuse_another(self, connection: Connection) -> None:
        if self.identity is None:
            return
        if identity_of(connection) != self.identity:
            raise RegistryError(
                f'the registry "{self.where}" was replaced by another one, of which nothing was taken over',
                hint="put the old one back; what shall follow the new one has to be started anew",
            )

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    def _prepare(self) -> None:
        """Make a new database, or bring an older one into the newest form; leave alone what is not ours."""
        shared = self._file is None
        if self._file is not None and not self._file.exists():
            self._make_file()
        with self._reading() as connection:
            found = format_of(connection, self.where, shared=shared)
        if found < FORMAT:
            found = self._migrated(found, shared)
        if self._file is not None and not self._is_read_only:
            self._write_ahead()
        self.identity = None
        if found == FORMAT:
            with self._reading() as connection:
                self.identity = identity_of(connection)

    def _migrated(self, found: int, shared: bool) -> int:
        """Bring the database into the newest form; gives the form it has, an older one if we may only read it."""
        try:
            with self._writing() as connection:
                now = format_of(connection, self.where, shared=shared)
                if now < FORMAT:
                    migrate(connection, now)
            return FORMAT
        except RegistryError as error:
            cause = error.__cause__
            is_closed = isinstance(cause, DBAPIError) and meaning(cause.orig) in (READ_ONLY, CLOSED, DENIED)
            if found < READABLE or not (is_closed or self._is_read_only):
                raise
            return found

    def _make_file(self) -> None:
        try:
            connection = self._connect("rwc")
            connection.close()
        except sqlite3.Error as error:
            raise failure(self.where, error) from error

    def _write_ahead(self) -> None:
        """Let readers and a writer work at the same time; the file remembers it.

        SQLite does not wait by itself for the lock that this takes; where others keep it, they have asked for the same.
        """
        begin, has_warned = time.monotonic(), False
        with told(self.where), self._engine.connect() as connection:
            while True:
                try:
                    if connection.exec_driver_sql("PRAGMA journal_mode").scalar() != "wal":
                        connection.exec_driver_sql("PRAGMA journal_mode = wal")
                    return
                except DBAPIError as error:
                    if meaning(error.orig) in (READ_ONLY, CLOSED):
                        return
                    waited = time.monotonic() - begin
                    if meaning(error.orig) is not LOCKED or waited > self._timeout:
                        raise
                    if waited > NOTICE and not has_warned:
                        self._warn_of_waiting()
                        has_warned = True
                    time.sleep(ASLEEP)


def _has_side_files(file: Path) -> bool:
    """Whether somebody has put SQLite's log or locks beside a file."""
    return any(file.with_name(file.name + end).exists() for end in ("-wal", "-shm"))


def _changed_at(file: Path) -> tuple[int, ...]:
    """What tells one state of a file from another; the last is the size of its write-ahead log."""
    found, ahead = file.stat(), file.with_name(file.name + "-wal")
    return found.st_ino, found.st_mtime_ns, found.st_size, ahead.stat().st_size if ahead.exists() else 0


def _url_of(where: str | Path) -> URL:
    if isinstance(where, Path) or "://" not in where:
        return URL.create("sqlite", database=str(where))
    try:
        return make_url(where)
    except (ArgumentError, ValueError):
        raise RegistryError(
            "the address of the registry cannot be read",
            hint="it is a file, or written as postgresql://user@host:5432/database",
        ) from None


def _without_password(url: URL) -> str:
    """An address as messages show it; PostgreSQL also takes passwords behind the question mark."""
    hidden = {name: "***" for name in url.query if "pass" in name.lower()}
    shown = url.update_query_dict(hidden) if hidden else url
    return shown.render_as_string(hide_password=True).replace("%2A%2A%2A", "***")


def _file_of(url: URL) -> Path | None:
    """The file of an SQLite database, None for PostgreSQL."""
    kind = url.get_backend_name()
    if kind == "sqlite":
        if not url.database or url.database == ":memory:":
            raise RegistryError("a registry in memory would be forgotten", hint="name a file")
        return Path(url.database)
    if kind in ("postgresql", "postgres"):
        return None
    raise RegistryError(
        f'a registry cannot be kept in "{kind}"', hint="name an SQLite file or a postgresql:// address"
    )


def _postgres(url: URL, timeout: float) -> Engine:
    try:
        import psycopg  # noqa: F401 (only whether it is there)
    except ImportError:
        raise SetupError(
            "a registry in PostgreSQL needs the package psycopg", hint="pip install 'eddyline[postgres]'"
        ) from None
    url = url.set(drivername="postgresql+psycopg")
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(max(2, int(timeout)))})
    return create_engine(url, pool_pre_ping=True, pool_size=2)
