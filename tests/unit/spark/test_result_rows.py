"""The rows of a task, as each sink wants them: text, typed columns, or both; dead letters; the summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import eddyline as ed
from eddyline.delivery.router import Outlet, Router
from eddyline.project.account import Account
from eddyline.registry import Put, Registry, State
from eddyline.runtime.spark.pipeline.batch.result_rows import DEAD_LETTER, SUMMARY, RowFormat, TypedColumns
from eddyline.runtime.spark.pipeline.batch.results import ResultWork, result_rows
from eddyline.runtime.spark.pipeline.batch.summary import Summary
from eddyline.runtime.spark.pipeline.input.identity import Identity
from eddyline.runtime.spark.sinks.shape import PART
from eddyline.runtime.spark.sinks.typed import TypedList
from eddyline.runtime.spark.versions import Versions, open_deliverables

NUMBERS = ed.Stream("numbers", pa.schema([("a", pa.int32()), ("text", pa.string())]))
BATCH = pa.record_batch({"a": [1, 2, 3], "text": ["x", "y", "z"]}, NUMBERS.schema)
SQL = "SELECT a FROM numbers WHERE a >= {}"
SINKS = ("typed", "both", "text")
QUERIES = (
    Put("typed", SQL.format(2), destination="typed"),
    Put("both", SQL.format(2), destination="both"),
    Put("text", SQL.format(2), destination="text"),
    Put("other", "SELECT text FROM numbers WHERE a = 3", destination="typed"),
    Put("lost", SQL.format(3), destination="nowhere"),
    Put("shadow", SQL.format(0), state=State.SHADOW, destination="typed"),
)


def made(folder: Path, *, typed: bool) -> tuple[list[dict[str, Any]], Summary]:
    """Result rows and summary of a task over two batches."""
    with Registry.open(folder / "registry.db") as registry:
        registry.change(QUERIES, streams=[NUMBERS], author="ann")
        versions = Versions(registry, folder / "sets")
        shipment = versions.shipment(versions.current())
    table = open_deliverables(shipment)
    (number,) = [n for n in np.unique(table.select).tolist() if table.select_list(n).schema.names == ["a"]]
    lists = {
        "typed": TypedList(("a",), ("int",), (number,)),
        "both": TypedList(("a",), ("int",), (number,), beside_payload=True),
    }
    work = ResultWork(
        shipment,
        "numbers",
        "UTC",
        "source",
        1,
        Identity("key", ("a",)),
        None,
        Router([Outlet(name) for name in SINKS]),
        False,
        tuple(BATCH.schema.names),
        version=3,
        format=RowFormat(TypedColumns(lists if typed else {}, SINKS)),
    )
    *rows, last = [row for batch in result_rows(work, iter([BATCH, BATCH])) for row in batch.to_pylist()]
    assert last[PART] == SUMMARY
    return [_told(row) for row in rows], Summary.of(last["payload"])


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """A row with what its part means in words."""
    if row[PART] == DEAD_LETTER:
        return {**row, "kind": "dead letter", "sink": None}
    return {**row, "kind": "result", "sink": SINKS[row[PART]]}


def shown(rows: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    return {
        (row["query_id"], row["kind"], row["sink"], row["payload"], str(row.get("typed_0")))
        for row in rows
        if row["tuple_key"] == '{"a":3}'
    }


def test_what_each_sink_wants(tmp_path: Path) -> None:
    rows, summary = made(tmp_path, typed=True)
    assert shown(rows) == {
        ("typed", "result", "typed", None, "{'a': 3}"),
        ("both", "result", "both", '{"a":3}', "{'a': 3}"),
        ("text", "result", "text", '{"a":3}', "None"),
        ("other", "result", "typed", '{"text":"z"}', "None"),
        ("lost", "dead letter", None, '{"a":3}', "None"),
    }
    assert len(rows) == 2 * 8 and {row["reason"] for row in rows if row["kind"] == "result"} == {None}
    assert summary.rows == 6 and summary.matched_rows == 6
    assert summary.sinks == {"typed": 6, "both": 4, "text": 4} and list(summary.reasons.values()) == [2]
    assert summary.accounts.total == Account(matches=22, delivered=14, shadowed=6, undelivered=2)
    summary.accounts.check()


def test_text_alone(tmp_path: Path) -> None:
    """Without typed columns the same rows come, all of them as text."""
    rows, summary = made(tmp_path, typed=False)
    assert {row[:2] for row in shown(rows)} == {
        ("typed", "result"),
        ("both", "result"),
        ("text", "result"),
        ("other", "result"),
        ("lost", "dead letter"),
    }
    assert all(row["payload"] for row in rows) and "typed_0" not in rows[0]
    assert summary.accounts.total.delivered == 14
