"""`order`: the default, which adapts, against every choice that can be forced, a bad order, and an order that stays.

All sides see the same batches in turns, and their medians are compared. No adaptation means what was best in the first
phase of a drifting stream and is kept: the order of the subjects row by row, or the subject of the pre-filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from bench import ours
from bench.baselines.orders import bad_order
from bench.interleaved import interleaved
from bench.measure import Setting
from bench.record import Record
from bench.workloads import alerts, boolean, equality, paper, patterns, selective, sigma
from bench.workloads.workload import Workload
from eddyline import Stream
from eddyline.config import FIXED_ORDER, IndexSettings, OrderSettings, StrategyName
from eddyline.execute.segment import SegmentExecutor
from eddyline.functions.evaluate import Evaluation
from eddyline.index.keyed.keyed import KeyedIndex
from eddyline.model.sample import Sample
from eddyline.queryset import QuerySet

SMALL: Final = 512
COMPARED: Final = 2_000  # rows of which all pairs are compared
PHASES: Final = 4
PERIOD: Final = 1_000  # tuples of a step of a strategy
FAR_OFF: Final = 20  # times as long as the quickest, in small batches: not asked again in larger ones
MOST_MONITORED: Final = 0.03
FORCED: Final = {
    "sliced": IndexSettings(executor="sliced", order=FIXED_ORDER),
    "no pre-filter": IndexSettings(executor="sliced", prefilter="off", order=FIXED_ORDER),
    "keyed": IndexSettings(executor="keyed", order=FIXED_ORDER),
    "row by row": IndexSettings(executor="rowwise", order=FIXED_ORDER),
    "auto, fixed order": IndexSettings(order=FIXED_ORDER),
}
Sides = dict[str, QuerySet]
Batches = list[pa.RecordBatch]


@dataclass(frozen=True)
class Load:
    """Queries as SQL text and batches of a stream."""

    name: str
    stream: Stream
    texts: dict[str, str]
    batch: Callable[[int], pa.RecordBatch]

    @staticmethod
    def of(workload: Workload) -> Load:
        """A workload's."""
        return Load(workload.name, workload.stream, workload.texts, workload.batch)


def run(setting: Setting) -> Iterator[Record]:
    """Every workload in the batches of its own suite and in small ones; then drift."""
    for make, sizes in _cases(setting):
        yield from _records(make(), sizes)
    yield from _sigma(setting)
    yield from _drifting(setting)


def _cases(setting: Setting) -> Iterator[tuple[Callable[[], Load], tuple[int, ...]]]:
    large, medium = setting.rows(100_000), setting.rows(10_000)
    for queries in setting.sizes(100, 1_000, 10_000, 100_000):
        sizes = (large, medium, SMALL) if queries <= 10_000 else (medium, SMALL)
        yield lambda queries=queries: Load.of(paper.workload(queries)), sizes
    many = setting.sizes(10_000)[0]
    yield lambda: Load.of(paper.workload(many, nulls=0.05)), (medium,)
    yield lambda: Load.of(alerts.workload(many)), (large, SMALL)
    for narrow in (False, True):
        half = setting.rows(50_000)
        yield lambda narrow=narrow: Load.of(boolean.workload(many, selective=narrow)), (half, SMALL)
    yield lambda: Load.of(patterns.workload(setting.sizes(2_000)[0])), (3_000, SMALL)
    yield lambda: Load.of(selective.workload(setting.sizes(1_000)[0])), (large, medium, SMALL)
    yield lambda: Load.of(equality.workload(many)), (large, SMALL)


def _records(load: Load, sizes: tuple[int, ...]) -> Iterator[Record]:
    """The default against the best of the forced choices, in batches of some sizes."""
    sides = {"adaptive": _built(load), **{name: _built(load, settings) for name, settings in FORCED.items()}}
    for rows in sorted(sizes):
        batches = [load.batch(rows)]
        different = _different(sides, rows)
        times = interleaved(different, batches)
        yield _record(load, rows, times, _best(times), different, batches)
        sides = {
            name: side for name, side in sides.items() if times.get(name, 0.0) < FAR_OFF * min(times.values())
        }
    yield from _monitoring(load, sum(sizes), sides["adaptive"])
    if load.name == "selective":
        yield from _bad_order(load, sizes)


def _bad_order(load: Load, sizes: tuple[int, ...]) -> Iterator[Record]:
    sides = {"adaptive": _built(load), "worst order": _worst(load, load.batch(sizes[0]))}
    for rows in sizes:
        batches = [load.batch(rows)]
        yield _record(load, rows, interleaved(sides, batches), "worst order", sides, batches)


def _sigma(setting: Setting) -> Iterator[Record]:
    """The real rules, if their data is here; their suite says so if not."""
    data = sigma.folder()
    if data is not None:
        found = sigma.load(data)
        texts = dict(list(found.texts.items())[: setting.queries])
        yield from _records(
            Load("sigma", found.stream, texts, lambda rows: found.events.slice(0, rows)), (5_000, SMALL)
        )


def _different(sides: Sides, rows: int) -> Sides:
    """The sides without those that do the same as one before: the least of several equal ones would be luck."""
    known: set[object] = set()
    found: Sides = {}
    for name, side in sides.items():
        form = "adaptive" if name == "adaptive" else _form(side, rows)
        if form not in known:
            found[name] = side
        known.add(form)
    return found


