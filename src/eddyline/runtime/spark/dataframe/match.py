"""`match(qs)`: a DataFrame with the queries that each row satisfies, for `df.transform`.

There are two ways from Spark to Python and back, and a rule:

    every column that the DataFrame has is read by some query    rows go to Python, those that match come back
    otherwise                                                    the columns that queries read go to Python, one list a
                                                                 row comes back, all other columns stay where they are

The second way keeps Spark free to leave out what nobody asks for afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from eddyline.errors import EddylineError, SchemaError
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.base.schemas import find_columns, quoted
from eddyline.runtime.spark.dataframe.selections import selections_of
from eddyline.runtime.spark.dataframe.worker import Ids, MatchWork, matching_rows, query_lists
from eddyline.runtime.spark.functions import external_columns
from eddyline.runtime.spark.sessions import session_checks
from eddyline.runtime.spark.transport.carrying import carried_column, carried_rows
from eddyline.runtime.spark.transport.shipping import ship

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import ArrayType, StructType

Way = Literal["rows", "lists"]
_NAMES: Final = {
    ("id", False): "query_ids",
    ("id", True): "query_id",
    ("number", False): "query_numbers",
    ("number", True): "query_number",
}


def match(
    qs: QuerySet,
    *,
    stream: str | None = None,
    ids: Ids = "id",
    explode: bool = False,
    keep_unmatched: bool = False,
    folder: str | Path | None = None,
    functions: Collection[str] = (),
    _way: Way | None = None,
) -> Callable[[DataFrame], DataFrame]:
    """What `df.transform` takes to give the rows that match, with one more column that says which queries.

    The column is `query_ids`, an array of texts; with `ids="number"` it is `query_numbers`, an array of integers, which
    is quicker. With `explode` there is one row per match, and a column `query_id` or `query_number`. Rows without a match
    are left out unless `keep_unmatched`.

    `folder` is where the compiled set is put for the workers: a path that all machines share, or a URL that fsspec
    opens. Without one small sets travel inside the plan, and larger ones work only where Spark runs on this machine.

    Calls that only Spark can compute are computed by it in front; `functions` names those of the session's catalog that
    queries may use. Nothing runs before the DataFrame's own job, and the session is left as it is. Joins of the set are
    left out, with a warning.
    """
    if not isinstance(qs, QuerySet):
        raise EddylineError(f"match takes a QuerySet, not {type(qs).__name__}", hint="ed.QuerySet.build(...)")
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
        schema = _schema(df)
        known = [] if schema is None else schema.names
        found = {c: c for c in columns} if schema is None else find_columns(schema, source, columns)
        name = _NAMES[ids, explode]
        if name in [other.lower() for other in known]:
            raise SchemaError(
                f'the DataFrame for stream "{source.name}" has a column "{name}" already',
                hint="rename it first",
            )
        shipment = ship(qs, folder=place, local=session_checks.is_local(spark))
        work = MatchWork(
            shipment,
            source.name,
            tuple(found),
            ids,
            explode=explode,
            keep_unmatched=keep_unmatched,
            externals=externals,
        )
        way = _way or ("rows" if set(found.values()) == set(known) else "lists")
        if way == "rows" and not externals and schema is not None:
            return _matching_rows(df, work, list(found.values()), name)
        read = [F.col(quoted(column)) for column in found.values()]
        if externals:
            read += external_columns(df, externals, allowed=functions)
        return _with_lists(df, work, read or [F.lit(True)], name)

    return transformed


def _schema(df: DataFrame) -> StructType | None:
    """The DataFrame's schema; None inside declarative pipelines, where it is not told before they run."""
    from pyspark.errors import AnalysisException

    try:
        return df.schema
    except AnalysisException as error:
        if error.getCondition() != "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION":
            raise
        return None  # the workers check the columns then


def _matching_rows(df: DataFrame, work: MatchWork, columns: Sequence[str], name: str) -> DataFrame:
    from pyspark.sql.types import StructType

    kind = kind_of(work)
    nullable = work.explode and work.keep_unmatched
    schema = StructType(list(df.schema.fields)).add(
        name, kind.elementType if work.explode else kind, nullable=nullable
    )
    places = tuple([df.columns.index(column) for column in columns])
    # mapInArrow stumbles over names with dots
    plain = df.toDF(*[f"_{place}" for place in range(len(df.columns))])
    return plain.mapInArrow(carried_rows(partial(matching_rows, work, places)), schema)


def _with_lists(df: DataFrame, work: MatchWork, columns: Sequence[Column], name: str) -> DataFrame:
    """The DataFrame with the matcher's column, made by a generator.

    A plain column could be had in two ways only. As a deterministic one Spark evaluates it a second time for every filter on
    it; as a nondeterministic one Spark moves no filter below it, and reads whole structs where one field is asked for. What a
    generator gives is evaluated once, and all that is about other columns still moves below it.
    """
    from pyspark.sql import functions as F

    lists = _lists(work, columns)
    if work.explode:
        generated = F.explode_outer(lists) if work.keep_unmatched else F.explode(lists)
    elif work.keep_unmatched:
        generated = F.explode(F.array(lists))
    else:  # NULL gives no row; a filter behind the generator would keep whole structs in the plan again
        generated = F.explode(F.when(F.size(lists) > 0, F.array(lists)))
    return df.withColumn(name, generated)


def _lists(work: MatchWork, columns: Sequence[Column]) -> Column:
    """The matcher as one column."""
    from pyspark.sql import functions as F

    function = carried_column(partial(query_lists, work), len(columns))
    return cast("Column", F.arrow_udf(function, kind_of(work))(*columns))  # type: ignore[attr-defined]


def kind_of(work: MatchWork) -> ArrayType:
    """The type of a row's queries; Spark need not look for a NULL at each of them, which was half of reading them."""
    from pyspark.sql.types import ArrayType, IntegerType, StringType

    return ArrayType(IntegerType() if work.ids == "number" else StringType(), containsNull=False)
