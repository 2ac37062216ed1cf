"""Databases that are not as they should be: a clear error, and nothing half-written."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pyarrow as pa
import pytest
from sqlalchemy import create_engine, insert, text, update

from eddyline.errors import RegistryError
from eddyline.model.catalog import Stream
from eddyline.registry import Put, Registry, Verdict, database
from eddyline.registry.migrations import FORMAT, MIGRATIONS
from eddyline.registry.rows import stream_row
from eddyline.registry.tables import IDENTITY, OPEN, QUERIES, SCHEMA_VERSION, STREAMS, VERSIONS

CHEAP = "SELECT * FROM quotes WHERE price < 10"
TRADES = Stream("trades", pa.schema([("at", pa.timestamp("us", "UTC"))]), "at")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "registry.db"


@pytest.fixture
def filled(path: Path) -> Path:
    with Registry.open(path) as registry:
        registry.change([Put(f"q{n}", CHEAP) for n in range(100)], streams=[TRADES], author="ann")
    return path


def puts(count: int) -> Iterator[Put]:
    return (
        Put(f"new{n}", CHEAP + f" AND volume > {n}", metadata={"filler": "x" * 200}) for n in range(count)
    )


def state(path: Path) -> tuple[int, int]:
    with Registry.open(path) as registry:
        return registry.version, len(registry.entries())


def test_locked(filled: Path) -> None:
    holder = sqlite3.connect(filled, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with Registry.open(filled, timeout=0.1) as registry:
        assert registry.version == 1 and len(registry.entries()) == 100
        with pytest.raises(RegistryError, match=r'registry\.db" is locked by another process') as caught:
            registry.change(puts(1))
    assert caught.value.hint == "wait until that one is done, and try again"
    holder.execute("ROLLBACK")
    holder.close()
    assert state(filled) == (1, 100)


def test_locked_postgres(postgres: object) -> None:
    import psycopg

    from eddyline.registry.database import LOCK
    from tests.postgres import Server

    assert isinstance(postgres, Server)
    place = postgres.place()
    with Registry.open(place, timeout=0.1) as registry, psycopg.connect(postgres.address) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        assert registry.version == 0
        with pytest.raises(RegistryError, match="is locked by another process"):
            registry.change(puts(1))


def test_waiting_for_a_lock_is_told(
    filled: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Soon, and while it goes on: the change is made when the other one is done."""
    monkeypatch.setattr(database, "NOTICE", 0.1)
    with (
        Registry.open(filled, timeout=20) as registry,
        sqlite3.connect(filled, isolation_level=None, check_same_thread=False) as holder,
    ):
        holder.execute("BEGIN IMMEDIATE")
        releasing = Releasing(caplog, lambda: holder.execute("ROLLBACK"))
        assert registry.change(puts(1)).version == 2
        releasing.join()
        holder.execute("PRAGMA journal_mode = delete")  # in which readers wait, too
        holder.execute("BEGIN EXCLUSIVE")
        releasing = Releasing(caplog, lambda: holder.execute("ROLLBACK"))
        assert registry.version == 2
        releasing.join()
    holder.close()
    assert (
        caplog.messages
        == [f'the registry "{filled}" is locked by another process; waiting for it up to 20 s'] * 2
    )


