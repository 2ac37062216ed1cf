"""What a database says when it fails, as a `RegistryError` that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from eddyline.errors import NameRefusedError, RegistryError

LOCKED: Final = ("is locked by another process", "wait until that one is done, and try again")
FULL: Final = ("cannot grow: the disk is full", "make room and try again; nothing was changed")
READ_ONLY: Final = ("is read-only", "look at the permissions of the file and of its folder")
DAMAGED: Final = ("is damaged", "restore it from a copy; sqlite3 FILE .recover may save what is readable")
FOREIGN: Final = ("is not an SQLite database", "name another file, or one that does not exist yet")
CLOSED: Final = ("cannot be opened", "look whether the folder exists, and at its permissions")
WRITE: Final = (
    "could not be read or written by the machine",
    "look at the disk, its room and limits; nothing was changed",
)
UNREACHABLE: Final = ("cannot be reached", "look at host, port, user and password of the address")
DENIED: Final = ("is closed to this user", "the user needs the right to make and change tables")

_SQLITE: Final = {
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_PROTOCOL: LOCKED,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: FOREIGN,
    sqlite3.SQLITE_CANTOPEN: CLOSED,
    sqlite3.SQLITE_PERM: CLOSED,
    sqlite3.SQLITE_IOERR: WRITE,
}

_POSTGRES: Final = {  # SQLSTATE, or its class
    "55P03": LOCKED,
    "40P01": LOCKED,
    "40001": LOCKED,
    "53100": FULL,
    "25006": READ_ONLY,
    "42501": DENIED,
    "3D000": UNREACHABLE,
    "08": UNREACHABLE,
    "28": UNREACHABLE,
    "53": UNREACHABLE,
    "57": UNREACHABLE,
    "58": WRITE,
    "XX": DAMAGED,
}


@contextmanager
def told(where: str) -> Iterator[None]:
    """Turn what the database raises into a `RegistryError` that names it."""
    try:
        yield
    except DBAPIError as error:
        raise failure(where, error.orig) from error
    except SQLAlchemyError as error:
        raise RegistryError(f'the registry "{where}" cannot be used: {_first_line(error)}') from error
    except sqlite3.Error as error:
        raise failure(where, error) from error
    except UnicodeEncodeError as error:  # half a character: nothing of that name can be stored
        raise NameRefusedError(f'the registry "{where}" cannot be asked for {error.object!r}') from None


def failure(where: str, error: BaseException | None) -> RegistryError:
    """The message for an error of sqlite3 or psycopg."""
    fact, hint = meaning(error)
    said = _first_line(error)
    return RegistryError(f'the registry "{where}" {fact}' + (f" ({said})" if said else ""), hint=hint)


def meaning(error: BaseException | None) -> tuple[str, str | None]:
    """What an error of sqlite3 or psycopg comes to: one of the pairs of fact and hint above, if it is known."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return _SQLITE.get(code & 0xFF, ("cannot be used", None))
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return _POSTGRES.get(state) or _POSTGRES.get(state[:2]) or ("cannot be used", None)
    if type(error).__name__ == "OperationalError":  # psycopg, before there was a connection
        return UNREACHABLE
    return "cannot be used", None


def _first_line(error: BaseException | None) -> str:
    return str(error).split("\n")[0].strip() if error is not None else ""
