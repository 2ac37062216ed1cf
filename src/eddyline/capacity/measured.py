"""What was measured, and how predictions fared; written by `python -m bench report` after `python -m bench spark --workload capacity`."""

from __future__ import annotations

from typing import Final

from eddyline.capacity.checks import Check
from eddyline.capacity.rates import Grid, Line, Rates

RATES: Final = Rates(
    machine="none: these figures are placeholders",
    day="",
    matching={
        "keyed": Grid(
            (2, 7, 50),
            (
                Line((1_000, 10_000, 100_000), (2e-7, 2.2e-7, 3e-7)),
                Line((1_000, 10_000, 100_000), (3e-7, 3.2e-7, 4e-7)),
                Line((1_000, 10_000, 100_000), (1e-6, 1.1e-6, 1.2e-6)),
            ),
        ),
        "ranges": Grid(
            (2, 7, 50),
            (
                Line((1_000, 10_000), (5e-7, 2e-6)),
                Line((1_000, 10_000), (6e-7, 3e-6)),
                Line((1_000, 10_000), (1e-6, 4e-6)),
            ),
        ),
    },
    reading=Line((2, 7, 50), (2e-7, 5e-7, 3e-6)),
    result_python=1e-6,
    result_java=3e-6,
    result_java_together=2e-6,
    batch=0.6,
    batch_together=0.4,
    task=0.01,
    schedule=0.002,
    ship=1e-8,
    count=2e-5,
    add_up=1e-7,
    compiling=6e-5,
    change=1e-6,
    archive_bytes=35.0,
    summary_bytes=75.0,
    told_bytes=10.0,
    driver_bytes=500.0,
    worker_bytes=100.0,
    process_bytes=50.0,
    driver_base=3e8,
    process_base=2e8,
    kept_bytes=150.0,
    written_bytes=60.0,
)

CHECKS: Final[tuple[Check, ...]] = ()