def test_waiting_for_a_lock_is_told_on_postgres(
    postgres: object, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import psycopg

    from tests.postgres import Server

    assert isinstance(postgres, Server)
    monkeypatch.setattr(database, "NOTICE", 0.1)
    with Registry.open(postgres.place(), timeout=20) as registry, psycopg.connect(postgres.address) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(%s)", [database.LOCK])
        releasing = Releasing(caplog, holder.rollback)
        assert registry.change(puts(1)).version == 1
        releasing.join()
    assert len(caplog.messages) == 1 and "is locked by another process; waiting" in caplog.messages[0]


class Releasing(threading.Thread):
    """Lets go of a lock as soon as one more message was logged."""

    def __init__(self, caplog: pytest.LogCaptureFixture, release: Callable[[], object]) -> None:
        super().__init__()
        self._caplog, self._before, self._release = caplog, len(caplog.messages), release
        self.start()

    def run(self) -> None:
        deadline = time.monotonic() + 10
        while len(self._caplog.messages) == self._before and time.monotonic() < deadline:
            time.sleep(0.01)
        self._release()


def test_full(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddyline.registry.writing.BATCH", 100)
    with Registry.open(filled) as registry:
        database = registry._database
        connect = database._connect

        def small(mode: str = "rw") -> sqlite3.Connection:
            connection = connect(mode)
            connection.execute("PRAGMA max_page_count = 60")
            return connection

        database._engine = create_engine("sqlite://", creator=small)
        with pytest.raises(RegistryError, match="cannot grow: the disk is full") as caught:
            registry.change(puts(5_000))
    assert "nothing was changed" in (caught.value.hint or "")
    assert state(filled) == (1, 100)


def test_file_size_limit(filled: Path) -> None:
    """A write that the machine refuses, as with a full disk, in a process of its own."""
    script = dedent(
        f"""
        import resource, sys
        from eddyline.errors import RegistryError
        from eddyline.registry import Put, Registry
        registry = Registry.open({str(filled)!r})
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        try:
            registry.change([Put(f"new{{n}}", {CHEAP!r}, metadata={{"filler": "x" * 500}}) for n in range(20_000)])
        except RegistryError as error:
            print(error)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert "could not be read or written by the machine" in done.stdout or "the disk is full" in done.stdout
    assert state(filled) == (1, 100)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 200_000


def test_read_only(filled: Path) -> None:
    """Reading works, changing says why it does not; root may do anything, so this runs as somebody else."""
    filled.chmod(0o444)
    script = dedent(
        f"""
        import sqlite3, sys
        from eddyline.errors import RegistryError
        from eddyline.registry import Drop, Registry, database
        if {os.geteuid() == 0}:  # root writes what is read-only: let SQLite itself refuse
            connect = database.Database._connect
            database.Database._connect = lambda self, mode="rw": connect(self, "ro")
        registry = Registry.open({str(filled)!r})
        print(registry.version, len(registry.entries()))
        try:
            registry.change([Drop("q1")])
        except RegistryError as error:
            print(error)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.startswith("1 100\n") and 'registry.db" is read-only' in done.stdout
    filled.chmod(0o644)
    assert state(filled) == (1, 100)


def read_as_somebody_else(*files: Path) -> list[str]:
    """What a process prints that may do what permissions say, also if it is root's: all that readers ask for, and a change."""
    script = dedent(
        """
        import sys
        from eddyline.errors import RegistryError
        from eddyline.registry import Drop, Registry
        for file in sys.argv[1:]:
            try:
                with Registry.open(file) as registry:
                    print(registry.version, len(registry.entries()), len(registry.history("q1")), end=" ")
                    print(registry.counters(), registry.budgets(), registry.diff(0, 1).new, end=" ")
                    print([(stream.name, stream.event_time) for stream in registry.streams()], end=" ")
                    print(registry.join_window(), len(registry.versions()))
                    registry.change([Drop("q1")])
            except RegistryError as error:
                print(error, end="\\0")
        """
    )
    command = [sys.executable, "-c", script, *map(str, files)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, preexec_fn=bound_by_permissions
    )
    assert done.stderr == ""
    return done.stdout.split("\0")[:-1]


def bound_by_permissions() -> None:
    """Take from root the right to read and write everything."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            assert libc.prctl(24, capability, 0, 0, 0) == 0, "PR_CAPBSET_DROP"


@contextmanager
def closed_to_writers(*files: Path) -> Iterator[None]:
    for file in files:
        file.chmod(0o444)
        file.parent.chmod(0o555)
    try:
        yield
    finally:
        for file in files:
            file.parent.chmod(0o755)
            file.chmod(0o644)


def test_file_and_folder_read_only(filled: Path, tmp_path: Path) -> None:
    """In every form in which such a file may be: left by us, by others, by an older version of us, by one that was killed."""
    files = [tmp_path / name / "registry.db" for name in ("ours", "theirs", "older", "killed")]
    for file in files:
        file.parent.mkdir()
        shutil.copy(filled, file)
    theirs, older, killed = files[1:]
    with closing(sqlite3.connect(theirs)) as connection:
        connection.execute("PRAGMA journal_mode = delete")
    with Registry.open(older) as registry, registry._database.writing() as editing:
        editing.execute(text("DROP TABLE eddyline_identity"))
        for length in ("lateness", "ahead", "idle"):
            editing.execute(text(f"ALTER TABLE eddyline_streams DROP COLUMN {length}"))
        editing.execute(text("ALTER TABLE eddyline_versions DROP COLUMN join_window"))
        editing.execute(text("DROP INDEX eddyline_queries_digest"))
        for given in ("digest", "same_as"):
            editing.execute(text(f"ALTER TABLE eddyline_queries DROP COLUMN {given}"))
        editing.execute(update(SCHEMA_VERSION).values(format=3))
    with Registry.open(filled) as registry, closing(sqlite3.connect(filled)) as connection:
        # as long as it is open, the log is not put into the file
        connection.execute("SELECT 1 FROM sqlite_master")
        registry.change(puts(1))
        shutil.copy(filled, killed)
        shutil.copy(f"{filled}-wal", f"{killed}-wal")
    with closed_to_writers(*files):
        *read, refused = read_as_somebody_else(*files)
    for said in read:
        assert (
            said.startswith("1 100 1 {} [] 1 [('trades', 'at')] None 1\n")
            and 'registry.db" is read-only' in said
        )
    assert "was not closed, and cannot be read without the right to write it" in refused
    assert state(theirs) == state(older) == (1, 100) and state(killed) == (2, 101)


def test_whoever_only_reads_leaves_nothing_behind(filled: Path) -> None:
    """Where the folder may be written and the file may not, SQLite would put a log there that its owner cannot write."""
    filled.chmod(0o444)
    (said,) = read_as_somebody_else(filled)
    assert (
        said.startswith("1 100 1 {} [] 1 [('trades', 'at')] None 1\n") and 'registry.db" is read-only' in said
    )
    assert [file.name for file in filled.parent.glob(f"{filled.name}-*")] == []
    filled.chmod(0o644)
    assert state(filled) == (1, 100)


def test_a_file_that_others_change_while_it_is_read_without_a_lock(filled: Path) -> None:
    with Registry.open(filled) as registry:
        look = registry._database._reading_immutable(filled)
        look.__enter__()
        registry.change(puts(1))
        with pytest.raises(RegistryError, match="changed while it was read"):
            look.__exit__(None, None, None)


def test_a_registry_that_was_replaced(place: str, tmp_path: Path) -> None:
    """By an unrelated one with a higher version, under those who have it open."""
    with Registry.open(place) as registry, Registry.open(tmp_path / "other.db") as other:
        registry.change([Put("a", CHEAP)])
        assert registry.identity is not None and registry.identity != other.identity
        with Registry.open(place) as same:
            assert same.identity == registry.identity
        assert other.identity is not None
        with registry._database.writing() as connection:
            connection.execute(update(IDENTITY).values(identity=other.identity))
        for use in (lambda: registry.version, lambda: registry.change([Put("b", CHEAP)]), registry.counters):
            with pytest.raises(RegistryError, match="was replaced by another one"):
                use()
    with Registry.open(place) as registry:
        assert [entry.id for entry in registry.entries()] == ["a"], "the change was not made"


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="cannot be opened"):
        Registry.open(tmp_path / "no" / "registry.db")
    with pytest.raises(RegistryError, match="cannot be opened"):
        Registry.open(tmp_path)


@pytest.mark.parametrize("content", [b"-- name: a\nSELECT 1\n" * 100, b"PAR1" + b"x" * 4000])
def test_file_of_another_kind(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(RegistryError, match="is not an SQLite database"):
        Registry.open(path)
    assert path.read_bytes() == content


def test_database_of_something_else(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE customers (name TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(RegistryError, match='database of something else: it has the table "customers"'):
        Registry.open(path)
    assert path.read_bytes() == before


def test_empty_file_becomes_a_registry(path: Path) -> None:
    path.touch()
    assert state(path) == (0, 0)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_damaged_file(filled: Path, share: float) -> None:
    data = bytearray(filled.read_bytes())
    start = max(4096, int(len(data) * share))
    data[start : start + 8192] = b"\xa5" * len(data[start : start + 8192])
    filled.write_bytes(data)
    problem = None
    try:
        with Registry.open(filled) as registry:
            registry.versions()
            assert len(registry.entries()) == 100
            registry.history("q50")
    except RegistryError as error:
        problem = str(error)
    assert problem is None or "damaged" in problem
    assert filled.read_bytes() == bytes(data)


def test_damaged_everywhere(filled: Path) -> None:
    data = filled.read_bytes()
    filled.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    with pytest.raises(RegistryError, match="is damaged"):
        state(filled)


def test_truncated(filled: Path) -> None:
    filled.write_bytes(filled.read_bytes()[:10_000])
    with pytest.raises(RegistryError, match="is damaged"):
        state(filled)


def test_unreadable_row(place: str) -> None:
    with Registry.open(place) as registry:
        registry.change([Put("a", CHEAP)])
        with registry._database.writing() as connection:
            connection.execute(update(QUERIES).values(metadata="{"))
        with pytest.raises(RegistryError, match='damaged: query "a" cannot be read'):
            registry.entries()


def test_unreadable_join_window(place: str) -> None:
    with Registry.open(place) as registry:
        registry.set_join_window("5 minutes")
        with registry._database.writing() as connection:
            connection.execute(update(VERSIONS).values(join_window="soon"))
        with pytest.raises(
            RegistryError, match="the registry is damaged: join_window 'soon' is no length of time"
        ):
            registry.join_window()


def test_newer_format(place: str) -> None:
    with Registry.open(place) as registry, registry._database.writing() as connection:
        connection.execute(update(SCHEMA_VERSION).values(format=FORMAT + 7))
    with pytest.raises(
        RegistryError, match=f"has format {FORMAT + 7}, and this version of eddyline knows"
    ) as caught:
        Registry.open(place)
    assert "newer" in (caught.value.hint or "")


@pytest.mark.parametrize("found", range(1, FORMAT))
def test_older_formats_are_brought_forward(place: str, found: int) -> None:
    with Registry.open(place) as registry, registry._database.writing() as connection:
        for table in (
            "identity",
            "counted",
            "budgets",
            "counters",
            "streams",
            "queries",
            "versions",
            "schema_version",
        ):
            connection.execute(text(f"DROP TABLE eddyline_{table}"))
        for step in MIGRATIONS[:found]:
            step(connection)
        connection.execute(insert(SCHEMA_VERSION).values(format=found))
        version = {
            "at": 1,
            "author": "ann",
            "reason": "",
            "added": 1,
            "changed": 0,
            "removed": 0,
            "next_number": 1,
        }
        connection.execute(insert(VERSIONS).values(version=1, **version))
        row = {"id": "old", "sql": CHEAP, "revision": 1, "number": 0, "state": "enabled", "tags": "[]"}
        connection.execute(
            insert(QUERIES).values(from_version=1, to_version=OPEN, metadata="{}", spark_only=False, **row)
        )
        names = ("key", "from_version", "to_version", "name", "schema", "event_time")
        old = {name: stream_row(TRADES, 1)[name] for name in names}
        connection.execute(insert(STREAMS).values(old))
    with Registry.open(place) as registry:
        assert registry.streams() == [TRADES]
        late = replace(TRADES, lateness="10 seconds")
        assert registry.declare(late, check=lambda _: Verdict()).version == 2
        assert registry.streams() == [late] and registry.streams(1) == [TRADES]
        assert [entry.id for entry in registry.entries()] == ["old"]
        assert registry.add_counters({"old": {"matches": 1}}, once=("here", 0))
        assert not registry.add_counters({"old": {"matches": 1}}, once=("here", 0))
        assert registry.change([Put("b", CHEAP)]).version == 3 and registry.budgets() == []
        assert registry.join_window() is None and registry.join_window(1) is None
        assert registry.set_join_window("5 minutes").version == 4
        assert registry.join_window() == "5 minutes" and registry.join_window(3) is None
    with Registry.open(place) as registry, registry._database.reading() as connection:
        assert connection.execute(text("SELECT format FROM eddyline_schema_version")).all() == [(FORMAT,)]


def test_addresses() -> None:
    for bad in ("mysql://host/db", "sqlite:///:memory:", "sqlite://", "postgresql://host:no/db"):
        with pytest.raises(RegistryError):
            Registry.open(bad)


def test_unreachable_server_and_no_password_in_messages(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="cannot be reached") as caught:
        Registry.open(f"postgresql://ann:secret@/db?host={tmp_path}")
    assert "secret" not in str(caught.value)
    with pytest.raises(RegistryError, match=r"password=\*\*\*") as caught:
        Registry.open(f"postgresql:///db?host={tmp_path}&user=ann&password=secret")
    assert "secret" not in str(caught.value)


def test_a_path_that_is_not_to_be_shown(path: Path) -> None:
    path.write_bytes(b"not a registry" * 100)
    with pytest.raises(RegistryError, match=r'the registry "\*\*\*"') as caught:
        Registry.open(path, shown="***")
    assert path.name not in str(caught.value)


def test_sqlite_address(path: Path) -> None:
    with Registry.open(f"sqlite:///{path}") as registry:
        registry.change([Put("a", CHEAP)])
    assert state(path) == (1, 1)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_deleted_file_is_not_made_again(filled: Path) -> None:
    with Registry.open(filled) as registry:
        filled.unlink()
        with pytest.raises(RegistryError, match="cannot be opened"):
            registry.change(puts(1))
    assert not filled.exists()
