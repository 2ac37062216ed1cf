"""`joins`: window joins of two streams, on one core; rates are rows of both streams a second.

join     whole tables, pairs counted for each query; peers get the same tables
push     the same rows delivered by an engine, in batches of 10,000 rows of each stream, once windows are full

Peers of `join`: DuckDB with a statement for each query; with the tables joined once and then with a table of rules, in this
order, and in the order that DuckDB prefers; our own kernels, with a join stage for each query. Esper and pathway get their
rows one by one, and are measured once windows are full; where they are not installed, they are left out, and it is said why.

While 200 queries change each second, pushes are timed by the wall clock: with merging in a thread, and in a process.
"""

from __future__ import annotations

import gc
import statistics
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pyarrow as pa

from bench import joins, measure
from bench.measure import Setting
from bench.peers import duckdb_joins, esper_joins, pathway_joins
from bench.peers.missing import Missing
from bench.record import Record
from bench.workloads.joins import BATCHES, STREAMS, JoinWorkload, at_time, workload
from eddyline import Engine, QuerySet

ROWS: Final = 10_000  # a batch and side
WHOLE: Final = 2 * BATCHES  # batches of whole tables
# of those that are joined in milliseconds: what is done once for a call is not a rate
LONG_TABLES: Final = 10 * BATCHES
LONG: Final = 10.0  # seconds of a peer, which is not asked twice then
SMALL: Final = 300  # rows a batch and side where only results are compared
CHANGES: Final = 208  # a second
PUSHES: Final = 1_000
PATHWAY_ROWS: Final = 1_000  # a batch and side
PAUSE: Final = 0.04  # seconds from one push to the next
WINDOWS: Final = 20
STATM: Final = Path("/proc/self/statm")
WANTED: Final = {
    ("pairs", 100_000): 1_000_000,
    ("pairs even", 100_000): 1_000_000,
    ("ranges", 10_000): 400_000,
    ("ranges", 100_000): 200_000,
}
Whole = Callable[[], np.ndarray]


def run(setting: Setting) -> Iterator[Record]:
    """All lines."""
    yield from _beside_peers(setting)
    yield from _many(setting)
    yield from _pushed(setting)
    for merging in ("thread", "process"):
        yield from _changing(setting, merging)
    yield from _memory(setting)


def _beside_peers(setting: Setting) -> Iterator[Record]:
    """Few queries, beside those who do not share."""
    rows = setting.rows(ROWS)
    single = workload("pairs", 1, rows)
    yield from _lines(single, {"no lineage": joins.Unshared}, LONG_TABLES)
    hundred = workload("pairs", 100, rows)
    yield from _lines(hundred, {"duckdb-per-query": duckdb_joins.JoinPerQuery})
    thousand = workload("pairs", 1_000, rows)
    peers = {
        "duckdb-per-query": duckdb_joins.JoinPerQuery,
        "duckdb-join-then-rules": duckdb_joins.JoinThenRules,
        "duckdb-rules": duckdb_joins.Rules,
        "unshared": joins.Unshared,
    }
    yield from _lines(thousand, peers)
    yield from _streaming_peers(thousand, rows, "esper", esper_joins.run)
    # 300 joins of pathway take minutes before their first row.
    few = min(rows, PATHWAY_ROWS)
    yield from _streaming_peers(workload("pairs", 100, few), few, "pathway", pathway_joins.run)


def _lines(
    drawn: JoinWorkload,
    peers: Mapping[str, Callable[[JoinWorkload, Mapping[str, pa.Table]], Whole]],
    batches: int = WHOLE,
) -> Iterator[Record]:
    tables = drawn.tables(batches)
    count = sum(table.num_rows for table in tables.values())
    ours = joins.Tables(drawn, tables)
    found = ours()
    for name, build in peers.items():
        theirs = build(drawn, tables)
        expected: list[np.ndarray] = []
        once = measure.once(lambda theirs=theirs, expected=expected: expected.append(theirs()))  # type: ignore[misc]
        mine, their = _interleaved(ours, theirs) if once < LONG else (measure.seconds(ours), once)
        equal = np.array_equal(found, expected[0])
        yield Record.rates(drawn.name, drawn.queries, count, "join", count / mine, name, count / their, equal)


def _interleaved(ours: Whole, theirs: Whole) -> tuple[float, float]:
    """Median CPU seconds of both, in turns; three times each, unless that takes long."""
    times: tuple[list[float], list[float]] = [], []
    while len(times[0]) < 9 and (not times[1] or sum(times[1]) < 3):
        for run, took in zip((ours, theirs), times, strict=True):
            took.append(measure.once(run))
    return statistics.median(times[0]), statistics.median(times[1])


