"""What runs in Spark's Python workers for a back-test: rows in, one tally per task out; tallies in, their sum out."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from eddyline.backtest.axis import Axis
from eddyline.backtest.collect import collect
from eddyline.backtest.rows import Stretch
from eddyline.backtest.settings import Settings
from eddyline.backtest.tally import Tally
from eddyline.runtime.spark.histories.sending import Sending
from eddyline.runtime.spark.transport.shipping import Shipment


@dataclass(frozen=True)
class BacktestTask:
    """One stream's queries, the first `tested` of them under test, and how rows come."""

    shipment: Shipment
    sending: Sending
    axis: Axis
    tested: int
    settings: Settings

    def tally(self, batches: Iterator[pa.RecordBatch]) -> Tally:
        """What these rows give."""
        queries = self.shipment.open()
        tally = Tally(self.axis, self.tested, len(queries), self.settings)
        for run in self.sending.runs(batches):
            stretch = Stretch(run.batch, run.file.name, run.numbers, run.file.before + run.first)
            collect(tally, queries, stretch, self.settings, run.known)
        return tally


def tallied(task: BacktestTask, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The tally of a task, packed."""
    return packed(task.tally(batches))


def packed(tally: Tally) -> Iterator[pa.RecordBatch]:
    """A tally that travels; one without rows stays at home."""
    if tally.rows:
        content = zlib.compress(pickle.dumps(tally), 1)  # mostly zeros
        yield pa.record_batch({"tally": pa.array([content], pa.binary())})


def unpacked(content: bytes) -> Tally:
    """A tally of another process of this job."""
    tally = pickle.loads(zlib.decompress(content))  # made by `packed`
    assert isinstance(tally, Tally), "only tallies travel here"
    return tally


def added_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One tally for all that come."""
    total: Tally | None = None
    for batch in batches:
        for content in batch.column(0):
            tally = unpacked(content.as_py())
            if total is None:
                total = tally
            else:
                total.merge(tally)
    if total is not None:
        yield from packed(total)
