"""Kills a running pipeline at random moments while its queries change, and says what must have been delivered afterwards.

Results go to a folder and to a web server, which goes by `Idempotency-Key` and sometimes fails.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

import eddyline as ed
from eddyline.registry import Drop, Edit, Put, Registry, Set, State
from eddyline.runtime.spark.versions import VersionLog
from tests.fault.pipeline_script import HOOK, KILL_AFTER
from tests.fault.stores import Store, store_of
from tests.processes import PYTHONPATH, ROOT, kill, kill_family, python_workers
from tests.spark.pipelines import QUOTES, Place, quotes
from tests.web_server import Received, receiver

ROWS = 20  # a file
BROKEN = ("{broken",)  # lines that are no rows
PATIENCE = 240.0  # seconds in which something must happen


@dataclass
class Driver:
    """The process that runs the pipeline; started again after it was killed."""

    folder: Path
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0

    def ensure(self) -> None:
        """Start it if it does not run."""
        if self.process is not None and self.process.poll() is None:
            return
        self.starts += 1
        environment = {**os.environ, "PYTHONPATH": PYTHONPATH}
        with (self.folder / f"driver-{self.starts}.log").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.fault.pipeline_script", str(self.folder), str(self.starts - 1)],
                stdout=log,
                stderr=log,
                env=environment,
                cwd=ROOT,
                start_new_session=True,
            )

    def kill(self, *, with_java: bool) -> None:
        """Kill the driver, alone or with its JVM and workers; alone, it takes them along sooner or later."""
        assert self.process is not None, "it was started"
        if with_java:
            kill_family(self.process.pid)
        else:
            kill(self.process.pid)
        self.process.wait()

    def kill_worker(self, choice: random.Random) -> bool:
        """Kill one of the Python workers, if there is any."""
        assert self.process is not None, "it was started"
        workers = python_workers(self.process.pid)
        if not workers:
            return False
        kill(choice.choice(workers))
        return True

    def log(self) -> str:
        """What the last start said."""
        return (self.folder / f"driver-{self.starts}.log").read_text(errors="replace")[-3000:]


@contextmanager
def driver(folder: Path) -> Iterator[Driver]:
    """A driver that is gone afterwards, whatever happens."""
    running = Driver(folder)
    try:
        yield running
    finally:
        if running.process is not None and running.process.poll() is None:
            running.kill(with_java=True)


@dataclass
class Changes:
    """Random changes of the registry, and files that come in, between the kills."""

    place: Place
    choice: random.Random
    files: int = 0
    changes: int = 0
    known: list[str] = field(default_factory=list)
    lines: tuple[str, ...] = ()  # that end each file, and are no rows

    def feed(self) -> None:
        """One more file."""
        store_of(self.place.folder).feed(
            f"{self.files:05}.json", quotes(self.files * ROWS, ROWS), *self.lines
        )
        self.files += 1

    def change(self) -> None:
        """Add a query, give one another text, take one out, or make a shadow of it."""
        self.changes += 1
        id = self.choice.choice(self.known) if self.known else "q0"
        edit: Edit
        match self.choice.randrange(6) if len(self.known) > 3 else 0:
            case 0 | 1:
                id = f"q{self.changes}"
                hook = HOOK if (self.place.folder / HOOK).exists() else None
                edit = Put(id, self._text(), destination=self.choice.choice([None, hook]))
                self.known.append(id)
            case 2 | 3:
                edit = Put(id, self._text())
            case 4:
                edit = Set(id, state=self.choice.choice([State.SHADOW, State.ENABLED]))
            case _:
                edit = Drop(id)
                self.known.remove(id)
        self.place.register([edit])

    def _text(self) -> str:
        letter, bound = self.choice.choice("abc"), self.choice.randrange(1, 40)
        return f"SELECT id, symbol, price FROM quotes WHERE symbol = '{letter}' AND id % {bound} < 3"


@dataclass(frozen=True)
class Aftermath:
    """What is in the store, and what must be there by the versions that served the batches."""

    folder: Path

    @property
    def store(self) -> Store:
        """Where the pipeline has its state and its results."""
        return store_of(self.folder)

    @property
    def log(self) -> VersionLog:
        """Which version served which batch."""
        return self.store.versions

    def files(self) -> dict[int, set[str]]:
        """The names of the files of every batch that Spark has begun.

        Its log of the source numbers the files it has seen, and its log of offsets says up to which number a batch goes:
        after a crash the two count differently.
        """
        state, spark = self.store.state, "spark/quotes"
        seen: dict[int, set[str]] = {}
        for log in state.list(f"{spark}/sources/0"):
            if not log[0].isdigit():
                continue
            for line in state.read(f"{spark}/sources/0/{log}").decode().splitlines()[1:]:
                entry = json.loads(line)
                seen.setdefault(entry["batchId"], set()).add(entry["path"].rpartition("/")[2])
        found: dict[int, set[str]] = {}
        before = -1
        for batch_id in sorted(int(name) for name in state.list(f"{spark}/offsets") if name.isdigit()):
            offset = state.read(f"{spark}/offsets/{batch_id}").decode().splitlines()[2]
            last = -1 if offset == "-" else int(json.loads(offset)["logOffset"])
            numbers = range(before + 1, last + 1)
            found[batch_id] = {file for number in numbers for file in seen.get(number, ())}
            before = last
        return found

    def all_committed(self) -> bool:
        """Whether every batch that Spark has begun is done; it begins one before we hear of it."""
        begun = self.files()
        done = {batch.pin.batch_id for batch in self.log.batches("quotes") if batch.committed is not None}
        return bool(begun) and begun.keys() <= done

    def expected(self) -> tuple[list[tuple[Any, ...]], dict[str, int], dict[str, int]]:
        """Every result that must be there, by the embedded matcher, and the matches and deliveries of every query.

        What a result is: sink, query, revision, version, batch, the tuple's identity, what was selected.
        """
        pins = {pin.batch_id: pin.version for pin in self.log.pins("quotes")}
        results: list[tuple[Any, ...]] = []
        matches: Counter[str] = Counter()
        deliveries: Counter[str] = Counter()
        inputs = self.store.inputs
        with Registry.open(self.folder / "registry.db") as registry:
            for batch_id, files in sorted(self.files().items()):
                version = pins[batch_id]
                entries = {e.id: e for e in registry.entries(version) if e.state != State.DISABLED}
                queries = ed.QuerySet.build({e.id: e.sql for e in entries.values()}, streams=[QUOTES])
                rows, identities = [], []
                for file in sorted(files):
                    for number, line in enumerate(inputs.read(file).decode().splitlines()):
                        if line not in BROKEN:
                            rows.append(json.loads(line))
                            identities.append(f"{file}#{number}")
                columns = {
                    "id": pa.array([row["id"] for row in rows], pa.int64()),
                    "symbol": [row["symbol"] for row in rows],
                    "price": pa.array([row["price"] for row in rows], pa.float64()),
                    "at": pa.nulls(len(rows), pa.timestamp("us", "UTC")),
                }
                for pair in queries.match(pa.table(columns)).pairs().to_pylist():
                    entry, row = entries[pair["query"]], rows[pair["row"]]
                    identity = identities[pair["row"]]
                    matches[entry.id] += 1
                    if entry.state == State.ENABLED:
                        deliveries[entry.id] += 1
                        payload = (row["id"], row["symbol"], row["price"])
                        sink = entry.destination or "results"
                        results.append((sink, entry.id, entry.revision, version, batch_id, identity, payload))
        return sorted(results), dict(matches), dict(deliveries)

    def found(self) -> list[tuple[Any, ...]]:
        """Every result that a plain reader of the folder sees."""
        return sorted(
            _result("results", row, row["batch"], json.loads(row["payload"]) if row.get("payload") else row)
            for row in self.store.results()
        )


def taken(received: list[Received]) -> list[tuple[Any, ...]]:
    """Every result that a web server has which leaves out documents with a key that it knows.

    What it was sent before it said 204, or hung up, it has taken. A key must never come with another document.
    """
    bodies: dict[str, bytes] = {}
    known: dict[str, Any] = {}
    for one in received:
        key = one.headers["Idempotency-Key"]
        assert bodies.setdefault(key, one.body) == one.body, f"two documents have the key {key}"
        if one.answer in (204, None):
            known.setdefault(key, one.document)
    return sorted(
        _result(HOOK, result, result["batch_id"], result["payload"])
        for document in known.values()
        for result in document["results"]
    )


def _result(sink: str, row: dict[str, Any], batch: int, selected: dict[str, Any]) -> tuple[Any, ...]:
    payload = (selected["id"], selected["symbol"], selected["price"])
    identity = row["tuple_key"].rpartition("/")[2]
    return (sink, row["query_id"], row["query_revision"], row["version"], batch, identity, payload)


class Gate:
    """Lets documents through; while it is shut, none but the first of a batch, so that a kill can hit between two."""

    def __init__(self) -> None:
        self._waiting = threading.Event()
        self._open = threading.Event()
        self._open.set()

    def pass_through(self, one: Received) -> None:
        """Wait, in the thread of the web server, if the gate is shut."""
        if one.document["chunk"] and not self._open.is_set():
            self._waiting.set()
            self._open.wait(PATIENCE)

    @contextmanager
    def shut(self) -> Iterator[threading.Event]:
        """Gives what says that a document waits."""
        self._waiting.clear()
        self._open.clear()
        try:
            yield self._waiting
        finally:
            self._open.set()


@dataclass(frozen=True)
class Storm:
    """What was killed how often, and what a web server was sent meanwhile."""

    kills: Counter[str]
    received: list[Received]


def storm(folder: Path, kills: int, seed: int) -> Storm:
    """Run a pipeline, kill it so many times while files come and queries change, let it end."""
    choice, gate = random.Random(seed), Gate()
    with receiver() as server:
        server.hold = gate.pass_through
        server.answers.extend(choice.choices([204, 503, None], [8, 1, 1], k=10_000))
        (folder / HOOK).write_text(server.address)
        return Storm(_killed(folder, kills, choice, gate), server.received)


def _killed(folder: Path, kills: int, choice: random.Random, gate: Gate) -> Counter[str]:
    changes = Changes(Place(folder), choice)
    changes.place.register([Put("all", "SELECT id, symbol, price FROM quotes", destination=HOOK)])
    for _ in range(5):
        changes.change()
    done: Counter[str] = Counter()
    with driver(folder) as running:
        while done.total() < kills:
            running.ensure()
            if done.total() % 3 == 0:
                with gate.shut() as waiting:
                    changes.feed()
                    _until(waiting.is_set, running)
                    running.kill(with_java=True)
                done["between two documents"] += 1
                continue
            _wait_for_batch(folder, running, changes)
            for _ in range(choice.randrange(1, 4)):
                changes.feed()
                changes.change()
            time.sleep(choice.random() * 1.5)
            if choice.random() < 0.5 and running.kill_worker(choice):
                done["worker"] += 1
            else:
                with_java = choice.random() < 0.7
                running.kill(with_java=with_java)
                done["driver and JVM" if with_java else "driver"] += 1
        changes.feed()
        (folder / "enough").touch()
        _until(lambda: _ended(running), running)
    return done


def stepwise(folder: Path, steps: Sequence[str], seed: int, *, lines: tuple[str, ...] = ()) -> None:
    """Run a pipeline that is killed after each of these steps of a batch, while its queries change; let it end.

    Each file that comes in ends with these lines, which may be those that are `BROKEN`.
    """
    changes = Changes(Place(folder), random.Random(seed), lines=lines)
    changes.place.register([Put("all", "SELECT id, symbol, price FROM quotes")])
    (folder / "quotes").mkdir()
    with driver(folder) as running:
        for step in steps:
            (folder / KILL_AFTER).write_text(step)
            changes.change()
            changes.feed()
            running.ensure()
            _until(lambda: running.process is not None and running.process.poll() is not None, running)
            assert not (folder / KILL_AFTER).exists(), f"it ended before it was killed\n{running.log()}"
        changes.change()
        changes.feed()
        (folder / "enough").touch()
        _until(lambda: _ended(running), running)


def _wait_for_batch(folder: Path, running: Driver, changes: Changes) -> None:
    """Wait until the driver has begun another batch, so that a kill hits work and not a start."""
    before = _pinned(folder)
    changes.feed()

    def begun() -> bool:
        running.ensure()
        return _pinned(folder) != before

    _until(begun, running)


def _pinned(folder: Path) -> int:
    try:
        last = Aftermath(folder).log.last("quotes")
    except ed.EddylineError:  # the state folder is not there yet
        return -1
    return -1 if last is None else last.batch_id


def _ended(running: Driver) -> bool:
    running.ensure()
    assert running.process is not None, "it was just started"
    try:
        return running.process.wait(1.0) == 0
    except subprocess.TimeoutExpired:
        return False


def _until(condition: Any, running: Driver) -> None:
    end = time.monotonic() + PATIENCE
    starts = running.starts
    while not condition():
        assert time.monotonic() < end, f"nothing happens any more\n{running.log()}"
        assert running.starts < starts + 4, f"the driver does not stay alive\n{running.log()}"
        time.sleep(0.05)
