"""Fifty changes of a registry of ten thousand queries while a pipeline runs: it never stops, slows down or grows."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eddyline.registry import Drop, Put
from eddyline.runtime.spark.watching import BatchReport, Tail
from tests.fault.kills import Aftermath, Driver, driver
from tests.processes import descendants
from tests.spark.pipelines import QUOTES, Place, quotes

QUERIES = 10_000
WARM_UP, BATCHES, ROWS = 15, 100, 500
CHANGES = 50
GROWTH = 64 << 20  # bytes: what a heap may move by itself


def text(number: int) -> str:
    return f"SELECT id, symbol, price FROM quotes WHERE symbol = '{'abc'[number % 3]}' AND id % 2003 = {number % 2003}"


def processes(running: Driver) -> Iterator[Path]:
    """What the kernel says of the driver and of all that it has started."""
    assert running.process is not None
    for pid in (running.process.pid, *descendants(running.process.pid)):
        yield Path(f"/proc/{pid}")


def memory(running: Driver) -> int:
    """Bytes of the driver and its Python workers; the JVM keeps what it once took, so its heap has a limit instead."""
    total = 0
    for process in processes(running):
        with contextlib.suppress(OSError):  # it ended a moment ago
            if "java" not in (process / "comm").read_text():
                total += int((process / "statm").read_text().split()[1]) * 4096
    return total


def cpu_time(running: Driver) -> float:
    """Seconds that all of them have computed: unlike the clock it does not tell what else the machine has to do."""
    ticks = 0
    for process in processes(running):
        with contextlib.suppress(OSError):
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # its own and that of its children that have ended
    return ticks / os.sysconf("SC_CLK_TCK")


@pytest.mark.long
def test_fifty_changes(tmp_path: Path) -> None:
    place, choice = Place(tmp_path), random.Random(3)
    place.register([Put(f"q{n}", text(n)) for n in range(QUERIES)], QUOTES)
    (tmp_path / "quotes").mkdir(exist_ok=True)
    reports: list[BatchReport] = []
    sizes: list[int] = []
    computed: list[float] = []
    with driver(tmp_path) as running:
        running.ensure()
        tail = Tail(tmp_path / "state" / "metrics.jsonl")
        for batch in range(WARM_UP + BATCHES):
            if batch >= WARM_UP and (batch - WARM_UP) % (BATCHES // CHANGES) == 0:
                old, new = f"q{choice.randrange(QUERIES // 2)}", QUERIES + batch
                place.register([Put(old, text(new)), Put(f"n{new}", text(new)), Drop(f"q{QUERIES - batch}")])
            place.write(f"{batch:05}.json", quotes(batch * ROWS, ROWS))
            end = time.monotonic() + 240
            while len(reports) <= batch:
                assert time.monotonic() < end, f"nothing happens any more\n{running.log()}"
                reports += tail.read()
                time.sleep(0.02)
            sizes.append(memory(running))
            computed.append(cpu_time(running))
        assert running.starts == 1 and running.process is not None and running.process.poll() is None
        (tmp_path / "enough").touch()
        assert running.process.wait(240) == 0
    assert len({report.version for report in reports}) == CHANGES + 1
    assert all(b.version >= a.version for a, b in itertools.pairwise(reports))
    seconds = [after - before for before, after in itertools.pairwise(computed[WARM_UP - 1 :])]
    first, last = statistics.median(seconds[:20]), statistics.median(seconds[-20:])
    assert last <= 1.2 * first, f"batches took {first:.3f} s of the processor and then {last:.3f} s"
    early, late = (
        statistics.median(sizes[a:b]) for a, b in ((WARM_UP, WARM_UP + 20), (len(sizes) - 20, len(sizes)))
    )
    assert late <= early + GROWTH, f"{early / 1e6:.0f} MB and then {late / 1e6:.0f} MB"
    aftermath = Aftermath(tmp_path)
    expected, _, _ = aftermath.expected()
    assert [row[:6] for row in aftermath.found()] == [row[:6] for row in expected]
