"""Watching a pipeline: reports of batches as lines of JSON, their sums, Prometheus, structured logs."""

from eddyline.runtime.spark.watching.metrics import Metrics as Metrics
from eddyline.runtime.spark.watching.metrics import Tail as Tail
from eddyline.runtime.spark.watching.totals import PipelineTotals as PipelineTotals
from eddyline.runtime.spark.watching.values import BatchReport as BatchReport
