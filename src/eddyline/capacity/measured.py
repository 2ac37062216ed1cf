"""What was measured, and how predictions fared: made by `python -m bench report`, not by hand.

`python -m bench spark --workload capacity` measures it: pipelines from Parquet to Parquet over queries and rows of
bench/workloads/standing.py, standing sets without Spark. bench/spark/capacity/ says how each figure is found.
"""

from __future__ import annotations

from typing import Final

from eddyline.capacity.checks import Check
from eddyline.capacity.rates import Grid, Line, Rates

RATES: Final = Rates(
    machine="one core of AMD EPYC, Python 3.11.7, Spark 4.2.0, local disk",
    day="2026-11-18",
    matching={
        "keyed": Grid(
            (
                2,
                7,
                50,
            ),
            (
                Line(
                    (
                        1000,
                        10000,
                        100000,
                    ),
                    (
                        1.19e-07,
                        1.24e-07,
                        1.24e-07,
                    ),
                ),
                Line(
                    (
                        1000,
                        10000,
                        100000,
                    ),
                    (
                        1.44e-07,
                        1.44e-07,
                        1.63e-07,
                    ),
                ),
                Line(
                    (
                        1000,
                        10000,
                        100000,
                    ),
                    (
                        6.49e-07,
                        1.04e-06,
                        1.24e-06,
                    ),
                ),
            ),
        ),
        "ranges": Grid(
            (
                2,
                7,
                50,
            ),
            (
                Line(
                    (
                        1000,
                        10000,
                    ),
                    (
                        9.45e-08,
                        3.68e-07,
                    ),
                ),
                Line(
                    (
                        1000,
                        10000,
                    ),
                    (
                        1.84e-07,
                        8.29e-07,
                    ),
                ),
                Line(
                    (
                        1000,
                        10000,
                    ),
                    (
                        6.57e-07,
                        1.32e-06,
                    ),
                ),
            ),
        ),
    },
    reading=Line(
        (
            2,
            7,
            50,
        ),
        (
            3.25e-07,
            4.01e-07,
            3.65e-06,
        ),
    ),
    result_python=6.6e-07,
    result_java=7.36e-06,
    result_java_together=3.19e-06,
    batch=0.533,
    batch_together=0.453,
    task=0.0993,
    schedule=0.0014,
    ship=5.36e-09,
    count=1.49e-05,
    add_up=4.41e-07,
    compiling=8.28e-05,
    change=5.41e-07,
    archive_bytes=18.7,
    summary_bytes=74.7,
    told_bytes=9.34,
    driver_bytes=1390.0,
    worker_bytes=121.0,
    process_bytes=1.87,
    driver_base=326561792,
    process_base=156676096,
    kept_bytes=216.0,
    written_bytes=123.0,
)

CHECKS: Final[tuple[Check, ...]] = (
    Check("1 core", 1, 30000, 20, 400000, 248000.0, 239000.0),
    Check("2 cores", 2, 30000, 20, 800000, 466000.0, 350000.0),
    Check("2 workers", 2, 30000, 20, 800000, 410000.0, 231000.0),
)
