"""`count(qs)`: how many rows of a DataFrame match each query, for `df.transform`.

Workers count; of a whole partition only one row per query comes back, so the cost does not follow the matches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.errors import EddylineError
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.base.schemas import find_columns, quoted
from eddyline.runtime.spark.dataframe.gathering import ROWS, BatchSizer, gathered
from eddyline.runtime.spark.dataframe.selections import selections_of
from eddyline.runtime.spark.dataframe.worker import Ids, MatchWork
from eddyline.runtime.spark.functions import external_columns, external_name
from eddyline.runtime.spark.sessions import session_checks
from eddyline.runtime.spark.transport.carrying import carried_rows
from eddyline.runtime.spark.transport.shipping import ship

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def count(
    qs: QuerySet,
    *,
    stream: str | None = None,
    ids: Ids = "id",
    folder: str | Path | None = None,
    functions: Collection[str] = (),
) -> Callable[[DataFrame], DataFrame]:
    """What `df.transform` takes to give the number of matching rows of each query that has some.

    The columns are `query_id` (with `ids="number"` it is `query_number`) and `matches`. It is what
    `match(qs, explode=True)` grouped and counted by that column gives, without the matches being made. On a stream it is an
    aggregation: Spark wants the output mode `complete` or `update`.

    `folder` and `functions` are as for `match`. Nothing runs before the DataFrame's own job.
    """
    if ids not in ("id", "number"):
        raise EddylineError(f'ids is "id" or "number", not {ids!r}')
    qs = selections_of(qs)
    source = qs.stream(stream)
    columns, externals = qs.columns_read(source.name), qs.externals(source.name)
    place = None if folder is None else str(folder)

    def transformed(df: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        spark = df.sparkSession
        session_checks.check(spark, time_zone=qs.time_zone)
        found = find_columns(df.schema, source, columns)
        shipment = ship(qs, folder=place, local=session_checks.is_local(spark))
        work = MatchWork(
            shipment, source.name, tuple(found), ids, explode=True, keep_unmatched=False, externals=externals
        )
        read = [F.col(quoted(column)).alias(f"_{place}") for place, column in enumerate(found.values())]
        computed = external_columns(df, externals, allowed=functions)
        read += [column.alias(external_name(place)) for place, column in enumerate(computed)]
        key = "query_number" if ids == "number" else "query_id"
        kind = "INT" if ids == "number" else "STRING"
        counted = df.select(*read or [F.lit(True)]).mapInArrow(
            carried_rows(partial(partition_counts, work)), f"{key} {kind}, matches BIGINT"
        )
        return counted.groupBy(key).agg(F.sum("matches").alias("matches"))

    return transformed


def partition_counts(work: MatchWork, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In the worker: the matches of all batches together, those queries alone that have some."""
    queries = work.shipment.open()
    names = [*work.columns, *map(external_name, range(len(work.externals)))]
    totals: npt.NDArray[np.int64] | None = None
    for batch in gathered(batches, BatchSizer(ROWS)):
        # a column that no query reads says how many rows there are
        named = batch.rename_columns(names or [""])
        known = {call: batch.column(len(work.columns) + place) for place, call in enumerate(work.externals)}
        totals = queries.totals(named, stream=work.stream, known=known, into=totals)
    if totals is not None:
        found = np.flatnonzero(totals)
        ids = pa.array(found, pa.int32()) if work.ids == "number" else queries.names(found)
        yield pa.RecordBatch.from_arrays([ids, pa.array(totals[found])], names=["query", "matches"])
