"""The door to Spark: the public names of the Spark runtime.

Importing this module needs neither pyspark nor Java; calling its functions does.
"""

from __future__ import annotations

from eddyline.runtime.spark.session import session

__all__ = ["session"]
