"""CACQ, figure 4: throughput over the size of a tuple's state.

Expected: from 15 to 3,000 bits a tuple throughput falls by more than five times, ever more slowly: the tail is proportional to
1/bits, as so many bytes a second can be allocated and formatted.

The five queries of table 3 stay; only the room for more of them grows, here far beyond the paper's 3,000 bits, to see where
the same curve begins. `eddy` is ours in Python, whose bitmaps are long integers, `row-wise` the compiled executor with a GRB
of so many bits (whole blocks of 512), given tuples of which most are dropped at the first ASC. Each is measured in turn,
CPU time, of which the least of several is taken: whatever disturbs adds to it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from bench.experiments import plots
from bench.experiments.cacq_routing_cost import QUERIES
from bench.experiments.cacq_source import FIELDS, compiled, flow, tuples
from bench.experiments.result import Claim, Result, Row, head_of
from bench.experiments.scale import Scale
from eddyline.execute.eddy import Eddy, TicketRouting
from eddyline.execute.rowwise.rowwise import Rowwise
from eddyline.functions.evaluate import Evaluation
from eddyline.index.rowwise.asc import AscIndex, assemble, build_ascs
from eddyline.model.asc import BLOCK_WORDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLOCK: Final = 64 * BLOCK_WORDS
EDDY_BITS: Final = (15, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
BLOCKS: Final = (1, 2, 4, 6, 12, 24, 48, 96, 192, 384)
MOST: Final = 3_072  # bits up to which the paper's figure goes, in whole blocks
TAIL: Final = 4  # times as many bits at the end of the tail as at its beginning, about
REPEATS: Final = 7
BATCH: Final = 10_000  # tuples that are given together to the row-wise executor
Measured = Callable[[], float]


def run(scale: Scale) -> Result:
    """Tuples a second, for all sizes of both executors."""
    few, many = scale.steps(10_000, 800, 100), scale.tuples(1_000_000, 300_000)
    runs: dict[tuple[str, int], Measured] = {}
    for bits in EDDY_BITS:
        runs["eddy", bits] = _eddy_run(bits, tuples(few, seed=1))
    for blocks in BLOCKS:
        runs["row-wise", blocks * BLOCK] = _rowwise_run(blocks, tuples(many, seed=1))
    times = _least(runs)
    counts = {"eddy": few, "row-wise": many}
    rates = {(series, bits): counts[series] / seconds for (series, bits), seconds in times.items()}
    narrowest = {
        series: next(rate for (name, _), rate in rates.items() if name == series) for series in counts
    }
    rows = [
        {"series": series, "bits": bits, "tuples a second": rate, "relative": rate / narrowest[series]}
        for (series, bits), rate in rates.items()
    ]
    parameters: Row = {"tuples, eddy": few, "tuples, row-wise": many, "queries": len(QUERIES)}
    return Result("cacq-figure-4", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def plot(result: Result) -> Figure:
    """Throughput against that of the smallest state."""
    figure, (axes,) = plots.picture()
    axes.axvspan(15, MOST, color="#eeeeee", label="the paper's range")
    plots.lines(axes, result, ["eddy", "row-wise"], "bits", "relative")
    axes.axhline(0.2, color="#777777", linestyle=":", label="a fifth: the paper's at 3,000 bits is below")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("bits of state a tuple")
    axes.set_ylabel("throughput, smallest state = 1")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.legend(fontsize=8, loc="lower left")
    return figure


def _eddy_run(bits: int, batch: pa.RecordBatch) -> Measured:
    """Seconds of an eddy whose tuples have so many bits: `ready` and `done` take two for each filter."""

    queries = compiled(QUERIES)

    def measured() -> float:
        eddy = Eddy(TicketRouting(seed=1), capacity=bits - 2 * len(FIELDS))
        for query in queries:
            eddy.add(query)
        return flow(eddy, batch)[1]

    return measured


def _rowwise_run(blocks: int, batch: pa.RecordBatch) -> Measured:
    """Seconds of the row-wise executor with GRBs of so many blocks."""
    executor = Rowwise(_padded(blocks))
    parts = [batch.slice(first, BATCH) for first in range(0, batch.num_rows, BATCH)]

    def measured() -> float:
        start = time.process_time()
        for part in parts:
            executor.match(Evaluation(part), part.num_rows)
        return max(time.process_time() - start, 1e-9)

    return measured


def _padded(blocks: int) -> AscIndex:
    """The five queries in the last of so many blocks; those before are room for queries that match nothing."""
    index = build_ascs([query.predicate for query in compiled(QUERIES)], range(len(QUERIES)))
    table = np.zeros((blocks, *index.table.shape[1:]), np.uint64)
    table[-1] = index.table[0]
    qubs = np.zeros((len(index.ascs), blocks * BLOCK_WORDS), np.uint64)
    qubs[:, -BLOCK_WORDS:] = [asc.qub for asc in index.ascs]
    numbers = np.arange((blocks - 1) * BLOCK + len(QUERIES), dtype=np.int32)
    return assemble(index.cuttings, qubs, table, numbers)


def _least(runs: dict[tuple[str, int], Measured]) -> dict[tuple[str, int], float]:
    """The least seconds of each, all of them in turn; the first round warms up."""
    rounds = [[measured() for measured in runs.values()] for _ in range(REPEATS + 1)]
    return dict(zip(runs, map(min, zip(*rounds[1:], strict=True)), strict=True))


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    claims = []
    for series in ("row-wise", "eddy"):
        own = {row["bits"]: row for row in rows if row["series"] == series}
        times = {bits: 1e9 / row["tuples a second"] for bits, row in own.items()}
        narrow, wide = min(own), max(bits for bits in own if bits <= MOST)
        claims.append(
            Claim(
                f"{series}: by more than five times up to 3,000 bits",
                own[wide]["relative"] < 0.2,
                f"{1 / own[wide]['relative']:.2f} times, from {times[narrow]:,.0f} to {times[wide]:,.0f} ns; to a fifth at "
                f"{reached(own, 0.2):,.0f} bits",
            )
        )
        first, last = _tail(own)
        slope = math.log(times[last] / times[first]) / math.log(last / first)
        claims.append(
            Claim(
                f"{series}: the tail is proportional to 1/bits, the power within 0.25 of 1",
                0.75 <= slope <= 1.25,
                f"1/bits^{slope:.2f} from {first:,} to {last:,} bits",
            )
        )
    return tuple(claims)


def _tail(own: dict[int, Row]) -> tuple[int, int]:
    """The first and the last size of the tail."""
    last = max(own)
    return min(own, key=lambda bits: abs(bits - last / TAIL)), last


def reached(own: dict[int, Row], level: float) -> float:
    """At how many bits throughput has fallen to a level, between the sizes measured."""
    sizes = sorted(own)
    relative = [own[bits]["relative"] for bits in sizes]
    return float(np.exp(np.interp(-level, np.negative(relative), np.log(sizes))))
