"""Catching up: what a query that was enabled late would have delivered from the first batch of a pipeline on."""

from eddyline.runtime.spark.catch_up.run import CatchUp, Late, catch_up, look

__all__ = ["CatchUp", "Late", "catch_up", "look"]
