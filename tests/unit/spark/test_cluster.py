"""A warning says that no executor comes, with what Spark says; the driver's address is that in the master's network."""

from __future__ import annotations

import logging
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eddyline.runtime.spark.sessions import cluster
from eddyline.runtime.spark.sessions.cluster import ExecutorWatch, is_local, own_address

GONE = "INFO Executor app-1/{} removed: Command exited with code 1\n"


class Session:
    """A session whose first task ends when it is told to."""

    def __init__(self) -> None:
        self.come = threading.Event()

    def range(self, *_: int) -> Any:
        return SimpleNamespace(collect=lambda: self.come.wait(10))


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cluster, "PATIENCE", 0.15)
    monkeypatch.setattr(cluster, "LOOK", 0.02)
    monkeypatch.setattr(cluster, "EVENTS", tmp_path / "events.log")
    return tmp_path / "events.log"


def warned(caplog: pytest.LogCaptureFixture, count: int) -> list[str]:
    deadline = time.monotonic() + 10
    while len(caplog.messages) < count:
        assert time.monotonic() < deadline, f"{count} messages, not {caplog.messages}"
        time.sleep(0.01)
    return caplog.messages


def test_spark_says_why(events: Path, caplog: pytest.LogCaptureFixture) -> None:
    watch = ExecutorWatch("spark://m:7077", "10.0.0.5")
    events.write_text("INFO Connecting to master spark://m:7077...\nINFO Executor added: app-1/0 on w\n")
    first = warned(caplog, 1)[0]
    assert "no executor has come from spark://m:7077 within 0 s" in first
    assert 'Spark says: "Executor added: app-1/0 on w"' in first and "at 10.0.0.5" in first
    with events.open("a") as file:
        file.write(GONE.format(0) + "WARN Initial job has not accepted any resources\n")
    assert 'Spark says: "Executor app-1/0 removed: Command exited with code 1"' in warned(caplog, 2)[1]
    with events.open("a") as file:
        file.write(GONE.format(1).replace(" code", "\x1bcode"))
    time.sleep(0.2)
    assert len(caplog.messages) == 2, "another executor with the same end is nothing new"
    caplog.set_level(logging.INFO)
    watch.stop()
    assert "no longer waiting" in warned(caplog, 3)[2]


@pytest.mark.parametrize("sign", ["task", "log", "failure"])
def test_nothing_is_said_where_one_comes(
    sign: str, events: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 30.0)
    session: Any = Session()
    if sign == "failure":
        session = SimpleNamespace()  # what is asked of it raises, as in a session that was stopped
    else:
        session.come.set()
    watch = ExecutorWatch("spark://m:7077", None)
    if sign == "log":
        session.come.clear()
        events.write_text("INFO Registered executor NettyRpcEndpointRef(spark-client://Executor) with ID 0\n")
    watch.ask(session)
    watch._thread.join(10)
    assert not watch._thread.is_alive() and caplog.messages == []


def test_what_earlier_sessions_said_does_not_count(events: Path, caplog: pytest.LogCaptureFixture) -> None:
    events.write_text("INFO Registered executor 0\n" + GONE.format(0))
    watch = ExecutorWatch("yarn", None)
    assert watch.reason == ""
    watch.ask(Session())  # type: ignore[arg-type]
    assert "Spark does not say why" in warned(caplog, 1)[0]
    watch.stop()


def test_java_that_takes_its_time_is_not_waiting_for_executors(
    events: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watch = ExecutorWatch("spark://m:7077", None)
    time.sleep(0.4)
    assert caplog.messages == []
    watch.stop()


def test_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    assert own_address("spark://nowhere.invalid:1,127.0.0.1:7077") == "127.0.0.1"
    assert own_address("spark://nowhere.invalid:7077") is None
    assert own_address("spark://127.0.0.1") is None and own_address("k8s://https://h:443") is None
    if socket.has_ipv6:
        assert own_address("spark://[::1]:7077") in ("[::1]", None)
    monkeypatch.setenv("SPARK_LOCAL_IP", "10.1.2.3")
    assert own_address("spark://127.0.0.1:7077") == "10.1.2.3"


def test_local_masters() -> None:
    assert all(map(is_local, ("local", "local[2,4]", "local-cluster[1,1,1024]")))
    assert not any(map(is_local, ("spark://local:7077", "yarn", "k8s://https://local")))
