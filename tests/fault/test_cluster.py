"""Pipelines on a standalone cluster: workers on other hosts take part; a cluster without any is warned about in time."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import cluster
from tests.spark.pipelines import Place, quotes

pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
pytestmark = pytest.mark.long

SETTINGS = """
[pipeline]
name = "market"
registry = "registry.db"
checkpoint = "state"
trigger = "1 second"
[session]
master = "{master}"
"spark.executor.memory" = "600m"
"spark.driver.memory" = "600m"
"spark.sql.shuffle.partitions" = 1
{more}
[[source]]
name = "quotes"
format = "json"
path = "quotes"
[[sink]]
name = "results"
format = "parquet"
path = "out"
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Six rows that wait, and a query for two of them."""
    found = Place(tmp_path)
    found.register({"dear": "SELECT id FROM quotes WHERE price >= 2"})
    found.write("a.json", quotes(0))
    return found


class Command:
    """`eddyline run` as it runs."""

    def __init__(self, place: Place, *options: str) -> None:
        program = str(Path(sys.executable).with_name("eddyline"))
        words = [program, "run", "market.toml", "--no-view", *options]
        self._printed = place.folder / "printed.txt"
        with self._printed.open("wb") as file:
            self.process = subprocess.Popen(words, cwd=place.folder, stdout=file, stderr=subprocess.STDOUT)

    @property
    def said(self) -> str:
        """What it has printed."""
        return self._printed.read_text(errors="replace")

    def says(self, pattern: str, within: float = 180.0) -> re.Match[str]:
        """What it prints sooner or later."""
        deadline = time.monotonic() + within
        while (found := re.search(pattern, self.said)) is None:
            assert time.monotonic() < deadline and self.process.poll() is None, self.said
            time.sleep(0.1)
        return found


@contextmanager
def running(place: Place, master: str, *options: str, more: str = "") -> Iterator[Command]:
    (place.folder / "market.toml").write_text(SETTINGS.format(master=master, more=more))
    command = Command(place, *options)
    try:
        yield command
    finally:
        command.process.send_signal(signal.SIGKILL)
        command.process.wait()


def waited(found: re.Match[str]) -> int:
    return int(found.group(1))


def test_a_cluster_without_workers_is_told_of_and_waited_for(place: Place, tmp_path: Path) -> None:
    """The message comes in time; when a worker comes after all, so do the results."""
    with cluster.master(tmp_path) as address, running(place, address, "--log", "log.jsonl") as command:
        assert waited(command.says(rf"no executor has come from {address} within (\d+) s; Spark says")) < 15
        command.says("Initial job has not accepted any resources")
        assert '"logger":"eddyline.spark"' in (tmp_path / "log.jsonl").read_text()
        with cluster.worker(tmp_path, address):
            command.says(r"6 rows +2 matched")


def test_a_master_that_is_not_there(place: Place) -> None:
    with running(place, "spark://127.0.0.1:9") as command:
        assert waited(command.says(r"no executor has come from spark://127.0.0.1:9 within (\d+) s")) < 15
        command.says('Spark says: "Failed to connect to master 127.0.0.1:9"')


def test_a_worker_on_this_host(place: Place, tmp_path: Path) -> None:
    with (
        cluster.master(tmp_path) as address,
        cluster.worker(tmp_path, address),
        running(place, address) as command,
    ):
        command.says(r"6 rows +2 matched")


def test_a_worker_on_another_host(place: Place, tmp_path: Path) -> None:
    with (
        cluster.two_hosts() as (here, there),
        cluster.master(tmp_path, here) as address,
        cluster.worker(tmp_path, address, there),
        running(place, address) as command,
    ):
        command.says(r"6 rows +2 matched")


def test_a_driver_that_workers_cannot_reach(place: Place, tmp_path: Path) -> None:
    """As where `spark.driver.host` names an address that means something else on the workers."""
    unreachable = '"spark.driver.host" = "127.0.0.1"'
    with (
        cluster.two_hosts() as (here, there),
        cluster.master(tmp_path, here) as address,
        cluster.worker(tmp_path, address, there),
        running(place, address, more=unreachable) as command,
    ):
        assert waited(command.says(rf"no executor has come from {address} within (\d+) s")) < 15
        command.says(r"Executor \S+ removed: Command exited with code 1")
        assert "can reach this process at 127.0.0.1 (spark.driver.host)" in command.said
