"""The rates of `eddyline.capacity`, measured on one core: Python's and Java's share of rows and results, tasks, batches, sets."""

from __future__ import annotations

import platform
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from bench.measure import Setting
from bench.spark.capacity.runs import Asked, Clocked, Run, as_on_a_cluster, run
from bench.spark.capacity.standing import StandingCosts
from bench.spark.capacity.standing import measure as standing_costs
from bench.spark.cluster import Cluster, drain, seconds
from bench.spark.ours import pass_through
from eddyline.capacity.load import Kind
from eddyline.capacity.rates import Grid, Line, Rates, never_less

KEYED: Final = (1_000, 10_000, 100_000)
RANGES: Final = (1_000, 10_000)
ROWS: Final = {2: 400_000, 7: 400_000, 50: 100_000}  # of a batch, by columns
JAVA_ROWS: Final = 2  # times as many for Java, whose part is small beside what a batch takes anyway
BATCHES: Final = 4  # of a run that shows what Python takes
FEW_MATCHES: Final = 1e-6
FEW: Final = 10_000  # rows of a batch that shows what a batch takes anyway
MATCHING: Final = Asked("keyed", 5_000, 7, 200_000, share=2e-4, batches=5)  # one match per row
SIZES: Final = (10_000, 100_000)  # queries of standing sets
MANY: Final = 10  # batches of a run with small ones
TASKS: Final = (4, 36)
SEEN: Final = 0.01  # seconds, the least that can be told from noise
LEAST: Final = 1e-12  # a cost that was lost in noise


class Measured(NamedTuple):
    """A run over so many queries."""

    queries: int
    run: Run


def measure(setting: Setting, running: Cluster, heard: Clocked) -> Rates:
    """All rates: first Python's, then those of Java, which needs many batches until it has compiled what is run again and again."""
    costs = [standing_costs(queries, running.folder) for queries in setting.sizes(*SIZES)]
    count = costs[-1].count / costs[-1].queries
    sets = _python_runs(setting, running, heard)
    results = _results(setting, running, heard, count)
    small_batch = Asked("keyed", KEYED[0], 7, FEW, batches=MANY)
    together = run(running, heard, small_batch)
    with as_on_a_cluster():
        kept = run(running, heard, small_batch)
        many = run(running, heard, replace(small_batch, queries=max(setting.sizes(*KEYED))))
    matching = _matching(sets, together, results["result_python"])
    reading = _reading(setting, running, heard, together)
    small, large = costs[0], costs[-1]
    archive = _each(small, large, "archive")
    task, schedule = _tasks(running)
    return Rates(
        machine=machine(),
        day=f"{datetime.now(UTC):%Y-%m-%d}",
        matching=matching,
        reading=reading,
        batch=kept.quickest,
        batch_together=together.quickest,
        task=task,
        schedule=schedule,
        ship=max(many.quickest - kept.quickest, SEEN) / (archive * large.queries),
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


def _python_runs(setting: Setting, running: Cluster, heard: Clocked) -> dict[Kind, dict[int, list[Measured]]]:
    """Runs by kind and columns, one for each number of queries."""
    sizes: dict[Kind, list[int]] = {"keyed": setting.sizes(*KEYED), "ranges": setting.sizes(*RANGES)}
    return {
        kind: {
            columns: [
                Measured(
                    queries,
                    run(running, heard, Asked(kind, queries, columns, setting.rows(rows), batches=BATCHES)),
                )
                for queries in several
            ]
            for columns, rows in ROWS.items()
        }
        for kind, several in sizes.items()
    }


def _matching(sets: dict[Kind, dict[int, list[Measured]]], fixed: Run, result: float) -> dict[Kind, Grid]:
    """Seconds of a row in Python by queries and columns, without those of its results."""
    grids: dict[Kind, Grid] = {}
    for kind, by_columns in sets.items():
        table = [
            [
                max(one.run.python - fixed.python - one.run.results * result, LEAST) / one.run.rows
                for one in several
            ]
            for several in by_columns.values()
        ]
        places = tuple(one.queries for one in next(iter(by_columns.values())))
        grids[kind] = Grid(tuple(by_columns), tuple(Line(places, values) for values in _rising(table)))
    return grids


def _reading(setting: Setting, running: Cluster, heard: Clocked, fixed: Run) -> Line:
    """Seconds of a row in Java by columns: few queries, which give hardly any results."""
    found = [
        run(running, heard, Asked("keyed", KEYED[0], columns, setting.rows(JAVA_ROWS * rows)))
        for columns, rows in ROWS.items()
    ]
    return Line(tuple(ROWS), never_less([max(one.java - fixed.java, LEAST) / one.rows for one in found]))


def _rising(table: list[list[float]]) -> list[tuple[float, ...]]:
    """Costs by columns and queries, none of them smaller than one with fewer of either, whatever noise there was."""
    found: list[tuple[float, ...]] = []
    for values in table:
        rising = never_less(values)
        found.append(tuple(map(max, zip(rising, found[-1], strict=True))) if found else rising)
    return found


def _results(setting: Setting, running: Cluster, heard: Clocked, count: float) -> dict[str, float]:
    """Seconds and bytes of a result in Python and Java: what rows with many take more than the same rows with few."""
    many = replace(MATCHING, rows=setting.rows(MATCHING.rows))
    few = replace(many, share=FEW_MATCHES)
    here = run(running, heard, many), run(running, heard, few)
    with as_on_a_cluster():
        there = run(running, heard, replace(many, keep=True)), run(running, heard, few)

    def each(pair: tuple[Run, Run], name: str, counting: float = 0.0) -> float:
        more, less = pair
        results = more.results - less.results
        return max((getattr(more, name) - getattr(less, name) - counting) / results, LEAST)

    counting = count * (many.queries - min(here[1].results, many.queries))
    together = each(here, "java", counting)
    return {
        "result_python": (each(here, "python") + each(there, "python")) / 2,
        "result_java_together": together,
        "result_java": max(each(there, "java", counting), together),
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
            seconds(lambda: job(many)) - seconds(lambda: job(few)),
            LEAST,
        ) / (many - few)

    return each(True), each(False)


def _each(small: StandingCosts, large: StandingCosts, name: str) -> float:
    """What one more query adds, from two sizes; from one where there is no other."""
    a, b = getattr(small, name), getattr(large, name)
    if small.queries == large.queries:
        return b / large.queries
    return max((b - a) / (large.queries - small.queries), LEAST)
