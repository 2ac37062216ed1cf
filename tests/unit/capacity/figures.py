"""Rates with round numbers, so that tests need not follow what is measured."""

from __future__ import annotations

from eddyline.capacity.rates import Grid, Line, Rates

MILLIONTH = 1e-6
SIZES = (1_000, 100_000)
KEYED = Grid((2, 50), (Line(SIZES, (1e-6, 2e-6)), Line(SIZES, (4e-6, 8e-6))))
RANGES = Grid((2, 50), (Line(SIZES, (1e-6, 1e-4)), Line(SIZES, (4e-6, 4e-4))))
RATES = Rates(
    machine="a machine that thinks in round numbers",
    day="2026-01-05",
    matching={"keyed": KEYED, "ranges": RANGES},
    reading=Line((2, 50), (1e-6, 1e-5)),
    result_python=1e-6,
    result_java=3e-6,
    result_java_together=2e-6,
    batch=0.5,
    batch_together=0.3,
    task=0.01,
    schedule=0.001,
    ship=1e-9,
    count=1e-5,
    add_up=1e-8,
    compiling=1e-4,
    change=1e-7,
    archive_bytes=32.0,
    summary_bytes=64.0,
    told_bytes=16.0,
    driver_bytes=1_000.0,
    worker_bytes=100.0,
    process_bytes=10.0,
    driver_base=3e8,
    process_base=2e8,
    kept_bytes=100.0,
    written_bytes=50.0,
)
