"""The door to Spark: the public names of the Spark runtime.

Importing this module needs neither pyspark nor Java; calling its functions does.
"""

from __future__ import annotations

from eddyline.runtime.spark.base.settings import PipelineSettings, SinkSettings, SourceSettings
from eddyline.runtime.spark.dataframe.column import match_column
from eddyline.runtime.spark.dataframe.count import count
from eddyline.runtime.spark.dataframe.match import match
from eddyline.runtime.spark.functions import spark_resolver
from eddyline.runtime.spark.pipeline.own_batches import BatchProcessor
from eddyline.runtime.spark.pipeline.pipeline import Pipeline
from eddyline.runtime.spark.pipeline.running import RunningPipeline
from eddyline.runtime.spark.sessions.session import session
from eddyline.runtime.spark.watching import BatchReport, Metrics, Tail

__all__ = [
    "BatchProcessor",
    "BatchReport",
    "Metrics",
    "Pipeline",
    "PipelineSettings",
    "RunningPipeline",
    "SinkSettings",
    "SourceSettings",
    "Tail",
    "count",
    "match",
    "match_column",
    "session",
    "spark_resolver",
]
