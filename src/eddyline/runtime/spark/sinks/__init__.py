"""Where results go: one file per kind of sink; docs/sinks.md says what each of them guarantees."""

from __future__ import annotations

from eddyline.runtime.spark.sinks.base import RefusedResult, RowsRefusedError, Sink
from eddyline.runtime.spark.sinks.make import guarantee_of, make_router, make_sink

__all__ = ["RefusedResult", "RowsRefusedError", "Sink", "guarantee_of", "make_router", "make_sink"]
