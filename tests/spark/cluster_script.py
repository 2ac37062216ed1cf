"""Queries on a cluster whose workers do not see the driver's folders: run by tests/spark/test_cluster_runs.py in its own process."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import eddyline as ed
from eddyline.spark import Pipeline, count, match, session
from tests.fault.kills import descendants
from tests.spark.pipelines import QUOTES, Place, quotes

CHEAP = "SELECT id, price FROM quotes WHERE price < 4"
ODD = "SELECT id, price FROM quotes WHERE symbol = 'b'"


def main(folder: Path, master: str, workers: list[int]) -> None:
    config = {"spark.master": master, "spark.executor.memory": "600m", "spark.ui.enabled": "false"}
    spark = session("eddyline-cluster-tests", config={**config, "spark.sql.shuffle.partitions": "2"})
    found: dict[str, Any] = {}
    queries = ed.QuerySet.build({"cheap": CHEAP, "odd": ODD}, streams=[QUOTES])
    rows = spark.createDataFrame(
        [(row["id"], row["symbol"], row["price"]) for row in quotes(0, 40)],
        "id bigint, symbol string, price double",
    ).selectExpr("*", "CAST(NULL AS TIMESTAMP) AS at")
    matched = rows.repartition(4).transform(match(queries, explode=True)).collect()
    found["match"] = sorted([row["query_id"], row["id"]] for row in matched)
    found["count"] = {row["query_id"]: row["matches"] for row in rows.transform(count(queries)).collect()}
    place = Place(folder)
    place.register({"cheap": CHEAP})
    place.write("0.json", quotes(0), "{broken")
    killers: list[Callable[[], None]] = [
        lambda: kill_one(workers, "pyspark.daemon", "eddyline.runtime.spark.daemon"),
        lambda: kill_one(workers, "CoarseGrainedExecutorBackend"),
    ]
    for number, kill in enumerate([lambda: None, *killers]):
        if number:
            place.register({f"odd {number}": ODD})
            place.write(f"{number}.json", quotes(6 * number))
        killer = threading.Timer(0.5, kill)
        killer.start()
        running = Pipeline(place.settings).start(spark)
        assert running.await_termination(240)
        killer.join()
    found["pairs"] = [list(pair) for pair in place.pairs()]
    found["letters"] = [letter["text"] for letter in place.letters()]
    (folder / "found.json").write_text(json.dumps(found))
    spark.stop()


def kill_one(workers: list[int], *names: str) -> None:
    """Kill a process below one of the workers, by what its command says, as soon as there is one."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for pid in (pid for worker in workers for pid in descendants(worker)):
            try:
                command = Path(f"/proc/{pid}/cmdline").read_text()
            except OSError:
                continue
            if any(name in command for name in names):
                os.kill(pid, signal.SIGKILL)
                return
        time.sleep(0.05)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [int(pid) for pid in sys.argv[3:]])
