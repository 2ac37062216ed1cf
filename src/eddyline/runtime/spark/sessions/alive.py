"""Whether the Java behind a session is still there, and how many executors it has: what only Classic sessions can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eddyline.runtime.spark.sessions.session_checks import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_remote(spark: SparkSession) -> bool:
    """Whether it is a session of Spark Connect, behind which there is a server."""
    return ".connect." in type(spark).__module__


def why_gone(spark: SparkSession) -> str | None:
    """Why nothing can be asked of a session any more; None where it can, or where a server may come back (Connect)."""
    from py4j.protocol import Py4JNetworkError  # type: ignore[import-untyped]

    if is_remote(spark):
        return None
    try:
        context: Any = spark.sparkContext
        if context._jsc is None or context._jsc.sc().isStopped():
            return "its Spark session was stopped"
    except (Py4JNetworkError, OSError):  # nobody listens where Java listened
        return "the Java process of Spark has ended"
    except Exception:
        return None  # whatever this is, Java has answered
    return None


def has_executors(spark: SparkSession) -> bool:
    """Whether its tasks run in executors of a cluster, which can be counted."""
    return not is_remote(spark) and not is_local(spark)


def count_executors(spark: SparkSession) -> int:
    """How many executors are there now, the driver not counted."""
    context: Any = spark.sparkContext
    return len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1
