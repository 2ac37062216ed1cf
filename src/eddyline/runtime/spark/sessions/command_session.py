"""The Spark session of a command: the one that this process has already, else one that ends with the command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from eddyline.runtime.spark.sessions.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ZONE: Final = "spark.sql.session.timeZone"


@contextmanager
def command_session(
    settings: Mapping[str, str] | None = None,
    *,
    time_zone: str = "UTC",
    cores: int | None = None,
    remote: str | None = None,
) -> Iterator[SparkSession]:
    """A session in a time zone; one that was there before is given back as it was."""
    before = _active()
    if before is None:
        config = {**(settings or {}), _ZONE: time_zone}
        running = session(cores=cores, config=config) if remote is None else _remote(remote, config)
        try:
            yield running
        finally:
            running.stop()
        return
    zone = before.conf.get(_ZONE) or "UTC"
    before.conf.set(_ZONE, time_zone)
    try:
        yield before
    finally:
        before.conf.set(_ZONE, zone)


def _remote(address: str, config: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(address)
    for key, value in config.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _active() -> SparkSession | None:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        return None  # session() says what is missing
    return SparkSession.getActiveSession()
