"""A back-test of a history larger than the memory that it may take."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

RUN = """
import json, resource
import numpy as np, pyarrow as pa
from eddyline import Query, Stream
from eddyline.backtest import prepare
from eddyline.runtime.embedded.backtest import History, run
from eddyline.runtime.embedded.sources import FileRows

ROWS, WARM, PIECES = 65_536, 20, 200
stream = Stream("s", pa.schema({"at": pa.timestamp("us"), "x": pa.float64(), "k": pa.int64(), "y": pa.float64()}), "at")
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
marks = {}

def history():
    rng = np.random.default_rng(1)
    for number in range(PIECES):
        if number == WARM:
            marks["warm"] = peak()
        at = number * 10**9 + np.sort(rng.integers(0, 10**9, ROWS))
        columns = [pa.array(at, pa.timestamp("us")), rng.random(ROWS), rng.integers(0, 1000, ROWS), rng.random(ROWS)]
        batch = pa.record_batch(columns, schema=stream.schema)
        marks["bytes"] = marks.get("bytes", 0) + batch.nbytes
        yield FileRows(batch, "f", number * ROWS)

tested = [Query(f"q{i}", f"SELECT * FROM s WHERE x < 0.{i:03} AND k % 7 <> 3") for i in range(1, 60)]
existing = [Query(f"e{i}", f"SELECT * FROM s WHERE k = {i}") for i in range(500)]
found = run(prepare(tested, [stream], existing=existing), [History("s", history())])
assert found.rows == ROWS * PIECES and found.queries[-1].matches > 0
print(json.dumps(marks | {"end": peak(), "rows": found.rows, "buckets": len(found.queries[0].counts)}))
"""


@pytest.mark.long
def test_memory_does_not_grow_with_the_history() -> None:
    run = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True, timeout=500)
    found = json.loads(run.stdout)
    growth = found["end"] - found["warm"]
    assert found["bytes"] > 380 * 2**20, "the history is large"
    assert growth < 48 * 2**20, f"{growth >> 20} MiB more at the end of {found['bytes'] >> 20} MiB of history"
    assert found["buckets"] <= 256
