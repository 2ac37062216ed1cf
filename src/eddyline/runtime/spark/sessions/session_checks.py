"""The user's Spark session as it is: settings that queries go by, and settings under which they would mean another thing.

    spark.sql.ansi.enabled             true, or refused: with it off Spark's coercions and failures differ
    spark.sql.session.timeZone         that of the query set, or refused
    spark.sql.timestampType            TIMESTAMP_LTZ, or refused: TIMESTAMP in a query is a point in time
    spark.sql.caseSensitive            either; names that differ only by case are refused where a query reads one
    collations                         UTF8_BINARY, or refused, by column
    spark.sql.parser.escapedStringLiterals  false, or refused: constants are handed to Spark with escapes
    spark.sql.variable.substitute      no matter: `${` is in no text that is handed to Spark

Nothing is changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from eddyline.errors import SetupError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# setting: what it must be, and why
_EXPECTED: Final[Mapping[str, tuple[str, str]]] = {
    "spark.sql.ansi.enabled": ("true", "queries follow Spark's ANSI rules"),
    "spark.sql.timestampType": ("TIMESTAMP_LTZ", "TIMESTAMP is a point in time in queries"),
    "spark.sql.parser.escapedStringLiterals": ("false", "constants are handed to Spark with escapes"),
    "spark.sql.session.collation.default": ("UTF8_BINARY", "queries compare texts by their bytes"),
}
_ZONE: Final = "spark.sql.session.timeZone"
_SAME_ZONES: Final = frozenset({"UTC", "Etc/UTC", "Z", "GMT", "UTC+00:00", "+00:00"})


def check(spark: SparkSession, *, time_zone: str) -> None:
    """Refuse settings under which Spark means something else by the same query."""
    for name, (expected, reason) in _EXPECTED.items():
        found = setting(spark, name)
        if found is not None and found.upper() != expected.upper():
            raise SetupError(
                f"the Spark session has {name} = {found}, but {reason}",
                hint=f'spark.conf.set("{name}", "{expected}")',
            )
    zone = setting(spark, _ZONE)
    if zone is not None and not _same_zone(zone, time_zone):
        raise SetupError(
            f"the Spark session has {_ZONE} = {zone}, but the queries were compiled for {time_zone}",
            hint=f'QuerySet.build(..., time_zone="{zone}"), or spark.conf.set("{_ZONE}", "{time_zone}")',
        )


def is_local(spark: SparkSession) -> bool:
    """Whether the workers run on the machine that the session's driver runs on, as far as the session tells."""
    return (setting(spark, "spark.master") or "").startswith("local")


def setting(spark: SparkSession, name: str) -> str | None:
    """A setting of the session, or None where it is not known there or not for everybody to read."""
    from pyspark.errors import PySparkException

    try:
        return spark.conf.get(name, None)
    except PySparkException:
        return None


def _same_zone(one: str, other: str) -> bool:
    return one == other or {one, other} <= _SAME_ZONES
