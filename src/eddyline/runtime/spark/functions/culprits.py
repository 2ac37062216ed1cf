"""Which of the calls that Spark computes fail on some data: one that fails would take the whole batch with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from eddyline.model.expression import Call
from eddyline.runtime.spark.failures import in_words
from eddyline.runtime.spark.functions.columns import external_columns, external_name
from eddyline.runtime.spark.functions.wording import in_short

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_RUNS: Final = 64  # jobs; calls that are not cleared by then are taken for culprits
_CANCELLED: Final = ("SPARK_JOB_CANCELLED", "InterruptedException")  # what a job says that was stopped


def find_culprits(
    df: DataFrame, calls: Sequence[Call], *, allowed: Collection[str] = (), most_runs: int = MOST_RUNS
) -> dict[Call, str]:
    """The calls that fail on a DataFrame, with what Spark says; empty if none does.

    By halves: one culprit among 1,000 takes some 20 jobs. Where the DataFrame fails without any of them, that error is
    raised.
    """
    df.write.format("noop").mode("overwrite").save()
    culprits: dict[Call, str] = {}
    pending, runs = [tuple(calls)] if calls else [], 0
    while pending:
        group = pending.pop()
        reason = _failure(df, group, allowed) if runs < most_runs else "not looked at alone: too many fail"
        runs += 1
        if reason is None:
            continue
        if len(group) == 1 or runs > most_runs:
            culprits |= dict.fromkeys(group, reason)
        else:
            middle = len(group) // 2
            pending += [group[middle:], group[:middle]]
    return culprits


def _failure(df: DataFrame, calls: Sequence[Call], allowed: Collection[str]) -> str | None:
    """What Spark says if it cannot compute the calls for all rows; an end that has other causes is raised."""
    columns = external_columns(df, calls, allowed=allowed)
    named = [column.alias(external_name(place)) for place, column in enumerate(columns)]
    try:
        df.select(*named).write.format("noop").mode("overwrite").save()
    except Exception as error:
        if not _is_of_the_calls(error):
            raise
        return _reason(error)
    return None


def _is_of_the_calls(error: Exception) -> bool:
    """Whether a job failed by itself: it was not stopped, and Spark is still there."""
    from pyspark.errors import PySparkException

    if any(mark in str(error) for mark in _CANCELLED):
        return False
    return isinstance(error, PySparkException) or _is_plain_java(error)


def _is_plain_java(error: Exception) -> bool:
    """Whether it is an exception of Java's own, for which Spark has no class: `format_string('%d', text)` throws one."""
    return type(error).__name__ == "Py4JJavaError"  # not imported: Spark Connect does without py4j


def _reason(error: Exception) -> str:
    return in_words(error, 300) if _is_plain_java(error) else in_short(error)
