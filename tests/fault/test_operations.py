"""`eddyline run` as a supervisor sees it: signals, a batch that does not end, a Java that is killed, workers that are gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from eddyline.cli.output.terminal import Exit
from tests.cluster import master, worker
from tests.processes import descendants
from tests.spark.pipelines import Place, log_of, quotes

pytestmark = [pytest.mark.spark, pytest.mark.long]

PATIENCE = 180
HELD = "held"  # while there is a file of this name, the sink takes nothing
TAKE = f"""
import time
from pathlib import Path

def take(rows, batch):
    while Path({HELD!r}).exists():
        Path("waiting").touch()
        time.sleep(0.05)
"""
SETTINGS = """
[pipeline]
name = "market"
registry = "registry.db"
checkpoint = "{checkpoint}"
trigger = "100 milliseconds"
retries = 1000000
prometheus = "127.0.0.1:{port}"
stop_within = 3
stalled_after = 900

[session]
master = "{master}"
"spark.hadoop.fs.viewfs.mounttable.t.link./data" = "file://{folder}"

[[source]]
name = "quotes"
format = "json"
path = "quotes"
options = {{ maxFilesPerTrigger = 1 }}

[[sink]]
name = "results"
format = "{sink}"
"""


@dataclass
class Command:
    """`eddyline run` in a process of its own."""

    process: subprocess.Popen[bytes]
    folder: Path
    port: int

    def get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as found:
                return found.status, found.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def said(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def until(self, holds: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.1)

    def exit_code(self) -> int:
        return self.process.wait(PATIENCE)

    def java(self) -> int:
        (found,) = [pid for pid in descendants(self.process.pid) if _name(pid) == "java"]
        return found


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""  # it has ended meanwhile


def _python_path() -> list[str]:
    """Where this process was told to look for modules: there is the source that is tested."""
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


@contextmanager
def running(
    place: Place, port: int, *, sink: str = "callback", on: str = "local[1,4]", checkpoint: str = "state"
) -> Iterator[Command]:
    folder = place.folder
    (folder / "sink_script.py").write_text(TAKE)
    more = 'callback = "sink_script:take"\n' if sink == "callback" else 'path = "out"\n'
    settings = SETTINGS.format(port=port, master=on, sink=sink, folder=folder, checkpoint=checkpoint)
    (folder / "m.toml").write_text(settings + more)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", "from eddyline.cli import main; main()", "run", "m.toml", "--no-view"],
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *_python_path()])},
        )
    try:
        yield Command(process, folder, port)
    finally:
        if process.poll() is None:
            for pid in (process.pid, *descendants(process.pid)):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def begin(place: Place, command: Command) -> None:
    """Wait for the first batch."""
    command.until(lambda: command.get("/readyz")[0] == 200)
    place.write("0.json", quotes(0))
    command.until(lambda: 'eddyline_batches_total{source="quotes"} 1' in command.get("/metrics")[1])


@pytest.fixture
def quoted(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    (tmp_path / "quotes").mkdir()
    place.register({"all": "SELECT id FROM quotes"})
    return place


def hang(place: Place, command: Command) -> None:
    """Have a batch that does not end."""
    (place.folder / HELD).touch()
    place.write("1.json", quotes(6))
    command.until((place.folder / "waiting").exists)


def test_sigterm_ends_after_the_batch(quoted: Place, port: int) -> None:
    with running(quoted, port) as command:
        begin(quoted, command)
        hang(quoted, command)
        command.process.send_signal(signal.SIGTERM)
        command.until(lambda: "stopping after the batch" in command.said())
        assert command.get("/readyz") == (503, "stopping\n")
        (quoted.folder / HELD).unlink()
        assert command.exit_code() == Exit.FINE, command.said()
    last = log_of(quoted.settings).last_served("quotes")
    assert last is not None and last.committed is not None and last.pin.batch_id == 1


def test_a_batch_that_does_not_end_in_time_runs_again(quoted: Place, port: int) -> None:
    with running(quoted, port) as command:
        begin(quoted, command)
        hang(quoted, command)
        command.process.send_signal(signal.SIGTERM)
        assert command.exit_code() == Exit.BATCH_STOPPED, command.said()
        assert "has not ended within 3 s" in command.said()
    (quoted.folder / HELD).unlink()
    with running(quoted, port) as command:
        command.until(lambda: 'eddyline_batches_total{source="quotes"} 2' in command.get("/metrics")[1])
        command.process.send_signal(signal.SIGINT)
        assert command.exit_code() == Exit.FINE, command.said()


@pytest.mark.parametrize("checkpoint", ["state", "viewfs://t/data/state"])
def test_a_java_that_is_killed_ends_the_command(quoted: Place, port: int, checkpoint: str) -> None:
    """In the middle of a batch, with retries without end; also where the state can only be reached through it."""
    with running(quoted, port, checkpoint=checkpoint) as command:
        begin(quoted, command)
        hang(quoted, command)
        os.kill(command.java(), signal.SIGKILL)
        (quoted.folder / HELD).unlink()
        assert command.exit_code() == Exit.SPARK_GONE, command.said()
        assert "the Java process of Spark has ended" in command.said()
        assert "py4j" not in command.said(), "its pages about a Java that does not answer"
        assert command.said().splitlines()[-1].startswith("hint: start the pipeline again in a new process")


def test_a_batch_whose_workers_are_gone_is_unhealthy(quoted: Place, port: int, tmp_path: Path) -> None:
    with ExitStack() as stack:
        address = stack.enter_context(master(tmp_path))
        workers = stack.enter_context(ExitStack())
        workers.enter_context(worker(tmp_path, address))
        command = stack.enter_context(running(quoted, port, sink="parquet", on=address))
        begin(quoted, command)
        assert 'eddyline_executors{source="quotes"} 1' in command.get("/metrics")[1]
        workers.close()
        quoted.write("1.json", quotes(6))
        command.until(lambda: command.get("/healthz")[0] == 503)
        assert "there has been no executor for" in command.get("/healthz")[1]


@pytest.fixture
def port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
