"""pathway joins windows by `interval_join`, one for each query, in a Python of its own: it wants other packages than we do.

`EDDYLINE_PATHWAY` names the Python that has pathway installed (`python -m venv`, `pip install pathway`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from bench.workloads.joins import JoinWorkload


def run(workload: JoinWorkload, tables: Mapping[str, pa.Table]) -> tuple[float, np.ndarray]:
    """Rows of both streams a second, and how many pairs satisfy each query."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from bench.peers.missing import Missing
    from bench.workloads.joins import BATCHES, SECOND

    python = os.environ.get("EDDYLINE_PATHWAY")
    if python is None:
        raise Missing("EDDYLINE_PATHWAY does not name a Python that has it")
    if not workload.is_by_symbol:
        raise Missing("it is asked for pairs only")
    with tempfile.TemporaryDirectory() as folder:
        for name, table in tables.items():
            pq.write_table(
                table.set_column(0, "ts", table.column("ts").cast(pa.int64())), f"{folder}/{name}.parquet"
            )
        pq.write_table(workload.rules, f"{folder}/rules.parquet")
        command = [python, __file__, folder, str((BATCHES - 1) * SECOND)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"it fails: {done.stderr.strip()[-500:]}")
        found = json.loads(Path(folder, "out.json").read_text())
    rows = sum(table.num_rows for table in tables.values())
    return rows / found["seconds"], np.array(found["counts"])


def _main(folder: str, window: int) -> None:
    """In the other Python: read tables and rules, write seconds of CPU time and counts."""
    import pandas as pd
    import pathway as pw

    def table(name: str) -> Any:
        return pw.debug.table_from_pandas(pd.read_parquet(f"{folder}/{name}.parquet"))

    quotes, trades = table("quotes"), table("trades")
    rules = pd.read_parquet(f"{folder}/rules.parquet")
    counts = [0] * len(rules)
    for rule in rules.itertuples():
        q = quotes.filter((pw.this.symbol == rule.symbol) & (pw.this.price > rule.low_0))
        t = trades.filter((pw.this.symbol == rule.symbol) & (pw.this.price > rule.low_1))
        bounds = pw.temporal.interval(-window, window)
        joined = q.interval_join(t, q.ts, t.ts, bounds, q.symbol == t.symbol).select(price=t.price)
        pw.io.subscribe(joined, on_change=_adding(counts, int(rule.query)))
    start = time.process_time()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    seconds = time.process_time() - start
    Path(folder, "out.json").write_text(json.dumps({"seconds": seconds, "counts": counts}))


def _adding(counts: list[int], query: int) -> Any:
    def on_change(key: Any, row: Any, time: int, is_addition: bool) -> None:
        counts[query] += 1 if is_addition else -1

    return on_change


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
