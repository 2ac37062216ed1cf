"""A session of Spark Connect with a server in this process, for tests that run on both kinds of session."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator, Mapping

import pytest
from pyspark.sql import SparkSession

from eddyline.runtime.spark.sessions.java import find_java
from eddyline.runtime.spark.sessions.session import LOCAL, SETTINGS


def connected(patch: pytest.MonkeyPatch, settings: Mapping[str, object]) -> Iterator[SparkSession]:
    """Start a server and connect to it."""
    patch.setenv("JAVA_HOME", str(find_java().home))
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.remote("local[1]")
    for name, value in {**SETTINGS, **LOCAL, **settings}.items():
        builder = builder.config(name, str(value).lower() if isinstance(value, bool) else str(value))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the client asks for the server's own settings once more
        spark = builder.getOrCreate()
    yield spark
    spark.stop()
    time.sleep(0.1)  # the client's channel closes behind it
