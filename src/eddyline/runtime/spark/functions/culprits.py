"""Which of the calls that Spark computes fail on some data: one that fails would take the whole batch with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from eddyline.model.expression import Call
from eddyline.runtime.spark.functions.columns import external_columns, external_name
from eddyline.runtime.spark.functions.wording import in_short

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_RUNS: Final = 64  # jobs; calls that are not cleared by then are taken for culprits


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
    """What Spark says if it cannot compute the calls for all rows."""
    from pyspark.errors import PySparkException

    columns = external_columns(df, calls, allowed=allowed)
    named = [column.alias(external_name(place)) for place, column in enumerate(columns)]
    try:
        df.select(*named).write.format("noop").mode("overwrite").save()
    except PySparkException as error:
        return in_short(error)
    return None
