"""Results as sinks get them, made by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.base.values import Batch, PipelineIdentity
from eddyline.runtime.spark.sinks.typed import SELECTED, typed_list

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
    ]
)
DDL = (
    "destination string, query_id string, query_revision int, query_number bigint, version bigint, source string, "
    "batch_id bigint, tuple_key string, event_time timestamp, payload string"
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
    spark: SparkSession,
    queries: Sequence[str],
    batch: Batch | None = None,
    *,
    selected: pa.Table | None = None,
    **columns: Sequence[Any],
) -> DataFrame:
    """One result for each query; `columns` override what they hold, `selected` is what comes as typed columns."""
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
    }
    arrays = [
        pa.array(list(values), kind)
        for values, kind in zip({**whole, **columns}.values(), ARROW.types, strict=True)
    ]
    table = pa.Table.from_arrays(arrays, schema=ARROW)
    if selected is None:
        return spark.createDataFrame(table)
    typed = typed_list(selected.schema)
    assert typed is not None
    table = table.append_column(SELECTED, selected.combine_chunks().to_struct_array())
    # as the workers of a pipeline hand them over
    schema = f"{DDL}, {SELECTED} struct<{typed.ddl}>"
    return spark.range(1, numPartitions=1).mapInArrow(partial(_given, table.combine_chunks()), schema)


def _given(table: pa.Table, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield from table.to_batches()
