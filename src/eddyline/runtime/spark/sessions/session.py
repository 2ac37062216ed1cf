"""Starts a Spark session, on this machine or on a cluster, with the settings that Eddyline is tested with.

Nothing else in Eddyline needs this session: every function takes the user's session as it is.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eddyline.errors import SetupError
from eddyline.runtime.spark.sessions import cluster
from eddyline.runtime.spark.sessions.compiling import compile_meanwhile
from eddyline.runtime.spark.sessions.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")

SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",  # else ${env:HOME} in a query's text reads the environment
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # else INT96, which others read without a time zone
    # no limit: with any other value Spark adds up the bytes of all columns after each row that goes to Python
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    # in percent of the driver's memory: else what its parser keeps of all texts it has seen grows until nothing else fits
    "spark.sql.parser.manageParserCaches": "true",
    "spark.sql.parser.parserDfaCacheFlushRatio": "15",
    # Python workers through files, not through TCP: there the end of a task's rows, which is a small packet, waits some 40 ms
    # for the receipt of the rows before it
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.defaultJavaOptions": (
        f'-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()} "-Deddyline.executors={cluster.EVENTS}" '
        "-Darrow.enable_null_check_for_get=false"  # Spark asks for NULL itself before it takes a value from Python
    ),
}

LOCAL: Mapping[str, str] = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}

WARM: Mapping[str, str] = {
    "spark.python.daemon.module": "eddyline.runtime.spark.daemon",
    # the daemon forks, so no library may start a thread in it
    "spark.executorEnv.JE_ARROW_MALLOC_CONF": "background_thread:false",
    "spark.executorEnv.OMP_NUM_THREADS": "1",
    "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
}


def session(
    app_name: str = "eddyline",
    *,
    cores: int | None = None,
    warm: bool = True,
    config: Mapping[str, str | int | float | bool] | None = None,
) -> SparkSession:
    """Give a Spark session on this machine, or on the cluster that `config` names as `spark.master`, starting Spark if
    this process has none yet.

    `cores` is the number of threads (as many as this process may use, if not given); `config` overrides any of
    SETTINGS and the master. `warm` has Python workers start with Eddyline loaded (WARM). As with Spark's own builder, a
    session that is running already is given back, with those settings applied that can change while it runs.

    On a cluster the workers call this process back, at the address that it has in the master's network
    (`spark.driver.host` names another one). As long as no executor has come, a warning is logged that says why.

    Java is found by `find_java`. Tasks are tried four times: with Spark's usual `local[n]` a job fails as soon
    as one Python worker is killed.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SetupError("pyspark is not installed", hint="pip install 'eddyline[spark]'") from error
    if cores is not None and cores < 1:
        raise SetupError(f"a Spark session needs at least one core, not {cores}")
    given = {"spark.master": f"local[{cores or _usable_cores()},4]", **(config or {})}
    where = _whereabouts(str(given["spark.master"]))
    wanted = {**SETTINGS, **where, **(WARM if warm else {}), **given}
    environment = {
        "JAVA_HOME": str(find_java().home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    if "spark.driver.host" in where:  # else Spark looks up the host's name, which may lead nowhere
        environment["SPARK_LOCAL_IP"] = where["spark.driver.host"]
    builder = SparkSession.builder.appName(app_name)
    for key, value in wanted.items():
        builder = builder.config(key, value)
    if warm and cluster.is_local(str(given["spark.master"])):
        compile_meanwhile()
    with _environment(environment), _watched(wanted) as watch:
        running = builder.getOrCreate()
        if watch is not None:
            watch.ask(running)
    _silence_repeated_errors()
    return running


def _whereabouts(master: str) -> Mapping[str, str]:
    """Where this driver is to be found: on this machine only, or in the cluster's network."""
    if cluster.is_local(master):
        return LOCAL
    address = cluster.own_address(master)
    return cluster.SETTINGS if address is None else {**cluster.SETTINGS, "spark.driver.host": address}


@contextmanager
def _watched(config: Mapping[str, object]) -> Iterator[cluster.ExecutorWatch | None]:
    """Tell of executors that do not come, unless they run here or the session was there before."""
    from pyspark.sql import SparkSession

    master, driver = str(config["spark.master"]), config.get("spark.driver.host")
    if cluster.is_local(master) or SparkSession.getActiveSession() is not None:
        yield None
        return
    watch = cluster.ExecutorWatch(master, None if driver is None else str(driver))
    try:
        yield watch
    except Exception as error:
        watch.stop()
        if not watch.reason:
            raise
        raise SetupError(f'there is no session on {master}; Spark says: "{watch.reason}"') from error
    except BaseException:
        watch.stop()
        raise


def _silence_repeated_errors() -> None:
    """Stop pyspark from also printing, as JSON with Java's stack, each failure that it raises."""
    from pyspark.logger import PySparkLogger

    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a while: the Java process copies them when it starts."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
