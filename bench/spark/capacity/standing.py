"""What a standing set costs the driver and the workers, without Spark: `python -m bench.spark.capacity.standing QUERIES FOLDER`.

A process for each size, because memory that Python has had it seldom gives back.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from bench.spark.capacity.runs import fill
from bench.workloads import standing
from eddyline.project.account import QueryAccounts
from eddyline.queryset import open_set
from eddyline.registry import Put, Registry
from eddyline.runtime.spark.pipeline.batch.summary import Summary, total
from eddyline.runtime.spark.versions import Versions
from eddyline.standing.saved.files import files_of

COLUMNS: Final = 7
SHARE: Final = 1e-6
CHANGED: Final = 10  # queries of a change
TASKS: Final = 4
BLOCK: Final = 1 << 15  # bytes that Spark compresses at a time


@dataclass(frozen=True)
class StandingCosts:
    """Of a whole set: seconds of a processor, bytes."""

    queries: int
    compiling: float
    change: float
    count: float
    add_up: float  # of one task
    archive: int
    files: int
    summary: int
    told: int
    driver: int
    process: int


def measure(queries: int, folder: Path) -> StandingCosts:
    """All of it, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.spark.capacity.standing", str(queries), str(folder)],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return StandingCosts(**json.loads(done.stdout.splitlines()[-1]))


def main(queries: int, folder: Path) -> None:
    """Measure and print."""
    if len(sys.argv) > 3:
        print(_process_bytes(Path(sys.argv[3])))
        return
    workload = standing.workload("keyed", queries, COLUMNS, SHARE)
    path = folder / f"standing {queries}.db"
    fill(path, workload)
    del workload
    with Registry.open(str(path)) as registry:
        versions = Versions(registry, folder / f"sets {queries}", shared=False)
        compiling = _seconds(versions.current)
        versions.wait()
        first = versions.shipment(versions.current())
        head = "SELECT * FROM events WHERE symbol = 'K0001' AND x0 > "
        registry.change([Put(f"new {number}", sql=f"{head}0.{number}") for number in range(CHANGED)])
        change = _seconds(lambda: versions.shipment(versions.current()))
        gc.collect()
        driver = _resident()
        newest = sorted((folder / f"sets {queries}").glob("**/manifest.json"), key=os.path.getmtime)[-1]
        root = _root(newest.parent)
        files = sum((root / name).stat().st_size for name in files_of(newest.parent))
        count, add_up, summary, told = _counted(registry, queries)
    process = subprocess.run(
        [
            sys.executable,
            "-m",
            "bench.spark.capacity.standing",
            str(queries),
            str(folder),
            str(newest.parent),
        ],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert first.content is not None, "a set that is not shared travels by itself"
    found = StandingCosts(
        queries,
        compiling,
        change,
        count,
        add_up,
        len(first.content),
        files,
        summary,
        told,
        driver,
        int(process.stdout.split()[-1]),
    )
    print(json.dumps(asdict(found)))


def _root(folder: Path) -> Path:
    inside = Path(files_of(folder)[-1]).parent
    return folder.parents[len(inside.parts) - 1] if inside.parts else folder


def _counted(registry: Registry, queries: int) -> tuple[float, float, int, int]:
    """Every query matched a few times: seconds to count them a second time, to add up a task's summary; its bytes."""
    matches = np.random.default_rng(1).poisson(2, queries) + 1
    accounts = QueryAccounts.of(np.arange(queries), matches=matches, delivered=matches)
    texts = [Summary(rows=1, accounts=accounts, sinks=Counter(out=1)).packed() for _ in range(TASKS)]
    add_up = _seconds(lambda: total(texts)) / TASKS
    ids = pa.array([str(query) for query in range(queries)])
    registry.add_counters(_counters(accounts, ids), once=("bench", 1))
    count = _seconds(lambda: registry.add_counters(_counters(accounts, ids), once=("bench", 2)))
    content = texts[0].encode()
    blocks = [content[at : at + BLOCK] for at in range(0, len(content), BLOCK)]
    told = sum(len(pa.compress(block, codec="lz4_raw", asbytes=True)) for block in blocks)
    return count, add_up, len(content), told


def _counters(accounts: QueryAccounts, ids: pa.Array) -> dict[str, dict[str, int]]:
    """As a batch has them for the registry."""
    return {
        ids[number].as_py(): {
            "matches": account.matches,
            "deliveries": account.delivered,
            "shadowed": account.shadowed,
            "undelivered": account.undelivered,
            "failures": account.failures,
        }
        for number, account in accounts
    }


def _process_bytes(folder: Path) -> int:
    """What a worker's process has for itself once it has matched."""
    queries = open_set(folder, verify=False)
    batch = standing.workload("keyed", 1, COLUMNS, SHARE).batch(40_000)
    for _ in range(2):
        queries.match(batch).pair_arrays()
    gc.collect()
    fields = Path("/proc/self/smaps_rollup").read_text().splitlines()
    (anonymous,) = (int(line.split()[1]) for line in fields if line.startswith("Anonymous:"))
    return anonymous * 1024


def _resident() -> int:
    fields = Path("/proc/self/status").read_text().splitlines()
    (found,) = (int(line.split()[1]) for line in fields if line.startswith("VmRSS:"))
    return found * 1024


def _seconds(run: Callable[[], object]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