def _streaming_peers(
    drawn: JoinWorkload,
    rows: int,
    name: str,
    peer: Callable[[JoinWorkload, Mapping[str, pa.Table]], tuple[float, np.ndarray]],
) -> Iterator[Record]:
    """Beside those who take rows one by one: over whole tables, and by an engine."""
    tables = drawn.tables(WHOLE)
    try:
        theirs, counts = peer(drawn, tables)
    except Missing as reason:
        print(f"{name} is left out: {reason}", file=sys.stderr)
        return
    count = sum(table.num_rows for table in tables.values())
    ours = joins.Tables(drawn, tables)
    equal = np.array_equal(ours(), counts)
    mine = count / measure.seconds(ours)
    yield Record.rates(drawn.name, drawn.queries, count, "join", mine, name, theirs, equal)
    times, counts = _push_times(drawn)
    equal &= np.array_equal(ours(), counts)
    pushed = 2 * rows / statistics.median(times[BATCHES:])
    yield Record.rates(drawn.name, drawn.queries, 2 * rows, "push", pushed, name, theirs, equal)


def _many(setting: Setting) -> Iterator[Record]:
    """Many queries, beside what is wanted, and beside fewer of them."""
    rows = setting.rows(ROWS)
    rates: dict[tuple[str, int], float] = {}
    agree: dict[tuple[str, int], bool] = {}
    sizes = {"pairs": (1_000, 100_000), "pairs even": (1_000, 100_000), "ranges": (10_000, 100_000)}
    for name, wanted in (*sizes.items(), ("one side", (1_000, 10_000))):
        for queries in setting.sizes(*wanted):
            drawn = workload(name, queries, rows)
            tables = drawn.tables(LONG_TABLES if name == "pairs even" else WHOLE)
            count = sum(table.num_rows for table in tables.values())
            rate = count / measure.seconds(joins.Tables(drawn, tables), warm_ups=1)
            rates[name, queries] = rate
            asked = WANTED.get((name, queries), rate)
            agree[name, queries] = _agree(drawn)
            yield Record.rates(name, queries, count, "join", rate, "asked for", asked, agree[name, queries])
        few, many = (name, 1_000), (name, 100_000)
        if few in rates and many in rates:
            yield Record.rates(
                name, many[1], count, "join", rates[many], "at 1,000", rates[few], agree[few] and agree[many]
            )


def _agree(drawn: JoinWorkload) -> bool:
    """Whether DuckDB counts the same pairs, in two windows of small batches."""
    small = workload(drawn.name, drawn.queries, SMALL)
    tables = small.tables(WHOLE)
    return np.array_equal(joins.Tables(small, tables)(), duckdb_joins.Rules(small, tables)())


def _pushed(setting: Setting) -> Iterator[Record]:
    """Delivered by an engine, beside whole tables."""
    rows = setting.rows(ROWS)
    for queries in setting.sizes(100_000):
        drawn = workload("pairs", queries, rows)
        times, counts = _push_times(drawn)
        whole = joins.Tables(drawn, drawn.tables(WHOLE))
        equal = np.array_equal(counts, whole())
        rate = 2 * rows / statistics.median(times[BATCHES:])
        other = 2 * rows * WHOLE / measure.seconds(whole)
        yield Record.rates("pairs", queries, 2 * rows, "push", rate, "join", other, equal)


def _push_times(drawn: JoinWorkload) -> tuple[list[float], np.ndarray]:
    """CPU seconds of pushing each batch of both streams, and what was delivered for each query, all in all."""
    pushed = joins.Pushed(drawn)
    counts, times = np.zeros(drawn.queries, np.int64), []
    for number in range(WHOLE):
        batches = drawn.batch(number)
        found: list[Mapping[str, int]] = []
        times.append(measure.once(lambda batches=batches, found=found: found.extend(pushed(batches))))  # type: ignore[misc]
        _add(counts, found)
    return times, counts


def _add(counts: np.ndarray, delivered: list[Mapping[str, int]]) -> None:
    for found in delivered:
        for id, count in found.items():
            counts[int(id)] += count


