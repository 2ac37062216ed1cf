"""Orders of subjects in a pipeline: found from the batches before, written down with the version, the same in a replay."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from eddyline.config import OrderSettings
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.feedback import segment
from eddyline.runtime.spark.feedback import source as feedback
from eddyline.runtime.spark.feedback.learning import Learning
from eddyline.runtime.spark.feedback.source import SourceFeedback
from eddyline.runtime.spark.pipeline.batch import batch_context
from eddyline.runtime.spark.pipeline.batch import run as batches
from tests.spark.pipelines import Place, log_of, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eddyline.runtime.spark.versions import Pin

pytestmark = pytest.mark.usefixtures("impatient")
ROWS = 6_000
BATCHES = 10
DRIFT = 5  # the first batch in which another subject drops tuples
QUERIES = {
    f"q{i}": f"SELECT id FROM quotes WHERE id BETWEEN {100 * i} AND {100 * i + 49} AND price BETWEEN {i} AND {i + 1}"
    for i in range(8)
}


def rows_of(batch_id: int) -> Iterator[dict[str, Any]]:
    """Rows that queries ask for, but for one subject: of that only one row in twenty."""
    source = np.random.default_rng(batch_id)
    ids, prices = source.integers(0, 800, ROWS), source.random(ROWS) * 8
    rare = source.random(ROWS) < 0.05
    if batch_id < DRIFT:
        prices = np.where(rare, prices, 1_000.0)
    else:
        ids = np.where(rare, ids, 10_000)
    for id, price in zip(ids.tolist(), prices.tolist(), strict=True):
        yield {"id": id, "symbol": "a", "price": price, "at": "2026-03-01T10:00:00Z"}


def wanted() -> int:
    """How many rows meet which queries, in all batches."""
    rows = [row for batch_id in range(BATCHES) for row in rows_of(batch_id)]
    return sum(
        100 * i <= row["id"] <= 100 * i + 49 and i <= row["price"] <= i + 1 for row in rows for i in range(8)
    )


@pytest.fixture
def drifting(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A stream that drifts; batches wait for what the one before them told, so that every run is the same."""
    place.register(QUERIES)
    for batch_id in range(BATCHES):
        place.write(f"{batch_id}.json", list(rows_of(batch_id)))
        time.sleep(0.01)
    monkeypatch.setattr(feedback, "WARM", 0.0)  # five seconds of work are more than a test has
    monkeypatch.setattr(batch_context, "OrderSettings", partial(OrderSettings, monitor_share=1.0))
    monkeypatch.setattr(segment, "STANDS_FOR", 100)  # every batch is asked whether something has changed
    learn = Learning.learn

    def waits(learning: Learning, *given: Any) -> None:
        learn(learning, *given)
        learning.wait()

    monkeypatch.setattr(Learning, "learn", waits)
    return place


@pytest.mark.long
def test_orders_follow_a_drift(spark: SparkSession, drifting: Place) -> None:
    """The order in the record changes after the drift, and tuples visit less; results are exact all the time."""
    running = run(drifting.settings, spark)

    assert len(drifting.results()) == wanted()
    orders = [pin.orders for pin in log_of(drifting.settings).pins("quotes")]
    firsts = [order.words.split(" ")[0] for (order,) in orders]
    assert firsts[DRIFT - 1] == "price" and firsts[-1] == "id"
    reports = running.reports()
    assert [report.order.split(" ")[0] for report in reports] == firsts
    assert all(report.working > report.watching > 0 for report in reports)
    assert not any(report.problems for report in reports)


@pytest.mark.long
def test_a_replay_has_the_order_it_had(
    spark: SparkSession, drifting: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that fails runs again in the recorded order, whatever was found since."""
    seen: list[Pin] = []
    matched, orders = batches.matched, SourceFeedback.orders

    def watched(*given: Any) -> Any:
        seen.append(given[-1])
        return matched(*given)

    def reversed_later(known: SourceFeedback, *given: Any) -> Any:
        found = orders(known, *given)
        if len(seen) <= 2:
            return found
        turned = [replace(o.sequence, subjects=o.sequence.subjects[::-1]) for o in found]
        return tuple([replace(o, sequence=s, words="turned") for o, s in zip(found, turned, strict=True)])

    def receive(table: Any, batch: Any) -> None:
        if batch.batch_id == 1 and len(seen) == 2:
            raise OSError("not now")
        found.append(table.num_rows)

    found: list[int] = []
    monkeypatch.setattr(batches, "matched", watched)
    monkeypatch.setattr(SourceFeedback, "orders", reversed_later)
    monkeypatch.setattr(batches, "PATIENCE", replace(batches.PATIENCE, attempts=1))
    sink = SinkSettings(name="hook", format="callback", callback=receive)
    run(replace(drifting.settings, sinks=(sink,), retries=1), spark)

    assert [pin.batch_id for pin in seen[:4]] == [0, 1, 1, 2]
    assert seen[2] == replace(seen[1], settled=True), "results of it may have left"
    assert seen[3].orders[0].words == "turned", "another order was at hand"
    assert log_of(drifting.settings).find("quotes", 1) == seen[2]
    assert sum(found) == wanted()
