"""kill -9 in the middle of a change: the old version or the new one, never between; on SQLite and on PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from uuid import uuid4

import pytest

from eddyline.registry import Drop, Put, Registry
from tests.conftest import some

OLD, NEW = 1_000, 100_000
IMPORT = dedent(
    """
    import sys
    from eddyline.registry import Put, Registry
    registry = Registry.open(sys.argv[1])
    edits = [Put(f"q{n}", f"SELECT * FROM quotes WHERE price < {n} AND volume > 2") for n in range(int(sys.argv[2]))]
    print("ready", flush=True)
    sys.stdin.readline()
    print(registry.change(edits, author="import").version, flush=True)
    """
)


def start(place: str) -> subprocess.Popen[str]:
    """A process that is about to import; it begins when it gets a line."""
    running = subprocess.Popen(
        [sys.executable, "-c", IMPORT, place, str(NEW)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None and running.stdout.readline() == "ready\n"
    return running


def go(running: subprocess.Popen[str]) -> None:
    assert running.stdin is not None
    running.stdin.write("\n")
    running.stdin.flush()


def finish(running: subprocess.Popen[str]) -> None:
    running.kill()
    running.communicate()


def check(place: str) -> bool:
    """Whether the import is there, after looking that it is there wholly or not at all."""
    with Registry.open(place) as registry:
        entries, versions = registry.entries(), registry.versions()
        assert len(registry.entries(1)) == OLD
        if registry.version == 1:
            assert len(versions) == 1
            assert len(entries) == OLD and {entry.revision for entry in entries} == {1}
            return False
        assert registry.version == 2 and (versions[1].added, versions[1].changed) == (NEW - OLD, OLD)
        assert len(entries) == NEW and len({entry.number for entry in entries}) == NEW
        return True


def fill(place: str) -> None:
    with Registry.open(place) as registry:
        registry.change([Put(f"q{n}", "SELECT * FROM quotes") for n in range(OLD)])


@pytest.fixture
def places(request: pytest.FixtureRequest, place: str, tmp_path: Path) -> Callable[[], str]:
    """More registries of the same kind, each with the old version in it."""

    def another() -> str:
        if place.startswith("postgresql:"):
            made: str = request.getfixturevalue("postgres").place()
        else:
            made = str(tmp_path / f"{uuid4()}.db")
        fill(made)
        return made

    return another


@pytest.mark.slow
@pytest.mark.parametrize("place", some(["sqlite", "postgresql"], quick=["sqlite"]), indirect=True)
@pytest.mark.parametrize("shares", some([(0.5,), (0.1, 0.4, 0.7, 0.9, 0.95)], quick=[(0.5,)]))
def test_killed_in_the_middle_of_an_import(places: Callable[[], str], shares: tuple[float, ...]) -> None:
    whole = places()
    running = start(whole)
    began = time.monotonic()
    go(running)
    assert running.stdout is not None and running.stdout.readline() == "2\n"
    seconds = time.monotonic() - began
    finish(running)
    assert check(whole)
    for share in shares:
        torn = places()
        running = start(torn)
        go(running)
        time.sleep(seconds * share)
        finish(running)
        if not check(torn):  # the next writer finds nothing in its way
            with Registry.open(torn) as registry:
                assert registry.change([Drop("q1")]).version == 2
