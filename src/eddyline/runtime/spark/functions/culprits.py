"""Which of the calls that Spark computes fail on some data: one that fails would take the whole batch with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from eddyline.model.expression import Call
from eddyline.runtime.spark.base.failures import in_words
from eddyline.runtime.spark.base.halving import failed_by_itself, find_failing, is_plain_java
from eddyline.runtime.spark.functions.columns import external_columns, external_name
from eddyline.runtime.spark.functions.wording import in_short

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_RUNS: Final = 64  # jobs; calls that are not cleared by then are taken for culprits


def find_culprits(
    df: DataFrame, calls: Sequence[Call], *, allowed: Collection[str] = (), most_runs: int = MOST_RUNS
) -> dict[Call, str]:
    """The calls that fail on a DataFrame, with what Spark says; empty if none does.

    Where the DataFrame fails without any of them, that error is raised.
    """
    df.write.format("noop").mode("overwrite").save()
    return find_failing(
        calls,
        partial(_failure, df, allowed=allowed),
        most_runs=most_runs,
        otherwise="not looked at alone: too many fail",
    )


def _failure(df: DataFrame, calls: Sequence[Call], *, allowed: Collection[str]) -> str | None:
    """What Spark says if it cannot compute the calls for all rows; an end that has other causes is raised."""
    columns = external_columns(df, calls, allowed=allowed)
    named = [column.alias(external_name(place)) for place, column in enumerate(columns)]
    try:
        df.select(*named).write.format("noop").mode("overwrite").save()
    except Exception as error:
        if not failed_by_itself(error):
            raise
        return _reason(error)
    return None


def _reason(error: Exception) -> str:
    return in_words(error, 300) if is_plain_java(error) else in_short(error)
