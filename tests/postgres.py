"""A PostgreSQL server for tests, from the wheel `pgserver`: started once a process, reached by a socket in its folder.

Only the wheel's binaries are used. PostgreSQL does not run as root, so there the server runs as `nobody`, which the
wheel's own Python code would rather do by adding a user to the machine.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.missing import missing

STOPS_WITHIN = 20  # seconds
STARTS_WITHIN = 30  # seconds
SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=50", "shared_buffers=32MB")


class Server:
    """A running server; every registry gets a schema of its own, which is as good as a database and quicker."""

    def __init__(self, sockets: Path) -> None:
        self.address = f"postgresql://postgres@/postgres?host={sockets}"
        self._numbers = count(1)

    def place(self) -> str:
        """The address of an empty registry."""
        import psycopg

        name = f"registry_{next(self._numbers)}"
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{self.address}&options=-csearch_path%3D{name}"


@contextmanager
def server() -> Iterator[Server]:
    """Start a server, and stop it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="eddyline-postgres-"))
    try:
        folder.chmod(0o755)
        binaries = _binaries(folder)
        data, sockets = folder / "data", folder / "sockets"
        for made in (data, sockets):
            made.mkdir(mode=0o700 if made is data else 0o755)
            if os.geteuid() == 0:
                shutil.chown(made, "nobody")
        _run(
            binaries / "initdb",
            "-D",
            data,
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "utf8",
            "-N",
            "--no-locale",
        )
        options = [part for setting in SETTINGS for part in ("-c", setting)]
        with (folder / "log").open("wb") as log:
            running = subprocess.Popen(
                [binaries / "postgres", "-D", data, "-k", sockets, "-h", "", *options],
                stdout=log,
                stderr=subprocess.STDOUT,
                **_as_nobody(),
            )
            try:
                _wait(running, binaries, sockets, folder / "log")
                yield Server(sockets)
            finally:
                running.terminate()
                try:
                    running.wait(STOPS_WITHIN)
                except subprocess.TimeoutExpired:
                    running.kill()
                    running.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries(folder: Path) -> Path:
    """Where the binaries are; a copy of them where `nobody` may not go."""
    found = importlib.util.find_spec("pgserver")
    if found is None or found.origin is None or importlib.util.find_spec("psycopg") is None:
        missing("PostgreSQL is not there: the packages pgserver and psycopg bring it, where there are wheels")
    assert found is not None and found.origin is not None
    package = Path(found.origin).parent
    binaries = package / "pginstall" / "bin"
    try:
        _run(binaries / "postgres", "--version")
        return binaries
    except (PermissionError, subprocess.CalledProcessError):
        for part in (package, package.with_name("pgserver.libs")):
            if part.exists():
                shutil.copytree(part, folder / part.name)
        return folder / package.name / "pginstall" / "bin"


def _as_nobody() -> dict[str, Any]:
    """What a process needs so as not to be root, and to speak English."""
    whose: dict[str, Any] = (
        {"user": "nobody", "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    )
    return {**whose, "cwd": "/", "env": {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}}


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=60, **_as_nobody())


def _wait(running: subprocess.Popen[bytes], binaries: Path, sockets: Path, log: Path) -> None:
    until = time.monotonic() + STARTS_WITHIN
    while True:
        try:
            return _run(binaries / "pg_isready", "-h", sockets)
        except subprocess.CalledProcessError:
            if running.poll() is not None or time.monotonic() > until:
                missing(f"PostgreSQL does not start: {log.read_text(errors='replace')[-1000:]}")
            time.sleep(0.05)