def _changing(setting: Setting, merging: Literal["thread", "process"]) -> Iterator[Record]:
    """The 99th percentile of a push beside its median, while queries change."""
    rows, queries = setting.rows(ROWS), setting.sizes(10_000)[0]
    drawn = workload("pairs", queries, rows)
    fresh = workload("pairs", 20_000, rows, seed=5)
    engine = Engine(streams=STREAMS, merging=merging)
    engine.add(drawn.texts)
    engine.merge()
    cycle = [drawn.batch(number) for number in range(WHOLE)]
    _flow(engine, cycle, 0, 2 * BATCHES, 0.0)
    changing = _Changing(engine, list(fresh.texts.values()), queries)
    changing.start()
    _flow(engine, cycle, 2 * BATCHES, 100, PAUSE)  # kernels for pieces of all sizes
    pushes = PUSHES // 10 if setting.quick else PUSHES
    start, made = time.perf_counter(), changing.made
    took = _flow(engine, cycle, 2 * BATCHES + 100, pushes, PAUSE)
    seconds, made = time.perf_counter() - start, changing.made - made
    changing.stop()
    equal = _agree_now(engine, cycle, BATCHES + (2 * BATCHES + 100 + pushes) // 2 + 1)
    engine.close()
    name = f"changing, merged in a {merging}"
    median, tail = (float(np.percentile(took, share)) for share in (50, 99))
    yield Record.rates(name, queries, rows, "changes", made / seconds, "asked for", CHANGES, equal)
    yield Record(name, queries, rows, "p99", tail, "median", median, median / tail, equal)


def _agree_now(engine: Engine, cycle: list[tuple[pa.RecordBatch, ...]], first: int) -> bool:
    """Whether an engine delivers what its queries find in whole tables, and its accounts agree.

    Batches from a window after the last one on: all queries have seen all of them. What a second window completes is what
    both windows have and the first one has not.
    """
    engine.ledger.check()
    delivered: Counter[str] = Counter()
    batches = [
        tuple(at_time(side, first + number) for side in cycle[number % len(cycle)]) for number in range(WHOLE)
    ]
    for number, sides in enumerate(batches):
        for stream, batch in zip(STREAMS, sides, strict=True):
            found = engine.push(stream.name, batch).ledger.queries
            if number >= BATCHES:
                delivered.update(found)
    built = QuerySet.build(engine.queries(), streams=STREAMS)
    both, one = (_counts(built, batches[:last]) for last in (WHOLE, BATCHES))
    return dict(delivered) == {id: count - one[id] for id, count in both.items() if count > one[id]}


def _counts(queries: QuerySet, batches: list[tuple[pa.RecordBatch, ...]]) -> dict[str, int]:
    sides = zip(*batches, strict=True)
    return queries.join(
        {stream.name: pa.Table.from_batches(side) for stream, side in zip(STREAMS, sides, strict=True)}
    ).counts()


def _flow(
    engine: Engine, cycle: list[tuple[pa.RecordBatch, ...]], first: int, pushes: int, pause: float
) -> list[float]:
    """Seconds of each push, quotes and trades in turn."""
    took, start = [], time.perf_counter()
    for number in range(pushes):
        of, side = divmod(first + number, 2)
        batch = at_time(cycle[of % len(cycle)][side], of)
        early = start + number * pause - time.perf_counter()
        if early > 0:
            time.sleep(early)
        before = time.perf_counter()
        engine.push(STREAMS[side].name, batch)
        took.append(time.perf_counter() - before)
    return took


class _Changing(threading.Thread):
    """Adds a query and removes the oldest, in turn, at a steady pace."""

    def __init__(self, engine: Engine, texts: list[str], queries: int) -> None:
        super().__init__(daemon=True)
        self._engine, self._texts = engine, texts
        self._there = deque(map(str, range(queries)))
        self._stopped = threading.Event()
        self.made = 0

    def run(self) -> None:
        """Change until stopped."""
        start = time.perf_counter()
        while not self._stopped.wait(max(0.0, start + self.made / CHANGES - time.perf_counter())):
            if self.made % 2:
                self._engine.remove(self._there.popleft())
            else:
                self._there.append(f"fresh {self.made}")
                self._engine.add(self._there[-1], self._texts[self.made // 2 % len(self._texts)])
            self.made += 1

    def stop(self) -> None:
        """Make no more changes."""
        self._stopped.set()
        self.join()


def _memory(setting: Setting) -> Iterator[Record]:
    """What a stored tuple takes beside its payload, and whether memory grows over many windows."""
    rows, queries = setting.rows(ROWS), setting.sizes(10_000)[0]
    drawn = workload("one side", queries, rows)
    pushed = joins.Pushed(drawn)
    cycle = [tuple(side.slice(0, rows // 10) for side in drawn.batch(number)) for number in range(BATCHES)]
    sizes, counts = [], np.zeros(queries, np.int64)
    for number in range(WINDOWS * BATCHES + 2 * BATCHES):
        found = pushed(tuple(at_time(side, number) for side in cycle[number % BATCHES]))
        if number < BATCHES:
            _add(counts, found)
        if number % BATCHES == BATCHES - 1:
            gc.collect()
            sizes.append(int(STATM.read_text().split()[1]))
    state = pushed.engine.state()
    held = sum(kept.bytes for kept in state.kept) / state.tuples
    payload = sum(stream.bytes for stream in state.streams) / state.tuples
    pushed_first = [tuple(at_time(side, number) for side in sides) for number, sides in enumerate(cycle)]
    whole = zip(*pushed_first, strict=True)
    tables = {stream.name: pa.Table.from_batches(side) for stream, side in zip(STREAMS, whole, strict=True)}
    equal = np.array_equal(counts, joins.Tables(drawn, tables)())
    yield Record("one side", queries, rows // 10, "bytes", held, "payload", payload, payload / held, equal)
    growth = max(sizes[-1] / sizes[1] - 1, 0.0)
    yield Record("one side", queries, rows // 10, "growth", growth, "allowed", 0.1, 1.1 / (1 + growth), equal)