def _form(queryset: QuerySet, rows: int) -> object:
    """Who serves how many queries of batches of so many rows."""
    return tuple([_served(executor, rows) for executor in queryset.executors()])


def _served(executor: SegmentExecutor, rows: int) -> object:
    unkeyed, keyed = executor.unkeyed, executor.segment.indexes.get("keyed")
    by_key = sum(len(table.results) for table in keyed.tables) if isinstance(keyed, KeyedIndex) else 0
    if unkeyed is None:
        return by_key
    sliced = unkeyed.index.sliced
    return by_key, rows <= unkeyed.small, sliced.program.results, len(sliced.hulls)


def _best(times: dict[str, float]) -> str:
    """The forced choice that took the least."""
    return min(times.keys() & FORCED.keys(), key=times.__getitem__)


def _built(load: Load, settings: IndexSettings | None = None) -> QuerySet:
    return QuerySet.build(load.texts, streams=[load.stream], settings=settings or IndexSettings())


def _settled(load: Load, batch: pa.RecordBatch, strategy: StrategyName) -> QuerySet:
    """Row by row in the order that a strategy finds for a batch, and keeps."""
    order = OrderSettings(
        strategy=strategy, period=PERIOD, sample_rate=0.1, monitor_share=1.0, threshold=float(1 << 30)
    )
    queryset = _built(load, IndexSettings(executor="rowwise", order=order))
    for _ in range(2 * len(load.stream.schema)):  # a strategy takes at most a period for each subject
        queryset.match(batch.slice(0, 10 * PERIOD))
    return queryset


def _worst(load: Load, batch: pa.RecordBatch) -> QuerySet:
    """Row by row in an order with very many visits for the tuples of a batch."""
    queryset = _built(load, FORCED["row by row"])
    some = batch.take(pa.array(np.linspace(0, len(batch) - 1, min(len(batch), PERIOD)).astype(np.int64)))
    executors = []
    for executor in queryset.executors():
        assert executor.unkeyed is not None, "queries are evaluated row by row"
        rowwise = executor.unkeyed.rowwise
        regions = rowwise.regions(Evaluation(some), len(some))
        steering = executor.recorded(bad_order(Sample(rowwise.index.ascs, regions)), "row by row")
        assert steering is not None, "what is evaluated row by row has an order"
        executors.append(executor.steered(steering))
    return queryset.served_by(executors)


def _record(
    load: Load, rows: int, times: dict[str, float], peer: str, sides: Sides, batches: Batches
) -> Record:
    mine, theirs = rows / times["adaptive"], rows / times[peer]
    equal = all(_equal(sides, batch) for batch in {id(batch): batch for batch in batches}.values())
    return Record.rates(load.name, len(load.texts), rows, "adaptive", mine, peer, theirs, equal)


def _equal(sides: Sides, batch: pa.RecordBatch) -> bool:
    """Counts of the whole batch and all pairs of its first rows, of all sides."""
    first, *others = [(ours.counts(side, batch), _pairs(side, batch)) for side in sides.values()]
    return all(np.array_equal(a, b) for other in others for a, b in zip(first, other, strict=True))


def _pairs(queryset: QuerySet, batch: pa.RecordBatch) -> np.ndarray:
    return ours.pair_numbers(queryset.match(batch.slice(0, COMPARED)))


def _monitoring(load: Load, rows: int, queryset: QuerySet) -> Iterator[Record]:
    """Which part of the time was spent in the monitor, where there is one."""
    for found in queryset.order_report():
        share = max(found.watched.share, 1e-6)
        name, queries = load.name, len(load.texts)
        yield Record(
            name, queries, rows, "monitor", share, "share", MOST_MONITORED, MOST_MONITORED / share, True
        )


def _drifting(setting: Setting) -> Iterator[Record]:
    """Four phases in batches of 100,000; one of two attributes is the one to look at, and which one changes."""
    queries = setting.sizes(1_000)[0]
    first, second = (Load.of(selective.workload(queries, phase=phase)) for phase in (0, 1))
    phases = [each.batch(setting.rows(100_000)) for each in (first, second)]
    calls = selective.PHASE // 100_000
    stream = [phases[phase % 2] for phase in range(PHASES) for _ in range(calls)]
    sides = {name: _built(first, settings) for name, settings in FORCED.items()}
    stays = {
        "order of phase 1": _settled(first, phases[0], "macro"),
        "filter of phase 1": _filtered(first, phases[0]),
    }
    sides = {"adaptive": _built(first), **_different(sides, len(phases[0])), **stays}
    times = interleaved(sides, stream)
    rows = sum(batch.num_rows for batch in stream)
    for peer in (_best(times), *stays):
        yield _record(first, rows, times, peer, sides, phases)
    yield from _monitoring(first, rows, sides["adaptive"])


def _filtered(load: Load, batch: pa.RecordBatch) -> QuerySet:
    """Sliced, with the pre-filter that is the best for a batch, and no other."""
    queryset = _built(load, FORCED["sliced"])
    (sliced,) = [executor.unkeyed.sliced for executor in queryset.executors()]
    whole, times = sliced.index, {}
    for place, hull in enumerate(whole.hulls):
        sliced.index = replace(whole, hulls=(hull,))
        times[place] = interleaved({"one": queryset}, [batch])["one"]
    sliced.index = replace(whole, hulls=(whole.hulls[min(times, key=times.__getitem__)],))
    return queryset
