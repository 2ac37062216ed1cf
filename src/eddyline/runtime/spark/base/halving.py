"""Which of several things make Spark's jobs fail: one that fails would take all others with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

Item = TypeVar("Item")

_CANCELLED: Final = ("SPARK_JOB_CANCELLED", "InterruptedException")  # what a job says that was stopped


def find_failing(
    items: Sequence[Item],
    failure: Callable[[Sequence[Item]], str | None],
    *,
    most_runs: int | None = None,
    otherwise: str = "",
) -> dict[Item, str]:
    """The items that fail, with the reason of each; `failure` says why some of them fail together, None if they do not.

    By halves: one among 1,000 takes some 20 runs. Items that are not cleared after `most_runs` are taken for failing, with
    the reason `otherwise`.

    >>> find_failing(range(1000), lambda some: "odd" if 17 in some or 400 in some else None)
    {17: 'odd', 400: 'odd'}
    """
    found: dict[Item, str] = {}
    pending, runs = [tuple(items)] if items else [], 0
    while pending:
        group = pending.pop()
        over = most_runs is not None and runs >= most_runs
        reason = otherwise if over else failure(group)
        runs += 1
        if reason is None:
            continue
        if len(group) == 1 or over:
            found |= dict.fromkeys(group, reason)
        else:
            middle = len(group) // 2
            pending += [group[middle:], group[:middle]]
    return found


def failed_by_itself(error: Exception) -> bool:
    """Whether a job failed by itself: it was not stopped, and Spark is still there."""
    from pyspark.errors import PySparkException

    if was_stopped(error):
        return False
    return isinstance(error, PySparkException) or is_plain_java(error)


def was_stopped(error: Exception) -> bool:
    """Whether a job failed because it was stopped, with its query or by somebody."""
    return any(mark in str(error) for mark in _CANCELLED)


def is_plain_java(error: Exception) -> bool:
    """Whether it is an exception of Java's own, for which Spark has no class: `format_string('%d', text)` throws one."""
    return type(error).__name__ == "Py4JJavaError"  # not imported: Spark Connect does without py4j
