"""The rates of `eddyline.capacity`, measured on one core: Python's and Java's share of rows and results, tasks, batches, sets."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.measure import Setting
from bench.spark.capacity.runs import Asked, Clocked, Run, as_on_a_cluster, run
from bench.spark.capacity.standing import StandingCosts
from bench.spark.capacity.standing import measure as standing_costs
from bench.spark.cluster import Cluster, drain, seconds
from bench.spark.ours import pass_through
from eddyline.capacity.load import Kind
from eddyline.capacity.rates import Grid, Line, Rates, never_less

COLUMNS: Final = (2, 7, 50)
KEYED: Final = (1_000, 10_000, 100_000)
RANGES: Final = (1_000, 10_000)
ROWS: Final = {2: 1_000_000, 7: 1_000_000, 50: 200_000}  # of a batch, by columns
FEW_MATCHES: Final = 1e-6
FEW: Final = 10_000  # rows of a batch that shows what a batch takes anyway
MATCHING: Final = Asked("keyed", 5_000, 7, 300_000, share=2e-4)  # one match per row
SIZES: Final = (10_000, 100_000)  # queries of standing sets
TASKS: Final = (10, 110)
LEAST: Final = 1e-12  # a cost that was lost in noise


@dataclass(frozen=True)
class Fixed:
    """What a batch takes anyway: seconds on the clock, of Python in the workers, of Java and the driver."""

    seconds: float
    python: float
    java: float


def measure(setting: Setting, running: Cluster, heard: Clocked) -> Rates:
    """All rates."""
    run(running, heard, Asked("keyed", 1_000, 7, FEW))  # Java compiles what is run again and again
    together = _fixed(run(running, heard, Asked("keyed", 1_000, 7, FEW, batches=8)))
    with as_on_a_cluster():
        kept = _fixed(run(running, heard, Asked("keyed", 1_000, 7, FEW, batches=8)))
        many = run(running, heard, Asked("keyed", max(setting.sizes(*KEYED)), 7, FEW))
    costs = [standing_costs(queries, running.folder) for queries in setting.sizes(*SIZES)]
    results = _results(setting, running, heard)
    matching, reading = _rows(setting, running, heard, together, results["result_python"])
    small, large = costs[0], costs[-1]
    archive = _each(small, large, "archive")
    task, schedule = _tasks(running)
    return Rates(
        machine=machine(),
        day=f"{datetime.now(UTC):%Y-%m-%d}",
        matching=matching,
        reading=reading,
        batch=kept.seconds,
        batch_together=together.seconds,
        task=task,
        schedule=schedule,
        ship=max((many.java - kept.java) / (archive * large.queries), LEAST),
        count=large.count / large.queries,
        add_up=large.add_up / large.queries,
        compiling=_each(small, large, "compiling"),
        change=_each(small, large, "change"),
        archive_bytes=archive,
        summary_bytes=large.summary / large.queries,
        told_bytes=large.told / large.queries,
        driver_bytes=_each(small, large, "driver"),
        worker_bytes=_each(small, large, "files"),
        process_bytes=_each(small, large, "process"),
        driver_base=small.driver,
        process_base=small.process,
        **results,
    )


def machine() -> str:
    """What this is, in a line."""
    import pyspark

    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        name = models[0] if models else name
    return f"one core of {name}, Python {platform.python_version()}, Spark {pyspark.__version__}, local disk"


def _fixed(found: Run) -> Fixed:
    return Fixed(found.seconds, found.python, found.java)


def _rows(
    setting: Setting, running: Cluster, heard: Clocked, fixed: Fixed, result: float
) -> tuple[dict[Kind, Grid], Line]:
    """Seconds of a row in Python by queries and columns, without those of its results; in Java by columns."""
    sizes: dict[Kind, list[int]] = {
        "keyed": setting.sizes(*KEYED),
        "ranges": setting.sizes(*RANGES),
    }
    python: dict[Kind, list[list[float]]] = {"keyed": [], "ranges": []}
    java = []
    for columns in COLUMNS:
        rows = setting.rows(ROWS[columns])
        for kind, several in sizes.items():
            found = [run(running, heard, Asked(kind, queries, columns, rows)) for queries in several]
            python[kind].append(
                [max(one.python - fixed.python - one.results * result, LEAST) / rows for one in found]
            )
            if kind == "keyed":  # the smallest set, which gives hardly any results
                java.append(max(found[0].java - fixed.java, LEAST) / rows)
    grids = {
        kind: Grid(COLUMNS, tuple(Line(tuple(sizes[kind]), values) for values in _rising(python[kind])))
        for kind in sizes
    }
    return grids, Line(COLUMNS, never_less(java))


def _rising(table: list[list[float]]) -> list[tuple[float, ...]]:
    """Costs by columns and queries, none of them smaller than one with fewer of either, whatever noise there was."""
    found: list[tuple[float, ...]] = []
    for values in table:
        rising = never_less(values)
        found.append(tuple(map(max, zip(rising, found[-1], strict=True))) if found else rising)
    return found


def _results(setting: Setting, running: Cluster, heard: Clocked) -> dict[str, float]:
    """Seconds and bytes of a result in Python and Java: what rows with many take more than the same rows with few."""
    many = replace(MATCHING, rows=setting.rows(MATCHING.rows))
    few = replace(many, share=FEW_MATCHES)
    here = run(running, heard, many), run(running, heard, few)
    with as_on_a_cluster():
        there = run(running, heard, replace(many, keep=True)), run(running, heard, few)

    def each(pair: tuple[Run, Run], name: str) -> float:
        more, less = pair
        return max((getattr(more, name) - getattr(less, name)) / (more.results - less.results), LEAST)

    together = each(here, "java")
    return {
        "result_python": (each(here, "python") + each(there, "python")) / 2,
        "result_java_together": together,
        "result_java": max(each(there, "java"), together),
        "kept_bytes": there[0].kept,
        "written_bytes": here[0].written / here[0].results,
    }


def _tasks(running: Cluster) -> tuple[float, float]:
    """Seconds of a task that hands its rows to Python, and of one that does not."""
    few, many = TASKS

    def each(python: bool) -> float:
        def job(tasks: int) -> None:
            df = running.spark.range(0, tasks, 1, tasks)
            drain(pass_through(df) if python else df)

        job(many)
        return max(
            min(seconds(lambda: job(many)) for _ in range(2))
            - min(seconds(lambda: job(few)) for _ in range(2)),
            LEAST,
        ) / (many - few)

    return each(True), each(False)


def _each(small: StandingCosts, large: StandingCosts, name: str) -> float:
    """What one more query adds, from two sizes; from one where there is no other."""
    a, b = getattr(small, name), getattr(large, name)
    if small.queries == large.queries:
        return b / large.queries
    return max((b - a) / (large.queries - small.queries), LEAST)
