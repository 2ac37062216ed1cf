"""What all tests share: one Spark session a process, hypothesis profiles, marks that follow from fixtures."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.comparisons import Comparisons
from tests.processes import PYTHONPATH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.postgres import Server

ROOT = Path(__file__).parent.parent

# default: the same examples in every run, so that a red build is red again; explore: HYPOTHESIS_PROFILE=explore
settings.register_profile(
    "default", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

SPARK_SETTINGS = {
    "spark.sql.ansi.enabled": True,
    "spark.sql.shuffle.partitions": 1,
    "spark.default.parallelism": 1,
    "spark.driver.memory": "1g",
    "spark.ui.enabled": False,
    # tests are many short jobs: a light collector and the quick compiler beat what suits a server
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}


def some(values: Iterable[object], *, quick: Container[object]) -> list[object]:
    """Values of a parameter: the quick ones for `make test`, the others for `make test-long`."""
    return [pytest.param(value, marks=() if value in quick else pytest.mark.long) for value in values]


def blocks(count: int, *, quick: Container[object]) -> list[object]:
    """Numbers of blocks of random queries, the quick ones for `make test`."""
    return some(range(count), quick=quick)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Comparisons())


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what uses the session as `spark`, and say which tests run in one process, one after the other.

    All that use the session do, so that one JVM is started and warmed up; else the tests of a file do, which may share a
    server.
    """
    uses_session = "spark" in getattr(item, "fixturenames", ())
    if uses_session:
        item.add_marker(pytest.mark.spark)
    item.add_marker(pytest.mark.xdist_group("spark" if uses_session else item.nodeid.partition("::")[0]))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A small Spark session, shared by all tests of this process: leave its settings as you find them."""
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    from eddyline.spark import session

    warehouse = tmp_path_factory.mktemp("warehouse")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", PYTHONPATH)
        if os.environ.get("EDDYLINE_TESTS") == "connect":  # set by tests/spark/test_connect.py
            from tests.spark.connect import connected

            yield from connected(patch, {**SPARK_SETTINGS, "spark.sql.warehouse.dir": str(warehouse)})
            return
        running = session(
            "eddyline-tests", cores=1, config={**SPARK_SETTINGS, "spark.sql.warehouse.dir": str(warehouse)}
        )
    yield running
    running.stop()


@pytest.fixture(scope="session")
def warm_programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the front of PATH, in which the command `eddyline` starts at once."""
    from tests.warm_command import warm_programs

    with warm_programs(tmp_path_factory.mktemp("warm")) as programs:
        yield programs


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server, shared by all tests of this process."""
    from tests.postgres import server

    with server() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a registry can be made: the test runs once on SQLite and once on PostgreSQL."""
    if request.param == "sqlite":
        return str(tmp_path / "registry.db")
    running: Server = request.getfixturevalue("postgres")
    return running.place()
