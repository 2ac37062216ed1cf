"""What a load needs, as tables."""

from __future__ import annotations

from typing import Final

from eddyline.capacity import Limit, Sizing
from eddyline.capacity.measured import RATES
from eddyline.cli.output.terminal import Printer, counted
from eddyline.service.jobs.capacity import CapacityReport

KINDS: Final = {"keyed": "that ask for a rare value", "ranges": "with bounds alone"}
UNITS: Final = ((1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))  # as Spark counts them


def show(report: CapacityReport, output: Printer) -> None:
    """Print everything."""
    sizing = report.estimate.sizing
    _asked(report, output)
    output.heading("Cores")
    output.table(("busy with", "cores"), _cores(sizing), right=(1,))
    output.heading("Memory")
    output.table(("of", "memory", "which is"), _memory(sizing), right=(1,))
    output.heading("Batches")
    output.table(("of a batch", "is"), _batch(sizing))
    output.heading("What breaks first")
    head = ("limit", "now", "at most", "reached at queries", "reached at rows a second")
    output.table(head, [_limit_row(limit) for limit in report.estimate.limits], right=(1, 2, 3, 4))
    _verdict(report, output)


def _asked(report: CapacityReport, output: Printer) -> None:
    load = report.estimate.load
    output.line(
        f"{counted(load.queries, 'query', 'queries')} {KINDS[load.kind]}, {number(load.rows_per_second)} rows a second, "
        f"{counted(load.columns, 'column', 'columns')}, {number(load.matches_per_row)} matches per row"
    )
    own = report.calibrated
    package = f"the package's, measured on {RATES.machine}, {RATES.day}"
    if own is None:
        output.line(f"rates: {package}")
        if report.why:
            output.line(f"  ({report.why})")
    else:
        output.line(
            f'rates: Python\'s are those of pipeline "{report.pipeline}" on its own machines, from '
            f"{counted(own.batches, 'steady batch', 'steady batches')} of some {own.rows:,} rows: "
            f"{own.factor:.2f} times the package's seconds"
        )
        output.line(f"  all others: {package}")
    for text in report.assumed:
        output.line(f"assumed: {text}")
    for text in report.estimate.extrapolated:
        output.line(f"extrapolated: {text}")


def _cores(sizing: Sizing) -> list[tuple[str, str]]:
    load = sizing.load
    rows = [
        ("Python: matching rows", number(sizing.matching_cores)),
        ("Python: making results", number(sizing.making_cores)),
        ("Java: reading rows and handing them to Python", number(sizing.reading_cores)),
        ("Java: taking results back and writing them", number(sizing.writing_cores)),
        ("all of it", number(sizing.busy_cores)),
    ]
    if sizing.cores is None or sizing.workers is None:
        return [*rows, ("needed", "no number of cores will do")]
    pauses = sizing.driver_seconds / sizing.batch_seconds
    return [
        *rows,
        (
            f"needed, if cores are busy {load.utilisation:.0%} of the time, the driver's pauses included",
            f"{sizing.cores:,}",
        ),
        (f"as workers of {counted(load.cores_per_worker, 'core', 'cores')}", f"{sizing.workers:,}"),
        ("share of the time that is the driver's", f"{pauses:.1%}"),
    ]


def _memory(sizing: Sizing) -> list[tuple[str, str, str]]:
    return [
        ("driver", size(sizing.driver_python_bytes), "Python, two versions of the queries in it"),
        ("driver", size(sizing.driver_java_bytes), "Java: spark.driver.memory"),
        (
            "each worker",
            size(sizing.worker_python_bytes),
            f"{counted(sizing.load.cores_per_worker, 'Python process', 'Python processes')} and the compiled queries",
        ),
        ("each worker", size(sizing.worker_java_bytes), "Java: spark.executor.memory"),
        ("each worker", size(sizing.kept_bytes), "results until they are written, in memory or on disk"),
    ]


def _batch(sizing: Sizing) -> list[tuple[str, str]]:
    load, seconds = sizing.load, sizing.batch_seconds
    largest = max(sizing.driver_parts, key=sizing.driver_parts.__getitem__)
    version = size(sizing.archive_bytes)
    files = sizing.files * 86_400 / seconds
    tasks = "one for each core" if sizing.is_possible else "where the search for enough cores has ended"
    return [
        ("trigger", f"{seconds:g} seconds"),
        ("rows", number(sizing.batch_rows)),
        ("tasks", f"{sizing.tasks:,}, {tasks}"),
        ("the driver's part", f"{duration(sizing.driver_seconds)}, most of it {largest}"),
        (
            "results",
            f"{number(load.results_per_second)} a second, {size(sizing.written_bytes_per_second)} a second as Parquet",
        ),
        (
            "files",
            f"{counted(sizing.files, 'file', 'files')} at most in a sink without partition_by, {number(files)} a day",
        ),
        (
            "sent to workers",
            f"{version} per version, {size(sizing.shipped_bytes)} per batch to all of them"
            if sizing.shipped_bytes
            else f"{version} per version, read from a folder that they share",
        ),
        (
            "told by tasks",
            f"{size(sizing.told_bytes)} per batch, {size(sizing.summary_bytes)} once it has come",
        ),
        ("queries counted in the registry", f"{number(sizing.counted_queries)} per batch"),
        (
            "compiling",
            f"{duration(sizing.compiling_seconds)} at the first start, {duration(sizing.change_seconds)} when a few queries change",
        ),
    ]


def _limit_row(limit: Limit) -> tuple[str, ...]:
    form = size if limit.unit == "bytes" else duration
    at = ["-" if found is None else number(found) for found in (limit.queries, limit.rows_per_second)]
    return (limit.name, form(limit.now), form(limit.most), *at)


def _verdict(report: CapacityReport, output: Printer) -> None:
    output.line()
    found = report.estimate
    broken = [limit for limit in found.limits if limit.used >= 1]
    if not found.sizing.is_possible:
        output.line("one pipeline cannot do this, however many cores it has", "bold red")
    elif broken:
        output.line("one pipeline cannot do this as it is usually set up", "bold red")
    else:
        output.line("one pipeline can do this, if costs go on as they were measured", "green")
        output.line(f"first to break: {found.first.name}, at {number(found.first.growth)} times as much")
    for limit in broken or found.limits[:1]:
        output.line(f"hint: {limit.name}: {limit.to_do}")


def number(value: float) -> str:
    """A number of which three digits say enough.

    >>> number(1_234_567), number(12.345), number(0.00123), number(1e9), number(0), number(999.9)
    ('1.23 million', '12.3', '0.00123', '1 billion', '0', '1,000')
    """
    for least, unit in ((1e15, None), (1e9, "billion"), (1e6, "million")):
        if value >= least * 0.9995:
            return f"{value / least:.3g} {unit}" if unit else f"{value:.1e}"
    if value >= 999.5:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def size(count: float) -> str:
    """Bytes, in steps of 1,024.

    >>> size(0), size(12_345), size(1 << 30), size(512), size(1 << 60)
    ('0 B', '12.1 kB', '1 GB', '512 B', '1,048,576 TB')
    """
    for least, unit in UNITS:
        if count >= least * 0.9995:
            found = count / least
            return f"{found:.3g} {unit}" if found < 999.5 else f"{found:,.0f} {unit}"
    return f"{count:.0f} B"


def duration(seconds: float) -> str:
    """Seconds, or minutes and hours where there are many.

    >>> duration(0.0123), duration(42), duration(900), duration(1e5)
    ('0.0123 s', '42 s', '15 min', '27.8 h')
    """
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{number(seconds / 3600)} h"
