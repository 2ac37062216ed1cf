"""How much of everything a load needs. All formulas stand here.

R rows a second, Q queries, C columns, X matches per row, T seconds from batch to batch, n cores; rates in typewriter.

    cores that are busy  d = R * (`matching`(Q, C) + `reading`(C))  +  R * X * (`result_python` + `result_java`)
    queries that match   D(r) = Q * (1 - exp(-share * r))           of r rows, all queries alike
    the driver's seconds s = `batch` + `ship` * archive + 2 * n * `schedule` + n * D(R*T/n) * `add_up` + D(R*T) * `count`
    cores                n = d / (u - s/T)                          u: utilisation

A batch is the driver's part, in which the cores wait, and the rows, which all cores share:  s + d*T/n = u*T.  T is the
shortest of some usual lengths with which the driver's part is a tenth of u*T or less; that tenth it has in any case. Where it
takes more than nine tenths at the longest T, no number of cores will do.

Assumed, not measured: cores add up (they do for rows, which do not know each other, until disks, network or memory are
full); tasks are as many as cores and equally long; every query matches the same share of the rows; rows do not wait for
their source.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from eddyline.capacity.load import Load
from eddyline.capacity.rates import Rates

LENGTHS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)  # seconds from batch to batch
DRIVER_SHARE: Final = 0.1  # of the busy time that the driver has for itself, where batches can be longer
DRIVER_MOST: Final = 0.9  # of it, where they cannot
ROUNDS: Final = 100  # of a search that ends after a few
STAGES: Final = 2  # of a batch: rows matched, results written
GIB: Final = 1 << 30
IN_PLAN: Final = 64 << 20  # bytes up to which a compiled set travels in the plan of each batch
JAVA: Final = (
    GIB  # assumed: the memory of Java with little to do; the driver's, and that of an executor for each core
)


@dataclass(frozen=True)
class Sizing:
    """What a load needs; `load` and `rates` are what it was reckoned from."""

    load: Load
    rates: Rates

    @cached_property
    def matching_cores(self) -> float:
        """Busy in Python with matching rows."""
        load = self.load
        return load.rows_per_second * self.rates.matching[load.kind].at(load.queries, load.columns)

    @cached_property
    def making_cores(self) -> float:
        """Busy in Python with making results."""
        return self.load.results_per_second * self.rates.result_python

    @cached_property
    def reading_cores(self) -> float:
        """Busy in Java with reading rows and handing them to Python."""
        return self.load.rows_per_second * self.rates.reading.at(self.load.columns)

    @cached_property
    def writing_cores(self) -> float:
        """Busy in Java with taking results back, keeping and writing them."""
        return self.load.results_per_second * self.rates.result_java

    @property
    def busy_cores(self) -> float:
        """All of these."""
        return self.matching_cores + self.making_cores + self.reading_cores + self.writing_cores

    @cached_property
    def tasks(self) -> int:
        """Of a stage: as many as there are cores."""
        return self._cores(self.batch_seconds)

    @cached_property
    def batch_seconds(self) -> float:
        """From one batch to the next."""
        most = self.load.longest_batch
        usual = [*(length for length in LENGTHS if length < most), most]
        allowed, fewest = DRIVER_SHARE * self.load.utilisation, self._fewest_cores
        return next(
            (length for length in usual if _total(self._driver(length, fewest)) <= allowed * length), most
        )

    @property
    def batch_rows(self) -> float:
        """Rows of a batch."""
        return self.load.rows_per_second * self.batch_seconds

    @cached_property
    def driver_parts(self) -> dict[str, float]:
        """Seconds of the driver in which the cores wait, of each batch, by what they go into."""
        return self._driver(self.batch_seconds, self.tasks)

    @cached_property
    def longest_driver_parts(self) -> dict[str, float]:
        """The same of a batch that is as long as batches may be."""
        longest = self.load.longest_batch
        return self._driver(longest, self._cores(longest))

    @property
    def driver_seconds(self) -> float:
        """All of these."""
        return _total(self.driver_parts)

    @property
    def is_possible(self) -> bool:
        """Whether any number of cores will do."""
        return self.driver_seconds <= DRIVER_MOST * self.load.utilisation * self.batch_seconds

    @property
    def cores(self) -> int | None:
        """Of all workers; None where no number will do."""
        return self.tasks if self.is_possible else None

    @property
    def workers(self) -> int | None:
        """Workers of so many cores as the load says."""
        return None if self.cores is None else math.ceil(self.cores / self.load.cores_per_worker)

    @property
    def archive_bytes(self) -> float:
        """The compiled set as it travels: once per version where workers read it from a folder, else once per batch."""
        return self.rates.archive_bytes * self.load.queries

    @property
    def shipped_bytes(self) -> float:
        """Bytes of each batch that go to all workers; each has the set once."""
        if self.archive_bytes > IN_PLAN:
            return 0.0
        return self.archive_bytes * (self.workers or math.ceil(self.tasks / self.load.cores_per_worker))

    @property
    def summary_bytes(self) -> float:
        """What all tasks of a batch tell the driver of their queries."""
        return self._told_queries * self.rates.summary_bytes

    @property
    def told_bytes(self) -> float:
        """The same as it travels, compressed by Spark."""
        return self._told_queries * self.rates.told_bytes

    @property
    def _told_queries(self) -> float:
        return self.tasks * self._matched(self.batch_rows / self.tasks)

    @property
    def counted_queries(self) -> float:
        """Queries that a batch matches, and that are counted in the registry."""
        return self._matched(self.batch_rows)

    @property
    def driver_python_bytes(self) -> float:
        """Of the driver's Python, with a second version beside the one in force while everything is compiled again."""
        return self.rates.driver_base + 2 * self.load.queries * self.rates.driver_bytes + self.summary_bytes

    @property
    def driver_java_bytes(self) -> float:
        """Of the driver's Java: `spark.driver.memory`."""
        return JAVA + 2 * min(self.archive_bytes, IN_PLAN) + 2 * self.summary_bytes

    @property
    def worker_python_bytes(self) -> float:
        """Of all Python processes of a worker, one for each core, and the files that they share."""
        rates, queries = self.rates, self.load.queries
        own = rates.process_base + queries * rates.process_bytes
        return queries * rates.worker_bytes + self.load.cores_per_worker * own

    @property
    def worker_java_bytes(self) -> float:
        """Of a worker's executor: `spark.executor.memory`."""
        return self.load.cores_per_worker * JAVA

    @property
    def kept_bytes(self) -> float:
        """Results of a batch that a worker keeps until they are written; Spark puts on disk what does not fit."""
        results = self.load.results_per_second * self.batch_seconds
        workers = self.workers or math.ceil(self.tasks / self.load.cores_per_worker)
        return results * self.rates.kept_bytes / workers

    @property
    def written_bytes_per_second(self) -> float:
        """What the sinks get."""
        return self.load.results_per_second * self.rates.written_bytes

    @property
    def files(self) -> int:
        """Of a batch, at most: one for each task with results, in a sink that is not partitioned."""
        return math.ceil(min(self.tasks, self.load.results_per_second * self.batch_seconds))

    @property
    def compiling_seconds(self) -> float:
        """Until all queries are compiled, as at the first start."""
        return self.rates.compiling * self.load.queries

    @property
    def change_seconds(self) -> float:
        """That a batch waits when a few queries have changed before it."""
        return self.rates.change * self.load.queries

    def _matched(self, rows: float) -> float:
        """Different queries that some rows match."""
        return -math.expm1(-self.load.share * rows) * self.load.queries

    @property
    def _fewest_cores(self) -> int:
        """Where the driver takes no more than its tenth."""
        return math.ceil(self.busy_cores / (self.load.utilisation * (1 - DRIVER_SHARE)))

    def _cores(self, seconds: float) -> int:
        """The n of the formulas: each core more is a task more, which takes the driver's time; found from below."""
        busy, found = self.load.utilisation, self._fewest_cores
        for _ in range(ROUNDS):
            share = _total(self._driver(seconds, found)) / (busy * seconds)
            more = math.ceil(self.busy_cores / (busy * (1 - min(DRIVER_MOST, max(DRIVER_SHARE, share)))))
            if more <= found:
                break
            found = more
        return found

    def _driver(self, seconds: float, tasks: int) -> dict[str, float]:
        """Seconds of the driver, by what they go into."""
        rates, rows = self.rates, self.load.rows_per_second * seconds
        in_plan = min(self.archive_bytes, IN_PLAN)
        return {
            "Spark's own, and what every batch writes down": rates.batch,
            "sending the compiled set": rates.ship * in_plan,
            "starting tasks": rates.schedule * STAGES * tasks,
            "adding up what tasks counted": rates.add_up * tasks * self._matched(rows / tasks),
            "counting queries in the registry": rates.count * self._matched(rows),
        }

    def as_json(self) -> dict[str, Any]:
        """For machines; seconds, bytes, cores."""
        return {
            "cores": {
                "matching": self.matching_cores,
                "making_results": self.making_cores,
                "reading": self.reading_cores,
                "writing_results": self.writing_cores,
                "busy": self.busy_cores,
                "needed": self.cores,
            },
            "workers": self.workers,
            "batch": {
                "seconds": self.batch_seconds,
                "rows": self.batch_rows,
                "tasks": self.tasks,
                "driver_seconds": self.driver_parts,
                "counted_queries": self.counted_queries,
                "files": self.files,
            },
            "results_per_second": self.load.results_per_second,
            "written_bytes_per_second": self.written_bytes_per_second,
            "memory": {
                "driver_python": self.driver_python_bytes,
                "driver_java": self.driver_java_bytes,
                "worker_python": self.worker_python_bytes,
                "worker_java": self.worker_java_bytes,
                "worker_kept_results": self.kept_bytes,
            },
            "shipped": {
                "per_version": self.archive_bytes,
                "per_batch": self.shipped_bytes,
                "back_per_batch": self.told_bytes,
            },
            "seconds": {"compiling": self.compiling_seconds, "change": self.change_seconds},
        }


