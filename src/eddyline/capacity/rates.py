"""Measured rates as one value: what a row, a result, a task, a batch and a query cost.

Between what was measured, a straight line through the logarithms of both is taken; beyond it, the last such line goes on, but
never downwards; below it, the smallest that was measured.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from eddyline.capacity.load import Kind


@dataclass(frozen=True, slots=True)
class Line:
    """A cost by the number of something, such as columns.

    Invariant: places ascend strictly, values are above 0 and never descend.

    >>> Line((1, 100), (2.0, 20.0)).at(10), Line((1, 100), (2.0, 20.0)).at(0.5)
    (6.324555320336759, 2.0)
    """

    places: tuple[int, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        pairs = list(zip(self.places, self.places[1:], strict=False))
        assert all(a < b for a, b in pairs), "places ascend"
        assert len(self.places) == len(self.values) and min(self.values) > 0, "a value above 0 for each place"
        assert list(self.values) == sorted(self.values), "values never descend"

    def at(self, place: float) -> float:
        """The cost at some number."""
        if place <= self.places[0] or len(self.places) == 1:
            return self.values[0]
        after = min(bisect_right(self.places, place), len(self.places) - 1)
        low, high = self.places[after - 1], self.places[after]
        share = math.log(place / low) / math.log(high / low)
        below, above = self.values[after - 1], self.values[after]
        return float(below * (above / below) ** share)


@dataclass(frozen=True, slots=True)
class Grid:
    """A cost by numbers of queries and of columns: `lines` has one by queries for each number of columns.

    Invariant: the lines never descend from one number of columns to the next, at any number of queries that both have.
    """

    columns: tuple[int, ...]
    lines: tuple[Line, ...]

    def at(self, queries: float, columns: float) -> float:
        """The cost of so many queries over so many columns."""
        values = [line.at(queries) for line in self.lines]
        for place in range(1, len(values)):  # lines that end early may cross beyond their ends
            values[place] = max(values[place], values[place - 1])
        return Line(self.columns, tuple(values)).at(columns)

    @property
    def most_queries(self) -> int:
        """The largest set that was measured."""
        return max(line.places[-1] for line in self.lines)


@dataclass(frozen=True, slots=True)
class Rates:
    """What was measured, in seconds and bytes. "Seconds of a core" are processor time, "of the driver" time on the clock.

    Everything that a result costs is that of one with seven columns, written as Parquet.
    """

    machine: str  # what it was measured on
    day: str  # and when; empty: never
    matching: Mapping[Kind, Grid]  # seconds of a core in Python: a row that matches nothing
    reading: Line  # seconds of a core in Java: a row read from Parquet and handed to Python, by columns
    result_python: float  # seconds of a core: a result made
    result_java: float  # a result taken back, kept, then written by a job of its own: as on a cluster
    result_java_together: float  # the same written by the job that makes it: as on one machine
    batch: float  # seconds of the driver: a batch with hardly any rows, on a cluster
    batch_together: float  # the same on one machine
    task: float  # seconds of a core: a task with hardly any rows
    schedule: float  # seconds of the driver: one more task
    ship: float  # seconds of the driver: a byte of the compiled set in the plan of a batch
    count: float  # seconds of the driver: a query that matched, counted in the registry (SQLite)
    add_up: float  # seconds of the driver: a query in the summary of a task
    compiling: float  # seconds of the driver: a query, when all are compiled
    change: float  # seconds of the driver: a query that stands, when a few others change
    archive_bytes: float  # of a query in the compiled set as it travels
    summary_bytes: float  # of a query that matched in the summary of a task
    told_bytes: float  # the same as Spark compresses it on its way to the driver
    driver_bytes: float  # of a query in the driver's Python
    worker_bytes: float  # of a query in a worker's files, which its processes share
    process_bytes: float  # of a query in each of these processes
    driver_base: float  # bytes of the driver's Python without queries
    process_base: float  # bytes of a process of a worker without queries
    kept_bytes: float  # of a result that is kept until it is written
    written_bytes: float  # of a result on disk

    def scaled(self, factor: float, *, batch: float | None = None) -> Rates:
        """As on a machine where Python takes `factor` times as long; `batch`: seconds of a batch that were seen."""
        matching = {
            kind: Grid(grid.columns, tuple(_times(line, factor) for line in grid.lines))
            for kind, grid in self.matching.items()
        }
        fixed = self.batch if batch is None else batch
        return replace(self, matching=matching, result_python=self.result_python * factor, batch=fixed)

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found["matching"] = {
            kind: {
                str(columns): {"queries": list(line.places), "seconds": list(line.values)}
                for columns, line in zip(grid.columns, grid.lines, strict=True)
            }
            for kind, grid in self.matching.items()
        }
        found["reading"] = {"columns": list(self.reading.places), "seconds": list(self.reading.values)}
        return found


def _times(line: Line, factor: float) -> Line:
    return Line(line.places, tuple(value * factor for value in line.values))


def never_less(values: Sequence[float]) -> tuple[float, ...]:
    """Measurements that must not descend: each at least what came before it, whatever noise there was.

    >>> never_less([1.0, 0.9, 1.4])
    (1.0, 1.0, 1.4)
    """
    found: list[float] = []
    for value in values:
        found.append(max(value, found[-1]) if found else value)
    return tuple(found)
