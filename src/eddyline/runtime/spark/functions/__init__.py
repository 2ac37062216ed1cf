"""What only Spark can compute: types asked of Spark, columns in front of the matcher, and who fails on some data."""

from eddyline.runtime.spark.functions.columns import (
    external_columns,
    external_name,
    externals_of,
    pin_text,
    with_externals,
)
from eddyline.runtime.spark.functions.culprits import find_culprits
from eddyline.runtime.spark.functions.resolver import SparkResolver, spark_resolver

__all__ = [
    "SparkResolver",
    "external_columns",
    "external_name",
    "externals_of",
    "find_culprits",
    "pin_text",
    "spark_resolver",
    "with_externals",
]
