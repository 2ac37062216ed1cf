"""A registry with some queries, and what a compiled version of it must be."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import eddyline as ed
from eddyline.registry import Put, Registry, State
from eddyline.runtime.spark.versions import Versions, open_deliverables
from eddyline.standing.saved.files import read_manifest

QUOTES = ed.Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
BATCH = pa.record_batch(
    {"symbol": [f"S{i % 5}" for i in range(100)], "price": [float(i) for i in range(100)]}
)


def text(i: int) -> str:
    shape = (
        "SELECT symbol FROM quotes WHERE price < {0}",
        "SELECT * FROM quotes WHERE symbol = 'S{0}'",
        "SELECT price + 1 AS more, upper(symbol) AS name FROM quotes WHERE price > {0} AND symbol <> 'S1'",
    )[i % 3]
    return shape.format(i % 50)


def filled(where: str | Path, queries: int) -> Registry:
    registry = Registry.open(where)
    registry.declare(QUOTES, author="ann")
    registry.change([Put(f"q{i}", text(i)) for i in range(queries)], author="ann")
    return registry


def check(versions: Versions, registry: Registry, version: int) -> None:
    """A compiled version is what the registry says of it, as the driver and as a worker see it."""
    shipment = versions.shipment(version)
    assert shipment.folder is not None
    problems = read_manifest(Path(shipment.folder))["notes"]["problems"]
    entries = [
        entry
        for entry in registry.entries(version)
        if entry.state != State.DISABLED and entry.id not in problems
    ]
    wanted = ed.QuerySet.build({entry.id: entry.sql for entry in entries}, streams=registry.streams(version))
    queries, table = shipment.open(), open_deliverables(shipment)
    assert queries.count(BATCH, stream="quotes") == wanted.count(BATCH, stream="quotes")
    assert table.version == queries.version == version
    assert queries.size == len(table.ids) == len(table.revision)
    driver = versions.table(version)
    assert driver.version == version and driver.ids == table.ids
    for entry in entries:
        number = queries.number(entry.id)
        assert table.ids[number].as_py() == entry.id
        assert (table.revision[number], table.number[number]) == (entry.revision, entry.number)
        assert table.shadow[number] == (entry.state == State.SHADOW)
        assert table.destinations[table.destination[number]] == entry.destination
        select = table.select_list_of(number)
        names = entry.sql.split("SELECT ")[1].split(" FROM")[0]
        assert select.stream == QUOTES and len(select.outputs) == (1 if names == "symbol" else 2)
        assert driver.select_list_of(number).outputs == select.outputs
