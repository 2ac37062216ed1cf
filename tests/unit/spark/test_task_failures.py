"""A task of a pipeline in which a query cannot be evaluated: the others deliver, and the task's summary says so."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import eddyline as ed
from eddyline.delivery.router import Outlet, Router
from eddyline.execute.locating import locate
from eddyline.functions.evaluate import evaluation
from eddyline.project.account import Account
from eddyline.registry import Put, Registry
from eddyline.runtime.spark.pipeline.batch.result_rows import DEAD_LETTER, SUMMARY, RowFormat, TypedColumns
from eddyline.runtime.spark.pipeline.batch.results import ResultWork, result_rows
from eddyline.runtime.spark.pipeline.batch.summary import Summary
from eddyline.runtime.spark.pipeline.input.identity import Identity
from eddyline.runtime.spark.sinks.shape import PART
from eddyline.runtime.spark.versions import Versions

NUMBERS = ed.Stream("numbers", pa.schema([("a", pa.int32()), ("text", pa.string())]))
BATCH = pa.record_batch({"a": list(range(100)), "text": ["x"] * 100}, NUMBERS.schema)
QUERIES = {
    "few": "SELECT a FROM numbers WHERE a < 5",
    "shouts": "SELECT a FROM numbers WHERE upper(text) = 'X'",
    "same": "SELECT a FROM numbers WHERE text = 'x' AND a > 97",
    "selects": "SELECT upper(text) AS u FROM numbers WHERE a = 7",
}


def failing(*arguments: Any, **named: Any) -> Any:
    raise RuntimeError("a mistake")


def ran(folder: Path) -> tuple[dict[str, int], Summary, Versions]:
    """Rows delivered for each query, and the summary of one task with two batches."""
    with Registry.open(folder / "registry.db") as registry:
        registry.change([Put(id, sql) for id, sql in QUERIES.items()], streams=[NUMBERS], author="ann")
        versions = Versions(registry, folder / "sets")
        shipment = versions.shipment(versions.current())
    router = Router([Outlet("results", default=True)])
    work = ResultWork(
        shipment,
        "numbers",
        "UTC",
        "source",
        1,
        Identity("content", ("a",)),
        None,
        router,
        False,
        tuple(BATCH.schema.names),
        version=3,
        format=RowFormat(TypedColumns({}, ("results",))),
    )
    *results, last = [row for batch in result_rows(work, iter([BATCH, BATCH])) for row in batch.to_pylist()]
    delivered: dict[str, int] = {}
    for row in results:
        if row[PART] == 0:
            delivered[row["query_id"]] = delivered.get(row["query_id"], 0) + 1
    assert last[PART] == SUMMARY and {row[PART] for row in results} <= {0, DEAD_LETTER}
    return delivered, Summary.of(last["payload"]), versions


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "eddyline")


def test_a_condition_that_cannot_be_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(evaluation.KERNELS, "upper", failing)
    delivered, summary, versions = ran(tmp_path)
    assert delivered == {"few": 10, "same": 4}
    queries = versions.queries(1)
    accounts = {queries.names(np.array([number]))[0].as_py(): account for number, account in summary.accounts}
    assert accounts["shouts"] == Account(failures=200), "every row of both batches"
    assert accounts["selects"] == Account(matches=2, undelivered=2, errors=2)
    assert summary.accounts.total.failures == 200 and summary.accounts.total.undelivered == 2
    assert summary.rows == 200 and list(summary.reasons.values()) == [2]


def test_an_executor_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (locate.NumberLocator, locate._Presence):
        monkeypatch.setattr(kind, "locate", failing)
    delivered, summary, _ = ran(tmp_path)
    assert delivered == {"few": 10, "shouts": 200, "same": 4, "selects": 2}
    assert not summary.accounts.total.failures and not summary.reasons
