"""How long it takes until the first match: of many texts, of a saved set, of one that grew, and of a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from bench import measure, ours
from bench.peers import polars
from bench.record import Record
from bench.workloads import alerts, paper
from bench.workloads.workload import Workload
from eddyline.queryset import QuerySet

FIRST = 1_000


def from_text(workload: Workload) -> Record:
    """Seconds from SQL texts to the matches of a first batch; the peer reads the conditions by its own parser."""
    batch = workload.batch(FIRST)
    ours.counts(ours.build(alerts.workload(100)), batch)  # kernels are loaded once in a process
    found: list[np.ndarray] = []
    texts = workload.texts

    def mine() -> None:
        found.append(ours.counts(ours.build(workload), batch))

    def theirs() -> None:
        conditions = [text.partition(" WHERE ")[2] for text in texts.values()]
        frame = polars.frame_of(batch)
        select = [pl.sql_expr(c).alias(str(i)) for i, c in enumerate(conditions)]
        columns = frame.lazy().select(select).collect().iter_columns()
        found.append(np.array([column.sum() for column in columns], np.int64))

    seconds, peer = measure.once(mine), measure.once(theirs)
    equal = np.array_equal(*found)
    return Record(
        workload.name, workload.queries, FIRST, "start", seconds, "polars", peer, peer / seconds, equal
    )


def saved(workload: Workload, queryset: QuerySet) -> Record:
    """Seconds from a saved set to the matches of a first batch; the peer is what saving it takes."""
    batch = workload.batch(FIRST)
    wanted = ours.pair_numbers(queryset.match(batch))
    found: list[np.ndarray] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set"
        saving = measure.once(lambda: queryset.save(path))
        loading = measure.once(lambda: found.append(ours.pair_numbers(QuerySet.load(path).match(batch))))
    equal = np.array_equal(found[0], wanted)
    return Record(
        workload.name, workload.queries, FIRST, "start", loading, "saving", saving, saving / loading, equal
    )


def one_by_one(workload: Workload, base: Workload) -> Record:
    """Seconds to add queries to a compiled set by a call each, texts read; the peer adds them by one call."""
    batch = base.batch(FIRST)
    start = ours.build(base)
    start.match(batch)
    texts = {f"added {id}": text for id, text in workload.texts.items()}
    grown: list[QuerySet] = []

    def singly() -> None:
        queryset = start
        for id, text in texts.items():
            queryset = queryset.add({id: text})
        grown.append(queryset)

    seconds, peer = measure.once(singly), measure.once(lambda: grown.append(start.add(texts)))
    one, other = (ours.pair_numbers(queryset.match(batch)) for queryset in grown)
    equal = np.array_equal(one, other)
    return Record(
        workload.name, workload.queries, 0, "seconds", seconds, "one add", peer, peer / seconds, equal
    )


def processes() -> Iterator[Record]:
    """CPU seconds from the end of the imports to the first match of 200 queries, in two processes one after the other.

    The first finds no compiled kernels on the machine; to the second they come from the disk.
    """
    with tempfile.TemporaryDirectory() as folder:
        cold, warm, again = (_child(folder) for _ in range(3))
    (first, wanted), (second, count) = cold, min(warm, again)
    for own, peer, other in ((first, "second process", second), (second, "first process", first)):
        yield Record("any", 200, FIRST, "start", own, peer, other, other / own, count == wanted)


def _child(folder: str) -> tuple[float, int]:
    environment = {**os.environ, "XDG_CACHE_HOME": folder, "NUMBA_CACHE_DIR": folder}
    command = [sys.executable, "-m", "bench.starting"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    seconds, count = found.stdout.split()
    return float(seconds), int(count)


def _first_matches() -> None:
    found: list[int] = []
    workloads = [paper.workload(100), alerts.workload(100)]
    batches = [(workload, workload.batch(FIRST)) for workload in workloads]
    texts = [workload.texts for workload in workloads]  # made before the clock runs
    assert all(texts)
    seconds = measure.once(lambda: found.extend(len(ours.build(w).match(b)) for w, b in batches))
    print(seconds, sum(found))


if __name__ == "__main__":
    _first_matches()
