"""What is compared: for each line, how to get ready, and the work of one turn, by public names only.

Both trees run the same code of this folder, so a line measures what users of either would see. A turn returns what it
found, as a number that must be the same in both trees, or, where the line measures something else than its own time
(the slowest of many pushes, bytes), a `Measured` value.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

import eddyline as ed
from bench.workloads import alerts, boolean, equality, paper, patterns, selective, sigma
from bench.workloads.workload import Workload

if TYPE_CHECKING:
    from bench.workloads.joins import JoinWorkload

PUSHED: Final = 10_000  # rows of a push


@dataclass(frozen=True)
class Measured:
    """What a turn measured itself; less is better, as with seconds."""

    value: float
    found: int = 0


Turn = Callable[[], "int | Measured"]


def _match(workload: Workload, rows: int) -> Turn:
    queries, batch = _built(workload), workload.batch(rows)
    return lambda: len(queries.match(batch))


def _count(workload: Workload, rows: int) -> Turn:
    queries, batch = _built(workload), workload.batch(rows)
    return lambda: sum(queries.count(batch).values())


def _pairs(workload: Workload, rows: int) -> Turn:
    queries, batch = _built(workload), workload.batch(rows)
    return lambda: len(queries.match(batch).pairs())


def _single(workload: Workload, rows: int) -> Turn:
    queries, batch = _built(workload), workload.batch(rows)
    singles = [batch.slice(row, 1) for row in range(rows)]
    return lambda: sum(len(queries.match(single)) for single in singles)


def _drifting(queries: int, rows: int) -> Turn:
    """Two streams take turns; the set was built for the first."""
    loads = [selective.workload(queries, phase=phase) for phase in (0, 1)]
    standing, batches = _built(loads[0]), [load.batch(rows) for load in loads]
    return lambda: sum(len(standing.match(batch)) for batch in batches for _ in range(4))


def _sigma(rows: int) -> Turn:
    folder = sigma.folder()
    if folder is None:
        raise LookupError("its data is not here (set EDDYLINE_TEST_DATA)")
    load = sigma.load(folder)
    queries = ed.QuerySet.build(load.texts, streams=[load.stream])
    events = load.events.slice(0, rows)
    return lambda: len(queries.match(events))


def _build(workload: Workload) -> Turn:
    texts, batch = workload.texts, workload.batch(1_000)
    return lambda: len(ed.QuerySet.build(texts, streams=[workload.stream]).match(batch))


def _save(workload: Workload) -> Turn:
    queries, batch = _built(workload), workload.batch(1_000)

    def turn() -> int:
        with tempfile.TemporaryDirectory() as folder:
            queries.save(Path(folder) / "set")
            return len(ed.QuerySet.load(Path(folder) / "set").match(batch))

    return turn


def _add(workload: Workload, added: int) -> Turn:
    """Queries added to a compiled set by a call each, with one match in the end."""
    start, batch = _built(workload), workload.batch(1_000)
    start.match(batch)
    texts = alerts.workload(added, seed=11).texts

    def turn() -> int:
        queries = start
        for id, text in texts.items():
            queries = queries.add({f"added {id}": text})
        return len(queries.match(batch))

    return turn


def _engine(workload: Workload) -> ed.Engine:
    engine = ed.Engine(streams=[workload.stream])
    engine.add(workload.texts)
    engine.merge()
    return engine


def _push(workload: Workload, *, changes: int = 0) -> Turn:
    """Ten pushes without a pause, with so many queries replaced between two of them."""
    engine, name = _engine(workload), workload.stream.name
    whole = workload.batch(10 * PUSHED)
    batches = [whole.slice(first, PUSHED) for first in range(0, whole.num_rows, PUSHED)]
    texts = list(workload.texts.items())
    turns = iter(range(1 << 60))

    def turn() -> int:
        delivered = 0
        for batch in batches:
            for _ in range(changes):
                id, text = texts[next(turns) % len(texts)]
                engine.replace(id, text)
            delivered += sum(table.num_rows for table in engine.push(name, batch))
        return delivered

    return turn


def _p99(workload: Workload, merging: str) -> Turn:
    """The 99th percentile of pushes, each begun on time, while another thread changes queries at a steady pace."""
    engine = ed.Engine(streams=[workload.stream], merging=merging)  # type: ignore[arg-type]
    engine.add(workload.texts)
    whole = workload.batch(20 * PUSHED)
    batches = [whole.slice(first, PUSHED) for first in range(0, whole.num_rows, PUSHED)]
    texts = list(workload.texts.items())

    def change(stopped: threading.Event) -> None:
        start, made = time.perf_counter(), 0
        while not stopped.wait(max(0.0, start + made / 200 - time.perf_counter())):
            engine.replace(*texts[made % len(texts)])
            made += 1

    def turn() -> Measured:
        took, stopped = [], threading.Event()
        changing = threading.Thread(target=change, args=(stopped,), daemon=True)
        changing.start()
        start = time.perf_counter()
        for number in range(300):
            time.sleep(max(0.0, start + number * 0.01 - time.perf_counter()))
            before = time.perf_counter()
            engine.push(workload.stream.name, batches[number % len(batches)])
            took.append(time.perf_counter() - before)
        stopped.set()
        changing.join()
        return Measured(float(np.percentile(took, 99)))

    return turn


def _join(queries: int) -> Turn:
    """Whole tables joined, pairs counted for each query."""
    from bench.joins import Tables

    drawn = _joins(queries)
    joined = Tables(drawn, drawn.tables(20))
    return lambda: int(joined().sum())


def _push_joins(queries: int) -> Turn:
    """Ten pushes of each stream once windows are full."""
    from bench.joins import Pushed
    from bench.workloads.joins import BATCHES, at_time

    drawn = _joins(queries)
    pushed, cycle = Pushed(drawn), [drawn.batch(number) for number in range(BATCHES)]
    numbers = iter(range(1 << 60))

    def turn() -> int:
        delivered = 0
        for sides in cycle:
            number = next(numbers)
            delivered += sum(
                sum(found.values()) for found in pushed(tuple(at_time(side, number) for side in sides))
            )
        return delivered

    turn()
    return turn


def _joins(queries: int) -> JoinWorkload:
    if not hasattr(ed.QuerySet, "join"):
        raise LookupError("one of the trees has no joins")
    from bench.workloads.joins import workload

    return workload("pairs", queries)


def _built(workload: Workload) -> ed.QuerySet:
    return ed.QuerySet.build(workload.texts, streams=[workload.stream])


LINES: Final[Mapping[str, Callable[[], Turn]]] = {
    "paper 100": lambda: _match(paper.workload(100), 400_000),
    "paper 1,000": lambda: _match(paper.workload(1_000), 400_000),
    "paper 10,000": lambda: _match(paper.workload(10_000), 100_000),
    "paper 100,000": lambda: _match(paper.workload(100_000), 20_000),
    "paper 1,000, small batches": lambda: _match(paper.workload(1_000), 512),
    "paper 10,000, counts": lambda: _count(paper.workload(10_000), 100_000),
    "paper 1,000, pairs": lambda: _pairs(paper.workload(1_000), 2_000),
    "paper 10,000, NULLs": lambda: _match(paper.workload(10_000, nulls=0.05), 100_000),
    "alerts 10,000": lambda: _match(alerts.workload(10_000), 200_000),
    "alerts 100,000": lambda: _match(alerts.workload(100_000), 200_000),
    "alerts 1,000,000": lambda: _match(alerts.workload(1_000_000), 200_000),
    "alerts 10,000, OR": lambda: _match(alerts.workload(10_000, shape="or"), 100_000),
    "alerts 10,000, 30 columns": lambda: _match(alerts.workload(10_000, columns=30), 100_000),
    "alerts 10,000, single tuples": lambda: _single(alerts.workload(10_000), 500),
    "boolean 10,000": lambda: _match(boolean.workload(10_000, selective=False), 50_000),
    "boolean selective 10,000": lambda: _match(boolean.workload(10_000, selective=True), 50_000),
    "patterns 2,000": lambda: _match(patterns.workload(2_000), 3_000),
    "selective 1,000": lambda: _match(selective.workload(1_000), 100_000),
    "selective 1,000, drifting": lambda: _drifting(1_000, 100_000),
    "equality 100,000": lambda: _match(equality.workload(100_000, dictionary=False), 100_000),
    "equality 100,000, dictionary": lambda: _match(equality.workload(100_000, dictionary=True), 100_000),
    "sigma": lambda: _sigma(5_000),
    "build alerts 20,000": lambda: _build(alerts.workload(20_000)),
    "build paper 20,000": lambda: _build(paper.workload(20_000)),
    "save and load alerts 100,000": lambda: _save(alerts.workload(100_000)),
    "add 2,000 to alerts 10,000": lambda: _add(alerts.workload(10_000), 2_000),
    "push dense (paper 1,000)": lambda: _push(paper.workload(1_000)),
    "push sparse (alerts 10,000)": lambda: _push(alerts.workload(10_000)),
    "push with changes (alerts 10,000)": lambda: _push(alerts.workload(10_000), changes=3),
    "join (pairs 10,000)": lambda: _join(10_000),
    "push joins (pairs 10,000)": lambda: _push_joins(10_000),
    "p99 of pushes, merging in a thread": lambda: _p99(alerts.workload(10_000), "thread"),
    "p99 of pushes, merging in a process": lambda: _p99(alerts.workload(10_000), "process"),
}


def spark_lines() -> Iterator[tuple[str, Callable[[], Turn]]]:
    """The lines on Spark; a session of one core is started when the first of them gets ready."""
    from bench.compare.on_spark import match, pipeline
    from bench.workloads import expressions

    for queries in (1_000, 10_000, 100_000):
        yield f"spark alerts {queries:,}", lambda q=queries: match(alerts.workload(q), 1_000_000, "numbers")
    yield "spark expressions 1,000", lambda: match(expressions.workload(1_000), 500_000, "numbers")
    yield "spark paper 1,000", lambda: match(paper.workload(1_000), 500_000, "numbers")
    yield "spark paper 10,000, counts", lambda: match(paper.workload(10_000), 500_000, "counts")
    yield "spark pipeline, alerts 1,000", lambda: pipeline(alerts.workload(1_000), 10, 20_000)
