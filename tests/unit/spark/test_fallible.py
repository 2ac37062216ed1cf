"""Operations that fail in conditions: who of a version has them, through changes and from disk."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import eddyline as ed
from eddyline.registry import Drop, Put, Registry
from eddyline.runtime.spark.versions import Versions, open_deliverables

NUMBERS = ed.Stream("numbers", pa.schema([("a", pa.int32()), ("b", pa.int32()), ("text", pa.string())]))
OTHERS = ed.Stream("others", pa.schema([("a", pa.int32())]))
BATCH = pa.record_batch(
    {"a": [1, 2, None, 4], "b": [0, 1, 0, 0], "text": ["1", "x", "3", None]}, NUMBERS.schema
)
QUERIES = {
    "divides": "SELECT a FROM numbers WHERE a / b > 1",
    "divides too": "SELECT b FROM numbers WHERE a / b < 9 AND CAST(text AS INT) = 3",
    "plain": "SELECT a FROM numbers WHERE a > 1 AND b = 0",
    "floating": "SELECT a FROM numbers WHERE CAST(a AS DOUBLE) * 2 + 1 > 4",
    "elsewhere": "SELECT a FROM others WHERE a / a = 1",
}


def failures(versions: Versions, version: int) -> dict[str, int]:
    """What a task counts in one batch, given to the queries by the driver."""
    shipment = versions.shipment(version)
    queries, table = shipment.open(), open_deliverables(shipment)
    counts = dict.fromkeys(table.fallible_in("numbers").expressions, 0)
    queries.match(BATCH, stream="numbers", failed=counts)
    driver = versions.table(version).fallible_in("numbers")
    assert driver.expressions == tuple(counts)
    found = driver.by_query({place: rows for place, rows in enumerate(counts.values()) if rows})
    return {table.ids[number].as_py(): count for number, count in found.items()}


def test_failures_belong_to_queries(tmp_path: Path) -> None:
    with Registry.open(tmp_path / "registry.db") as registry:
        edits = [Put(id, sql) for id, sql in QUERIES.items()]
        registry.change(edits, streams=[NUMBERS, OTHERS], author="ann")
        versions = Versions(registry, tmp_path / "sets")
        assert failures(versions, versions.current()) == {"divides": 2, "divides too": 2 + 1}
        registry.change(
            [Drop("divides too"), Put("new", "SELECT a FROM numbers WHERE a % b = 0")], author="ann"
        )
        again = Versions(registry, tmp_path / "sets")
        for each in (versions, again):
            assert failures(each, each.current()) == {"divides": 2, "new": 2}


def test_what_nobody_asks_for_is_not_computed(tmp_path: Path) -> None:
    with Registry.open(tmp_path / "registry.db") as registry:
        edits = [Put(id, QUERIES[id]) for id in ("plain", "floating", "divides too")]
        registry.change(edits, streams=[NUMBERS], author="ann")
        registry.change([Drop("divides too")], author="ann")
        versions = Versions(registry, tmp_path / "sets")
        version = versions.current()
        assert versions.table(version).fallible_in("numbers").expressions == ()
