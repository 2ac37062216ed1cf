"""A database as registries use it: one kind of transaction for readers, one for writers, on SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError

from eddyline.errors import RegistryError, SetupError
from eddyline.registry.failures import failure, told
from eddyline.registry.migrations import FORMAT, format_of, migrate

LOCK: Final = 0x6564_6479_6C69_6E65  # "eddyline": PostgreSQL's advisory lock that writers take
ASLEEP: Final = 0.01  # seconds between attempts where SQLite does not wait by itself


class Database:
    """Transactions on one database.

    Readers see one state from their first to their last look, and never wait. Writers come one after the other: on
    SQLite by BEGIN IMMEDIATE, on PostgreSQL by an advisory lock. Everything is written at the end, or nothing.
    """

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

    def _sqlite(self) -> Engine:
        # Every transaction has a connection of its own: none is left behind, and processes may fork.
        return create_engine("sqlite://", creator=self._connect, poolclass=NullPool)

    def _connect(self, mode: str = "rw") -> sqlite3.Connection:
        assert self._file is not None, "only SQLite has a file"
        return sqlite3.connect(
            f"{self._file.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,  # transactions begin where this module says so
            check_same_thread=False,
        )

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database."""
        with told(self.where), self._engine.connect() as connection:
            if self._file is not None:
                connection.exec_driver_sql("BEGIN")
            else:
                connection = connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that no other writer is beside of; kept if the block ends well, else undone."""
        with told(self.where), self._engine.connect() as connection:
            if self._file is not None:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, int(self._timeout * 1000))}")
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
            yield connection
            connection.commit()

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    def _prepare(self) -> None:
        """Make a new database, or bring an older one into the newest form; leave alone what is not ours."""
        shared = self._file is None
        if self._file is not None and not self._file.exists():
            self._make_file()
        with self.reading() as connection:
            found = format_of(connection, self.where, shared=shared)
        if found < FORMAT:
            with self.writing() as connection:
                found = format_of(connection, self.where, shared=shared)
                if found < FORMAT:
                    migrate(connection, found)
        if self._file is not None:
            self._write_ahead()

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
        until = time.monotonic() + self._timeout
        with told(self.where), self._engine.connect() as connection:
            while connection.exec_driver_sql("PRAGMA journal_mode").scalar() != "wal":
                try:
                    connection.exec_driver_sql("PRAGMA journal_mode = wal")
                    return
                except Exception as error:
                    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", 0) & 0xFF
                    if code == sqlite3.SQLITE_READONLY:
                        return
                    if code != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                        raise
                    time.sleep(ASLEEP)


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
