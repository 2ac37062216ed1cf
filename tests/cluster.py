"""A standalone Spark cluster for tests, from the jars of the package pyspark; its worker may be on another host.

Another host is a network namespace of this machine, reached through a pair of virtual devices: what listens on 127.0.0.1
here cannot be reached from there. That takes root and the program `ip`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from eddyline.runtime.spark.sessions.java import find_java
from tests.missing import missing

STARTS_WITHIN = 90  # seconds
HOME = Path(pyspark.__file__).parent


@dataclass(frozen=True)
class Host:
    """Where a process runs: its address, and what stands before its command."""

    address: str
    prefix: tuple[str, ...] = ()


HERE = Host("127.0.0.1")


@contextmanager
def two_hosts() -> Iterator[tuple[Host, Host]]:
    """This machine and another one, in a network of their own."""
    number = os.getpid()
    name, near, far = f"eddyline{number}", f"edl{number}a", f"edl{number}b"
    network = f"10.213.{number % 256}"
    if shutil.which("ip") is None or os.geteuid() != 0:
        missing("two hosts in one machine take root and the program ip (Debian: iproute2)")
    try:
        _ip("netns", "add", name)
    except subprocess.CalledProcessError as error:
        missing(f"this machine makes no network namespaces: {error.stderr.strip()}")
    inside = ("netns", "exec", name, "ip")
    try:
        _ip("link", "add", near, "type", "veth", "peer", "name", far)
        _ip("link", "set", far, "netns", name)
        _ip("addr", "add", f"{network}.1/24", "dev", near)
        _ip("link", "set", near, "up")
        _ip(*inside, "addr", "add", f"{network}.2/24", "dev", far)
        _ip(*inside, "link", "set", far, "up")
        _ip(*inside, "link", "set", "lo", "up")
        yield Host(f"{network}.1"), Host(f"{network}.2", ("ip", "netns", "exec", name))
    finally:
        with suppress(subprocess.CalledProcessError):
            _ip("link", "del", near)
        _ip("netns", "del", name)


@contextmanager
def master(folder: Path, host: Host = HERE) -> Iterator[str]:
    """A master; gives its address."""
    words = ("--host", host.address, "--port", "0", "--webui-port", "0")
    with _running(folder / "master.log", host, "master.Master", words) as log:
        yield _awaited(log, r"Starting Spark master at (spark://\S+)")


@contextmanager
def worker(folder: Path, address: str, host: Host = HERE) -> Iterator[None]:
    """A worker with one core."""
    words = ("--host", host.address, "--webui-port", "0", "-c", "1", "-m", "1g", "-d", str(folder / "work"))
    with _running(folder / "worker.log", host, "worker.Worker", (*words, address)) as log:
        _awaited(log, r"Successfully registered with master")
        yield


@contextmanager
def _running(log: Path, host: Host, name: str, words: Sequence[str]) -> Iterator[Path]:
    java = find_java().home / "bin" / "java"
    command = [*host.prefix, str(java), "-Xmx300m", "-XX:TieredStopAtLevel=1", "-cp", f"{HOME}/jars/*"]
    environment = {**os.environ, "SPARK_HOME": str(HOME), "SPARK_SCALA_VERSION": "2.13"}
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*command, f"org.apache.spark.deploy.{name}", *words],
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**environment, "SPARK_LOCAL_IP": host.address},
            cwd=log.parent,
        )
    try:
        yield log
    finally:
        process.terminate()
        process.wait(30)


def _awaited(log: Path, pattern: str) -> str:
    """What a log says sooner or later."""
    deadline = time.monotonic() + STARTS_WITHIN
    while (found := re.search(pattern, log.read_text(errors="replace"))) is None:
        assert time.monotonic() < deadline, log.read_text(errors="replace")[-2000:]
        time.sleep(0.1)
    return found.group(found.lastindex or 0)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=10)
