"""Our side: the public functions of the Spark runtime, and a function that hands the same columns through Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from eddyline.queryset import QuerySet
from eddyline.spark import count, match

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Matcher:
    """A compiled set as a way to match tuples, like the peers."""

    name = "ours"

    def __init__(self, queries: QuerySet) -> None:
        self._numbers = match(queries, ids="number")
        self._counts = count(queries, ids="number")

    def numbers(self, df: DataFrame) -> DataFrame:
        """The tuples that match, with the numbers of the queries."""
        return df.transform(self._numbers)

    def counts(self, df: DataFrame) -> DataFrame:
        """The number of matches of each query that has some."""
        return df.transform(self._counts)


def pass_through(df: DataFrame) -> DataFrame:
    """All tuples, handed to Python and back."""

    def same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    return df.mapInArrow(same, df.schema)
