"""`match_column(qs)`: the queries of each row as a column, for places that take an expression and nothing else.

Some platforms and modes have no `mapInArrow` and no generators; a scalar Arrow function is what they may take.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from eddyline.errors import EddylineError, SchemaError, SetupError
from eddyline.model.catalog import Stream
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.base.schemas import quoted
from eddyline.runtime.spark.dataframe.match import kind_of
from eddyline.runtime.spark.dataframe.selections import selections_of
from eddyline.runtime.spark.dataframe.worker import Ids, MatchWork, query_lists
from eddyline.runtime.spark.sessions import session_checks
from eddyline.runtime.spark.transport.carrying import carried_column
from eddyline.runtime.spark.transport.shipping import ship

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession


def match_column(
    qs: QuerySet,
    *,
    stream: str | None = None,
    ids: Ids = "id",
    columns: Mapping[str, Column | str] | None = None,
    folder: str | Path | None = None,
) -> Column:
    """The queries that a row satisfies, as a column for `select` and `withColumn`: an array, empty where none matches.

    ```py
    df.select("*", match_column(queries).alias("query_ids"))
    ```

    It is an array of texts, with `ids="number"` of integers. The columns that queries read are found by their names;
    `columns` says what to read instead of one, by a name or by a column of Spark. They have to be of the declared types:
    what does not fit ends the job, where `match` would have refused it before.

    Spark is told that it is not deterministic, or a filter on it would evaluate it again. So other filters belong in
    front of it: Spark does not move them below. `match` has neither limit, and knows functions that only Spark has; it is
    the better choice wherever it is allowed. `folder` is as for `match`. A session has to be active.
    """
    if not isinstance(qs, QuerySet):
        raise EddylineError(
            f"match_column takes a QuerySet, not {type(qs).__name__}", hint="ed.QuerySet.build(...)"
        )
    if ids not in ("id", "number"):
        raise EddylineError(f'ids is "id" or "number", not {ids!r}')
    qs = selections_of(qs)
    source = qs.stream(stream)
    if qs.externals(source.name):
        raise EddylineError(
            "match_column does not take queries with functions that only Spark has",
            hint="df.transform(match(queries)) does; or have the values computed in front, as columns of the stream",
        )
    spark = _active_session()
    session_checks.check(spark, time_zone=qs.time_zone)
    names = qs.columns_read(source.name)
    shipment = ship(qs, folder=None if folder is None else str(folder), local=session_checks.is_local(spark))
    work = MatchWork(shipment, source.name, names, ids, explode=False, keep_unmatched=True)
    return _column(work, _read(names, source, columns or {}))


def _active_session() -> SparkSession:
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    if spark is None:
        raise SetupError(
            "no Spark session is active, which a column needs",
            hint="start one first: eddyline.spark.session(), or SparkSession.builder.getOrCreate()",
        )
    return spark


def _read(names: tuple[str, ...], source: Stream, given: Mapping[str, Column | str]) -> list[Column]:
    """What is handed to Python, in the order of the names."""
    from pyspark.sql import functions as F

    unknown = [name for name in given if name.lower() not in source.spelling]
    if unknown:
        raise SchemaError(
            f'stream "{source.name}" has no column "{unknown[0]}"',
            hint=f"its columns are {', '.join(source.schema.names[:12])}",
        )
    instead = {source.spelling[name.lower()]: column for name, column in given.items()}
    found = [instead.get(name, quoted(name)) for name in names]
    return [F.col(one) if isinstance(one, str) else one for one in found] or [F.lit(True)]


def _column(work: MatchWork, columns: list[Column]) -> Column:
    from pyspark.sql import functions as F

    function = carried_column(partial(query_lists, work), len(columns))
    udf: Any = F.arrow_udf(function, kind_of(work))  # type: ignore[attr-defined]
    return cast("Column", udf.asNondeterministic()(*columns))
