"""Results as sinks get them, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from eddyline.runtime.spark.pipeline.settings import SinkSettings
from eddyline.runtime.spark.pipeline.values import Batch, PipelineIdentity

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ARROW = pa.schema(
    [
        ("destination", pa.string()),
        ("query_id", pa.string()),
        ("query_revision", pa.int32()),
        ("query_number", pa.int64()),
        ("version", pa.int64()),
        ("source", pa.string()),
        ("batch_id", pa.int64()),
        ("tuple_key", pa.string()),
        ("event_time", pa.timestamp("us", "UTC")),
        ("payload", pa.string()),
        ("projection", pa.int32()),
    ]
)
US = PipelineIdentity("id-1", "market", "/state")
THEM = PipelineIdentity("id-2", "market", "/other")
NOON = datetime(2026, 3, 4, 12, 0, 0, 123456, tzinfo=UTC)


def batch_of(number: int = 0, source: str = "quotes") -> Batch:
    return Batch(US.id, US.name, source, number, 3, NOON)


def settings_of(format: str, path: Any = None, **more: Any) -> SinkSettings:
    return SinkSettings(
        name=more.pop("name", "out"), format=format, path=None if path is None else str(path), **more
    )


def rows_of(
    spark: SparkSession, queries: Sequence[str], batch: Batch | None = None, **columns: Sequence[Any]
) -> DataFrame:
    """One result for each query; `columns` override what they hold."""
    batch = batch or batch_of()
    whole: dict[str, Sequence[Any]] = {
        "destination": ["out"] * len(queries),
        "query_id": queries,
        "query_revision": [1] * len(queries),
        "query_number": list(range(len(queries))),
        "version": [batch.version] * len(queries),
        "source": [batch.source] * len(queries),
        "batch_id": [batch.batch_id] * len(queries),
        "tuple_key": [f'{{"id":{place}}}' for place in range(len(queries))],
        "event_time": [NOON] * len(queries),
        "payload": [f'{{"n":{place}}}' for place in range(len(queries))],
        "projection": [0] * len(queries),
    }
    arrays = [
        pa.array(list(values), kind)
        for values, kind in zip({**whole, **columns}.values(), ARROW.types, strict=True)
    ]
    return spark.createDataFrame(pa.Table.from_arrays(arrays, schema=ARROW))
