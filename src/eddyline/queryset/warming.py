"""Compiles the kernels before anyone has to wait for them: small sets of queries that use every executor.

Compiled code is kept on the disk for all processes of a user on this machine, see `eddyline.kernels`. One process compiles at
a time: others that want the same wait for it, since together they would all take longer.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pyarrow as pa

from eddyline.kernels import cache_folder
from eddyline.model.catalog import Stream
from eddyline.queryset.queryset import QuerySet

LONGEST_WAIT: Final = 60.0  # seconds; then every process compiles for itself
_LOOK: Final = 0.05
_ROWS: Final = 600  # more than a block of the sliced executor
_SCHEMA: Final = pa.schema([("text", pa.string()), ("number", pa.int64()), ("fraction", pa.float64())])
_DONE: Final = "warm"


def is_warm() -> bool:
    """Whether some process has been through `warm` with these kernels."""
    return (cache_folder() / _DONE).exists()


def warm(*, thorough: bool = False) -> None:
    """Have the kernels in memory that most sets of queries need, and on the disk for other processes.

    `thorough` also takes those that only some need: counts, single rows, regular expressions, arithmetic.
    """
    with _sole_writer(cache_folder()) as folder:
        for texts in (_keyed_queries(), _sliced_queries()):
            _lists(texts, _ROWS)
        if thorough:
            for texts in (_keyed_queries(), _sliced_queries(), _rare_queries()):
                for rows in (_ROWS, 3):
                    _match(texts, rows)
        _note(folder)


def _lists(texts: dict[str, str], rows: int) -> None:
    found = _set_of(texts).match(_batch("t1", 1, rows))
    found.query_lists()
    found.lists()


def _match(texts: dict[str, str], rows: int) -> None:
    """Every question that a set is asked, of rows without NULL and with it."""
    queries = _set_of(texts)
    for batch in (_batch("t1", 1, rows), _batch(None, None, rows)):
        queries.match(batch).query_lists()
        queries.match(batch).pair_arrays()
        queries.count(batch)


def _set_of(texts: dict[str, str]) -> QuerySet:
    return QuerySet.build(texts, streams=[Stream("rows", _SCHEMA)])


def _batch(text: str | None, number: int | None, rows: int) -> pa.RecordBatch:
    values = {"text": [text] * rows, "number": [number] * rows, "fraction": [0.5] * rows}
    return pa.record_batch(values, schema=_SCHEMA)


def _keyed_queries() -> dict[str, str]:
    """Queries that are found by key; a set of their own, since beside others so few would be evaluated together."""
    return _numbered([f"text = 't{i % 150}' AND fraction > 0.{i} AND number >= {i}" for i in range(1, 600)])


def _sliced_queries() -> dict[str, str]:
    """Queries that are evaluated together, and patterns."""
    sliced = [f"number > {i} AND fraction < {i} OR number = {-i}" for i in range(40)]
    return _numbered([*sliced, *(f"text LIKE '%abcd{i}%'" for i in range(20))])


def _rare_queries() -> dict[str, str]:
    """Queries whose kernels few sets need."""
    regexes = [f"text RLIKE '^t[0-9]+x{i}$'" for i in range(5)]
    sums = [f"number * 2 + fraction > {i}" for i in range(20)]
    equal = [f"number = {i} AND fraction = {i}.5 AND text <> 'x{i}'" for i in range(300)]
    several = [f"number IN ({i}, {i + 5}, {i + 9}) OR fraction BETWEEN {i} AND {i + 1}" for i in range(40)]
    return _numbered([*regexes, *sums, *equal, *several])


def _numbered(conditions: list[str]) -> dict[str, str]:
    return {str(i): f"SELECT * FROM rows WHERE {where}" for i, where in enumerate(conditions)}


@contextmanager
def _sole_writer(folder: Path) -> Iterator[Path]:
    """Hold the lock of a folder; where it cannot be locked, or its holder takes too long, go on without."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "warming.lock").open("wb")
    except OSError:
        yield folder
        return
    with file:  # closing it gives the lock back, as does the end of the process
        deadline = time.monotonic() + LONGEST_WAIT
        while not _locked(file.fileno()) and time.monotonic() < deadline:
            time.sleep(_LOOK)
        yield folder


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # no locks on this file system: everybody compiles
    return True


def _note(folder: Path) -> None:
    with suppress(OSError):  # a cache that can only be read
        (folder / _DONE).touch()


if __name__ == "__main__":
    warm()
