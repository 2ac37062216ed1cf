"""Spark has the functions of which we say that only Spark has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eddyline.sql.spark_only.functions import FUNCTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_has_them(spark: SparkSession) -> None:
    names = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert sorted(FUNCTIONS - names) == []
