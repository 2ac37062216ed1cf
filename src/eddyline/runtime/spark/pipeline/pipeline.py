"""`Pipeline`: standing queries on Structured Streaming, from settings or from a TOML file."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from eddyline.errors import EddylineError, SetupError, SparkGoneError
from eddyline.runtime.spark.base.failures import in_words
from eddyline.runtime.spark.base.folders import check_apart
from eddyline.runtime.spark.base.secrets import revealed_all, secrets_in
from eddyline.runtime.spark.base.settings import PipelineSettings, read_settings
from eddyline.runtime.spark.pipeline.plan import PipelinePlan, make_plan
from eddyline.runtime.spark.pipeline.running import RunningPipeline, open_endpoint
from eddyline.runtime.spark.sessions import session_checks
from eddyline.runtime.spark.sessions.alive import why_gone
from eddyline.runtime.spark.sessions.session import session
from eddyline.runtime.spark.watching.endpoint import Endpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Pipeline:
    """Sources in, all registered queries evaluated together, results out, queries coming and going meanwhile.

    ```python
    with Pipeline("market.toml").start() as running:
        running.await_termination(60)
        print(running.totals.count("matches"))
    ```
    """

    def __init__(self, settings: PipelineSettings | str | Path) -> None:
        """Settings, or the file that they are in; folders that get into each other's way are refused here."""
        self.settings = settings if isinstance(settings, PipelineSettings) else read_settings(settings)
        check_apart(self.settings)

    @classmethod
    def from_toml(cls, path: str | Path) -> Pipeline:
        """The pipeline that a file describes."""
        return cls(read_settings(path))

    def start(self, spark: SparkSession | None = None) -> RunningPipeline:
        """Start it, in the session given, else in the one that this process has, else in one that ends with it.

        Settings, registry, columns of sources, sinks and the session are looked at first; what is wrong is raised here.
        The endpoint is opened before all of that: a start may take long, or wait for a cluster for ever.
        """
        with ExitStack() as undo:
            endpoint = open_endpoint(self.settings)
            if endpoint is not None:
                undo.enter_context(endpoint)
            opened, own = self._session(spark)
            if own:
                undo.callback(_end, opened)
            running = self._started(opened, endpoint)
            undo.pop_all()
        if own:
            running.at_end(partial(_end, opened))
        return running

    def _started(self, spark: SparkSession, endpoint: Endpoint | None) -> RunningPipeline:
        try:
            session_checks.check(spark, time_zone=self.settings.time_zone)
            return RunningPipeline(self.settings, spark, endpoint)
        except EddylineError:
            raise
        except Exception as error:
            gone = why_gone(spark)
            if gone is None:
                raise
            raise SparkGoneError(
                f"the pipeline did not start: {gone}", hint="start it again in a new process"
            ) from error

    def run(self, spark: SparkSession | None = None) -> None:
        """Start it and wait for its end: that of the data, a failure, which is raised, or Ctrl-C, which stops it."""
        running = self.start(spark)
        try:
            running.await_termination()
        finally:
            running.stop()

    def plan(self, spark: SparkSession | None = None) -> PipelinePlan:
        """What it would do, with everything checked that can be checked, and nothing changed anywhere."""
        opened, own = self._session(spark)
        try:
            session_checks.check(opened, time_zone=self.settings.time_zone)
            return make_plan(self.settings, opened)
        finally:
            if own:
                opened.stop()

    def _session(self, given: SparkSession | None) -> tuple[SparkSession, bool]:
        """The session to run in, and whether it is the pipeline's own."""
        found = given or _active()
        if found is not None:
            return found, False
        try:
            return self._own_session(), True
        except EddylineError:
            raise
        except Exception as error:
            words = in_words(error, secrets=secrets_in(self.settings))
            raise SetupError(f"Spark does not start: {words}") from None

    def _own_session(self) -> SparkSession:
        wanted = self.settings.session
        config = revealed_all(wanted.settings)
        if wanted.remote is not None:
            return _remote(wanted.remote, config)
        zone = {"spark.sql.session.timeZone": self.settings.time_zone}
        name = f"eddyline {self.settings.name}"
        return session(name, cores=wanted.cores, config={**zone, **config})


def _end(spark: SparkSession) -> None:
    """Stop a session; there is nothing to stop where Java has ended."""
    try:
        spark.stop()
    except Exception:
        if why_gone(spark) is None:
            raise


def _active() -> SparkSession | None:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        return None  # session() says what is missing
    return SparkSession.getActiveSession()


def _remote(address: str, config: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(address)
    for name, value in config.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
