"""Sessions on a cluster: the address at which workers find this driver, and word of executors that do not come.

Executors are processes on other hosts, and each begins by calling the driver back. Where it cannot, it ends, the cluster
starts another one, and Spark waits without a word. Why is known to its log alone, so our log settings
(`log4j2.properties`) keep the lines about executors in `EVENTS`, a small file that goes with this process.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import secrets
import socket
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE: Final = 8.0  # seconds without an executor before there is a warning
LOOK: Final = 0.5  # seconds between two looks at what Spark says
MOST_READ: Final = 64 * 1024  # bytes of the newest lines

# A process has one Java, which is told where to write when it starts, whatever sessions come after.
EVENTS: Final = Path(tempfile.gettempdir()) / f"eddyline-executors-{os.getpid()}-{secrets.token_hex(8)}.log"

SETTINGS: Final = {
    "spark.starvation.timeout": "5s",  # when Spark says that nobody takes its tasks: before our warning, which quotes it
}

# What Spark says, the most telling first: why executors or the whole application ended, any warning, how far it is.
_TELLING: Final = (
    re.compile(r"^ERROR |removed: |\b(EXITED|FAILED|LOST|KILLED)\b"),
    re.compile(r"^WARN "),
    re.compile(r"Executor |master "),
)
_CAME: Final = "Registered executor"

log = logging.getLogger("eddyline.spark")


def is_local(master: str) -> bool:
    """Whether executors run on this machine: in the driver, or beside it as with `local-cluster[...]`."""
    return master.startswith("local")


def own_address(master: str) -> str | None:
    """The address of this machine in the network of a standalone master; None where Spark has to find one itself.

    >>> own_address("spark://127.0.0.1:7077"), own_address("yarn")
    ('127.0.0.1', None)
    """
    chosen = os.environ.get("SPARK_LOCAL_IP")  # Spark's own way to say it
    if chosen or not master.startswith("spark://"):
        return chosen or None
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        with suppress(OSError, ValueError):
            found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)
            family, _, _, _, address = found[0]
            with socket.socket(family, socket.SOCK_DGRAM) as towards:
                towards.connect(address)  # nothing is sent: the machine says which way it would go
                own = str(towards.getsockname()[0])
                return f"[{own}]" if ":" in own else own
    return None


class ExecutorWatch:
    """Warns while no executor has come, with Spark's reason, and again when Spark says something else; nothing is stopped.

    It begins before there is a session: to reach a master that is not there takes Spark a minute.
    """

    def __init__(self, master: str, driver: str | None) -> None:
        """`driver` is the address at which executors look for this process."""
        self._master = master
        self._driver = driver
        self._skipped = EVENTS.stat().st_size if EVENTS.exists() else 0  # of earlier sessions
        self._asked = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="eddyline-executors", daemon=True)
        self._thread.start()

    def ask(self, spark: SparkSession) -> None:
        """Have the session compute something, which it can as soon as an executor has come; does not wait."""
        self._asked.set()
        threading.Thread(target=self._ask, args=(spark,), name="eddyline-first-task", daemon=True).start()

    def stop(self) -> None:
        """Say nothing more."""
        self._over.set()

    @property
    def reason(self) -> str:
        """What Spark has said about executors; empty where it has said nothing."""
        lines = self._lines()
        for telling in _TELLING:
            found = [line for line in lines if telling.search(line)]
            if found:
                return "".join(c if c.isprintable() else " " for c in found[-1].partition(" ")[2])
        return ""

    def _has_come(self) -> bool:
        """Whether Spark has said so; else it shows when what was asked is computed, which takes a little longer."""
        return any(_CAME in line for line in self._lines())

    def _ask(self, spark: SparkSession) -> None:
        with suppress(Exception):  # the session ended before: its user knows
            spark.range(0, 1, 1, 1).collect()
        self._over.set()

    def _look(self) -> None:
        while not (self._over.is_set() or self._asked.wait(LOOK) or self._lines()):
            pass  # Java is starting, which may take a while and is nobody's fault
        begin, told = time.monotonic(), None
        while not (self._over.wait(LOOK) or self._has_come()):
            if time.monotonic() < begin + PATIENCE:
                continue
            reason = self.reason
            kind = re.sub(r"\d+", "", reason)  # the same of another executor is nothing new
            if kind != told:
                told = kind
                log.warning(self._message(time.monotonic() - begin, reason))
        if told is not None:
            log.info(
                "%s: no longer waiting for an executor after %.0f s", self._master, time.monotonic() - begin
            )

    def _message(self, seconds: float, reason: str) -> str:
        said = f'Spark says: "{reason}"' if reason else "Spark does not say why"
        reached = (
            ""
            if self._driver is None
            else f", and can reach this process at {self._driver} (spark.driver.host)"
        )
        return (
            f"no executor has come from {self._master} within {seconds:.0f} s; {said}; waiting goes on. "
            f"Look whether the cluster has workers that have free cores and memory{reached}; "
            "an executor that ended says why in its log on the worker"
        )

    def _lines(self) -> list[str]:
        try:
            with EVENTS.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                first = self._skipped if self._skipped <= size else 0  # it was begun anew
                file.seek(max(first, size - MOST_READ))
                return file.read().decode(errors="replace").splitlines()
        except OSError:
            return []


@atexit.register
def _remove_events() -> None:
    for path in EVENTS.parent.glob(f"{EVENTS.name}*"):
        path.unlink(missing_ok=True)
