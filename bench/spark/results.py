"""What a way to match has found, in one form, so that all of them can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

Digest = tuple[int, int]
HASHES = 1 << 32


def digest(found: DataFrame, columns: list[str]) -> Digest:
    """How many pairs of a tuple and a query number there are, and the sum of their hashes.

    The numbers are in a column `query_numbers`, or there is a row for each in `query_number`, or columns `q0`, `q1` ... say
    which hold.
    """
    from pyspark.sql import functions as F

    if "query_numbers" in found.columns:
        found = found.select(*columns, F.explode("query_numbers").alias("query_number"))
    elif "query_number" not in found.columns:
        found = _told(found, columns)
    number = F.col("query_number").cast("int")
    hashes = F.sum(F.pmod(F.xxhash64(*columns, number), F.lit(HASHES)))
    row = found.agg(F.count("*").alias("pairs"), F.coalesce(hashes, F.lit(0)).alias("hashes")).first()
    return row["pairs"], row["hashes"]


def _told(found: DataFrame, columns: list[str]) -> DataFrame:
    """Columns of truth values as one row for each that holds; by hand, because a plan of so many columns is slow already."""
    from pyspark.sql.types import StructType

    schema = StructType([found.schema[column] for column in columns]).add("query_number", "integer")
    pairs = [
        (*(row[column] for column in columns), int(name[1:]))
        for row in found.collect()
        for name, holds in row.asDict().items()
        if name not in columns and holds
    ]
    return found.sparkSession.createDataFrame(pairs, schema)


def counts(found: DataFrame) -> dict[int, int]:
    """The matches by query number, queries without any left out."""
    if "query_number" in found.columns:
        return {row["query_number"]: row["matches"] for row in found.collect()}
    return {number: matches for number, matches in _by_query(found.first()).items() if matches}


def _by_query(row: Row) -> dict[int, Any]:
    """Values of columns q0, q1 ..."""
    return {int(name[1:]): value for name, value in row.asDict().items()}