def _total(parts: Mapping[str, float]) -> float:
    return sum(parts.values())


def size(load: Load, rates: Rates) -> Sizing:
    """How much of everything a load needs."""
    return Sizing(load, rates)


def seconds_of_batch(
    load: Load, rates: Rates, rows: float, cores: int, *, together: bool, tasks: int | None = None
) -> float:
    """Seconds on the clock of a batch of so many rows on so many cores, to be held against what is measured.

    `together`: on one machine, where results are written by the job that makes them and workers read the set from a folder.
    """
    results = rows * load.matches_per_row * load.delivered
    java = rates.result_java_together if together else rates.result_java
    row = rates.matching[load.kind].at(load.queries, load.columns) + rates.reading.at(load.columns)
    matched = load.queries * -math.expm1(-load.share * rows)
    each = tasks or cores
    in_task = load.queries * -math.expm1(-load.share * rows / each)
    fixed = rates.batch_together if together else rates.batch
    fixed += rates.count * matched + rates.add_up * each * in_task
    if not together:
        fixed += rates.ship * min(rates.archive_bytes * load.queries, IN_PLAN)
    further = max(each - cores, 0) * rates.task  # one for each core is part of what a batch takes anyway
    return fixed + (rows * row + results * (rates.result_python + java) + further) / cores
