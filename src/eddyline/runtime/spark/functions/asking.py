"""Spark for commands that only ask it what queries mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from eddyline.model.catalog import Stream
from eddyline.runtime.spark.functions.resolver import spark_resolver
from eddyline.runtime.spark.sessions.command_session import command_session
from eddyline.sql.resolver import Resolver


@contextmanager
def asking_spark(time_zone: str = "UTC") -> Iterator[Callable[[Iterable[Stream]], Resolver]]:
    """A function that gives the resolver for some streams; the session ends with the block, if it began with it."""
    with command_session(time_zone=time_zone, cores=1) as spark:
        yield lambda streams: spark_resolver(spark, streams)
