"""`engine`: queries come and go while tuples flow; how long a push takes meanwhile, by the wall clock.

10,000 `alerts` stand. One thread pushes batches of 10,000 tuples, a little faster than a million tuples a second, which
leaves it idle between pushes if it is quick enough; another one adds or removes a query a little more than 200 times a
second. The engine merges in a process of its own.

Then five million changes are made at once, and after a second of rest pushes are compared with those of an engine that has
had nothing but the queries that stand in the end.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bench.measure import Setting
from bench.record import Record
from bench.workloads import alerts
from bench.workloads.workload import Workload
from eddyline.engine import Engine
from eddyline.queryset import QuerySet

ROWS = 10_000
PUSHES = 2_500
TUPLES = 1_040_000  # a second
CHANGES = 208  # a second
WEAR = 5_000_000  # changes
REST = 1.0  # second
TOGETHER = 2_000  # queries that one of these changes adds, and as many that it removes


def run(setting: Setting) -> Iterator[Record]:
    """Tuples and changes a second, and the 99th percentile of a push beside its median."""
    queries = setting.sizes(10_000)[0]
    workload = alerts.workload(queries)
    engine = Engine(streams=[workload.stream], merging="process")
    engine.add(workload.texts)
    whole = workload.batch(20 * ROWS)
    batches = [whole.slice(i * ROWS, ROWS) for i in range(20)]
    _warm_up(engine, workload, batches)
    changing = _Changing(engine, workload)
    seconds, took = _flow(engine, workload, batches, changing, PUSHES // 10 if setting.quick else PUSHES)
    equal = _agree(engine, workload, batches[0])
    engine.close()
    tuples, changes = len(took) * ROWS / seconds, changing.made / seconds
    median, tail = (float(np.percentile(took, share)) for share in (50, 99))
    yield Record.rates("engine", queries, ROWS, "tuples", tuples, "asked for", TUPLES, equal)
    yield Record.rates("engine", queries, ROWS, "changes", changes, "asked for", CHANGES, equal)
    yield Record("engine", queries, ROWS, "p99", tail, "median", median, median / tail, equal)
    yield _worn(workload, batches, WEAR // 100 if setting.quick else WEAR)


def _worn(workload: Workload, batches: list[pa.RecordBatch], changes: int) -> Record:
    """Tuples a second of an engine that has seen many changes, beside one that has seen none."""
    worn, fresh = (Engine(streams=[workload.stream]) for _ in range(2))
    worn.add(workload.texts)
    there, texts = deque(workload.texts), list(alerts.workload(100_000, seed=11).texts.values())
    for first in range(0, changes // 2, TOGETHER):
        added = {f"added {n}": texts[n % len(texts)] for n in range(first, first + TOGETHER)}
        there.extend(added)
        worn.change(add=added, remove=[there.popleft() for _ in added])
    time.sleep(REST)
    fresh.add(worn.queries())
    fresh.merge()

    def pushed(engine: Engine) -> float:
        start = time.process_time()
        for batch in batches:
            engine.push(workload.stream.name, batch)
        return time.process_time() - start

    for engine in (worn, fresh):
        pushed(engine)
    times = [(pushed(worn), pushed(fresh)) for _ in range(9)]
    ours, theirs = (len(batches) * ROWS / float(np.median(side)) for side in zip(*times, strict=True))
    equal = all(_agree(engine, workload, batches[0]) for engine in (worn, fresh))
    for engine in (worn, fresh):
        engine.close()
    queries = len(workload.texts)
    return Record.rates("engine", queries, ROWS, "worn", ours, "fresh engine", theirs, equal)


def _warm_up(engine: Engine, workload: Workload, batches: list[pa.RecordBatch]) -> None:
    """Have all kernels loaded: pushes to pieces of all sizes."""
    more = list(alerts.workload(1_000, seed=5).texts.items())
    for first, last in ((0, 700), (700, 900), (900, 910)):
        engine.add({f"warm {number}": text for number, text in more[first:last]})
        for batch in batches:
            engine.push(workload.stream.name, batch)
    engine.remove([f"warm {number}" for number, _ in more[:910]])
    engine.merge()


class _Changing(threading.Thread):
    """Adds a query and removes the oldest, in turn, at a steady pace."""

    def __init__(self, engine: Engine, workload: Workload) -> None:
        super().__init__(daemon=True)
        self._engine = engine
        self._there = deque(workload.texts)
        self._fresh = alerts.workload(20_000, seed=11).texts
        self._stopped = threading.Event()
        self.made = 0

    def run(self) -> None:
        """Change until stopped."""
        start = time.perf_counter()
        fresh = iter(self._fresh.items())
        while not self._stopped.wait(max(0.0, start + self.made / CHANGES - time.perf_counter())):
            if self.made % 2:
                self._engine.remove(self._there.popleft())
            else:
                number, text = next(fresh)
                self._there.append(f"fresh {number}")
                self._engine.add(self._there[-1], text)
            self.made += 1

    def stop(self) -> None:
        """Make no more changes."""
        self._stopped.set()
        self.join()


def _flow(
    engine: Engine, workload: Workload, batches: list[pa.RecordBatch], changing: _Changing, pushes: int
) -> tuple[float, list[float]]:
    """Seconds of everything, and of each push."""
    took = []
    changing.start()
    start = time.perf_counter()
    for number in range(pushes):
        due = start + number * ROWS / TUPLES
        while (early := due - time.perf_counter()) > 0:
            time.sleep(early)
        before = time.perf_counter()
        engine.push(workload.stream.name, batches[number % len(batches)])
        took.append(time.perf_counter() - before)
    seconds = time.perf_counter() - start
    changing.stop()
    return seconds, took


def _agree(engine: Engine, workload: Workload, batch: pa.RecordBatch) -> bool:
    """Whether the engine delivers what a set that is built anew matches, and its accounts agree."""
    engine.ledger.check()
    wanted = QuerySet.build(engine.queries(), streams=[workload.stream]).match(batch).counts()
    found = engine.push(workload.stream.name, batch).ledger.queries
    return dict(found) == {id: count for id, count in wanted.items() if count}


if __name__ == "__main__":
    for record in run(Setting("--quick" in sys.argv)):
        print(record)
