"""CACQ, figure 4: throughput over the size of a tuple's state.

Expected: from 15 to 3,000 bits a tuple throughput falls by more than five times, ever more slowly: the tail is proportional to
1/bits, as so many bytes a second can be allocated and formatted.

The five queries of table 3 stay; only the room for more of them grows. `eddy` is ours in Python, whose bitmaps are long
integers, `row-wise` the compiled executor with a GRB of so many bits (whole blocks of 512), given tuples of which most are
dropped at the first ASC. Each is measured in turn, median CPU time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from bench.experiments import plots
from bench.experiments.cacq_routing_cost import QUERIES
from bench.experiments.cacq_source import FIELDS, compiled, flow, tuples
from bench.experiments.result import Claim, Result, Row, head_of
from bench.experiments.scale import Scale
from eddyline.execute.eddy import Eddy, TicketRouting
from eddyline.execute.rowwise import Rowwise
from eddyline.functions.evaluate import Evaluation
from eddyline.index.asc import AscIndex, assemble, build_ascs
from eddyline.model.asc import BLOCK_WORDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLOCK: Final = 64 * BLOCK_WORDS
EDDY_BITS: Final = (15, 100, 250, 500, 1_000, 1_500, 2_000, 2_500, 3_000)
BLOCKS: Final = (1, 2, 3, 4, 5, 6)
REPEATS: Final = 5
Measured = Callable[[], float]


def run(scale: Scale) -> Result:
    """Tuples a second, for all sizes of both executors."""
    few, many = scale.tuples(20_000, 2_000), scale.tuples(2_000_000, 400_000)
    runs: dict[tuple[str, int], Measured] = {}
    for bits in EDDY_BITS:
        runs["eddy", bits] = _eddy_run(bits, tuples(few, seed=1))
    for blocks in BLOCKS:
        runs["row-wise", blocks * BLOCK] = _rowwise_run(blocks, tuples(many, seed=1))
    times = _medians(runs)
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
    plots.lines(axes, result, ["eddy", "row-wise"], "bits", "relative")
    axes.axhline(0.2, color="#777777", linestyle=":", label="a fifth: the paper's at 3,000 bits is below")
    axes.set_xlabel("bits of state a tuple")
    axes.set_ylabel("throughput, smallest state = 1")
    axes.set_ylim(0, 1.15)
    axes.legend(fontsize=8, loc=(0.02, 0.24))
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

    def measured() -> float:
        start = time.process_time()
        executor.match(Evaluation(batch), batch.num_rows)
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


def _medians(runs: dict[tuple[str, int], Measured]) -> dict[tuple[str, int], float]:
    """Median seconds, all of them in turn after one round to warm up."""
    found: dict[tuple[str, int], list[float]] = {name: [] for name in runs}
    for repeat in range(REPEATS + 1):
        for name, measured in runs.items():
            seconds = measured()
            if repeat:
                found[name].append(seconds)
    return {name: median(seconds) for name, seconds in found.items()}


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    eddy = [row["relative"] for row in rows if row["series"] == "eddy"]
    rowwise = [row["relative"] for row in rows if row["series"] == "row-wise"]
    falls = [more - less for more, less in pairwise(rowwise)]
    half = len(falls) // 2
    return (
        Claim(
            "more state costs throughput, row-wise",
            rowwise[-1] < 0.8,
            f"to {rowwise[-1]:.2f} of the narrowest",
        ),
        Claim(
            "ever more slowly, row-wise",
            sum(falls[:half]) > sum(falls[-half:]),
            f"{sum(falls[:half]):.2f} in the first {half} steps, {sum(falls[-half:]):.2f} in the last",
        ),
        Claim("by more than five times, row-wise", rowwise[-1] < 0.2, f"{1 / rowwise[-1]:.1f} times"),
        Claim("by more than five times, the eddy", eddy[-1] < 0.2, f"{1 / eddy[-1]:.2f} times"),
    )
