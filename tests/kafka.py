"""A Kafka broker for tests, from the jars that Maven fetches: started in some seconds, no container needed."""

from __future__ import annotations

import base64
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from eddyline.errors import SetupError
from eddyline.runtime.spark.sessions.java import find_java
from tests.jars import KAFKA_SERVER, jars
from tests.missing import missing

STARTS_WITHIN = 90  # seconds
STOPS_WITHIN = 30  # seconds

_SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
num.network.threads=2
num.io.threads=2
"""


class Broker:
    """A broker that can be stopped and started again; its topics stay."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._classes = f"{jars(KAFKA_SERVER)}/*"
        self._java = find_java().home / "bin" / "java"
        self._running: subprocess.Popen[bytes] | None = None
        self.port, controller = _free_ports(2)
        self.servers = f"127.0.0.1:{self.port}"
        settings = _SETTINGS.format(port=self.port, controller=controller, folder=folder)
        (folder / "server.properties").write_text(settings)
        self._format()

    def _format(self) -> None:
        """Prepare the folder of the data, as Kafka wants it under an id of its own form."""
        identity = base64.urlsafe_b64encode(uuid4().bytes).decode().rstrip("=").replace("-", "x")
        command = [self._java, "-XX:TieredStopAtLevel=1", "-cp", self._classes, "kafka.tools.StorageTool"]
        subprocess.run(
            [*command, "format", "-t", identity, "-c", str(self._folder / "server.properties")],
            capture_output=True,
            timeout=STARTS_WITHIN,
            check=True,
        )

    def start(self) -> None:
        """Start the broker, and wait until it answers."""
        options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command = [self._java, *options, "-cp", self._classes, "kafka.Kafka"]
        with (self._folder / "log").open("ab") as log:
            self._running = subprocess.Popen(
                [*command, str(self._folder / "server.properties")],
                cwd=self._folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        until = time.monotonic() + STARTS_WITHIN
        while not _answers(self.port):
            if self._running.poll() is not None or time.monotonic() > until:
                missing(f"Kafka does not start: {(self._folder / 'log').read_text(errors='replace')[-1000:]}")
            time.sleep(0.1)

    def stop(self, *, kill: bool = False) -> None:
        """Stop the broker, or kill it."""
        if self._running is None:
            return
        if kill:
            self._running.kill()
        else:
            self._running.terminate()
        try:
            self._running.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            self._running.kill()
            self._running.wait()
        self._running = None


@contextmanager
def broker() -> Iterator[Broker]:
    """Start a broker, and stop it at the end; skip where there is no Java or no Maven."""
    folder = Path(tempfile.mkdtemp(prefix="eddyline-kafka-"))
    made: Broker | None = None
    try:
        try:
            made = Broker(folder)
        except (SetupError, subprocess.SubprocessError) as error:
            missing(f"Kafka does not start: {getattr(error, 'stderr', b'') or error!r}"[:1000])
        assert made is not None
        made.start()
        yield made
    finally:
        if made is not None:
            made.stop(kill=True)
        shutil.rmtree(folder, ignore_errors=True)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False
