"""A standalone Spark cluster for tests, from the jars of the package pyspark; its workers may be on other hosts.

What another host is depends on what a test is about: a network of its own (`two_hosts`), so that what listens on 127.0.0.1
here cannot be reached from there, or file systems of its own (`HostFolder`). Both are namespaces of Linux, and take root.
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

from eddyline.kernels import cache_folder
from eddyline.runtime.spark.sessions.java import find_java
from tests.missing import missing
from tests.processes import command_of, descendants, kill, python_workers

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


@dataclass(frozen=True)
class HostFolder:
    """What belongs to one host: the working folder of its worker, a home, temporary files."""

    path: Path

    @property
    def home(self) -> Path:
        return self.path / "home"

    @property
    def temporary(self) -> Path:
        return self.path / "tmp"

    def host(self, *hidden: Path, read_only_home: bool = False, kernels: bool = False) -> Host:
        """A host that sees empty folders where others are `hidden`; with `kernels` it has what `doctor --warm` compiles."""
        if shutil.which("unshare") is None or os.geteuid() != 0:
            missing("folders are hidden from processes by root and the program unshare (Debian: util-linux)")
        for folder in (self.path, self.home, self.temporary, *hidden):
            folder.mkdir(parents=True, exist_ok=True)
        if kernels:
            kept = (
                self.temporary / f"eddyline-{os.getuid()}"
                if read_only_home
                else self.home / ".cache/eddyline"
            )
            kept.mkdir(mode=0o700, parents=True)
            shutil.copytree(cache_folder(), kept / cache_folder().name)
        steps = [f"mount -t tmpfs none '{folder}'" for folder in hidden]
        steps += [f"mount -t tmpfs -o ro none '{self.home}'"] if read_only_home else []
        script = " && ".join([*steps, 'exec "$@"'])
        own = (f"HOME={self.home}", f"TMPDIR={self.temporary}", "XDG_CACHE_HOME=")
        return Host(HERE.address, ("env", *own, "unshare", "-m", "sh", "-c", script, "sh"))


@dataclass(frozen=True)
class Worker:
    """A worker that runs."""

    process: subprocess.Popen[bytes]

    def kill_python(self) -> None:
        """Kill the Python workers of its executors."""
        _killed(python_workers(self.process.pid))

    def kill_executors(self) -> None:
        """Kill its executors; it starts others."""
        _killed([one for one in descendants(self.process.pid) if "ExecutorBackend" in command_of(one)])

    def kill(self) -> None:
        """Kill it with all that it has started, as when its host fails."""
        _killed([*descendants(self.process.pid), self.process.pid])


def _killed(pids: Sequence[int]) -> None:
    assert pids, "there is something to kill"
    for pid in pids:
        kill(pid)


@contextmanager
def master(folder: Path, host: Host = HERE) -> Iterator[str]:
    """A master; gives its address."""
    words = ("--host", host.address, "--port", "0", "--webui-port", "0")
    with _running(folder / "master.log", host, "master.Master", words):
        yield _awaited(folder / "master.log", r"Starting Spark master at (spark://\S+)")


@contextmanager
def worker(folder: Path, address: str, host: Host = HERE, *, wait: bool = True) -> Iterator[Worker]:
    """A worker with one core; unless `wait`, it may yet have to say so to the master."""
    words = ("--host", host.address, "--webui-port", "0", "-c", "1", "-m", "1g", "-d", str(folder / "work"))
    with _running(folder / "worker.log", host, "worker.Worker", (*words, address)) as process:
        if wait:
            _awaited(folder / "worker.log", r"Successfully registered with master")
        yield Worker(process)


@contextmanager
def worker_apart(
    folder: Path,
    address: str,
    *hidden: Path,
    read_only_home: bool = False,
    kernels: bool = True,
    wait: bool = True,
) -> Iterator[Worker]:
    """A worker with a home and temporary files of its own, which sees nothing of folders that are `hidden` (`HostFolder.host`)."""
    host = HostFolder(folder).host(*hidden, read_only_home=read_only_home, kernels=kernels)
    with worker(folder, address, host, wait=wait) as running:
        yield running


@contextmanager
def _running(log: Path, host: Host, name: str, words: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
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
        yield process
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
