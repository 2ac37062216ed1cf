"""Columns that Spark has no type for are handed through by joins, too."""

from __future__ import annotations

import pyarrow as pa
import pytest

import eddyline as ed


def test_columns_without_a_type_in_tables_and_engines() -> None:
    schema = pa.schema([("k", pa.string()), ("ts", pa.int64()), ("clock", pa.time32("s"))])
    streams = [ed.Stream(name, schema, "ts", 5) for name in ("a", "b")]
    join = {"same": "SELECT * FROM a JOIN b ON a.k = b.k AND a.ts = b.ts"}
    batch = pa.record_batch([["x"], [1], pa.array([5], pa.time32("s"))], schema=schema)
    spelled = batch.rename_columns(["k", "ts", "Clock"])
    assert ed.QuerySet.build(join, streams=streams).join({"a": batch, "b": spelled}).counts() == {"same": 1}
    with ed.Engine(streams=streams) as engine:
        engine.add(join)
        engine.push("a", spelled)
        [found] = engine.push("b", batch).tables
    assert found["a_clock"].to_pylist() == found["b_clock"].to_pylist() == batch["clock"].to_pylist()
    with pytest.raises(ed.SchemaError, match='has no column "clock"'):
        ed.QuerySet.build(join, streams=streams).join({"a": batch.select(["k", "ts"]), "b": batch})
