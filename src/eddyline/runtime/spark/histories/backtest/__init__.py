"""Back-tests on Spark: a history of any size, read in many places at once."""

from eddyline.runtime.spark.histories.backtest.run import SparkHistory, run

__all__ = ["SparkHistory", "run"]
