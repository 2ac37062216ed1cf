"""The suite: rates measured on one core, then predictions from them held against other runs.

What is predicted was measured with none of the rates' numbers of queries and columns, and with other shares of matches.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from bench import capacity_report
from bench.measure import Setting
from bench.record import CAPACITY, LATEST, Record
from bench.spark.capacity.rates import measure
from bench.spark.capacity.runs import Asked, Run, clocked, in_its_own_process, run
from bench.spark.cluster import Cluster
from eddyline.capacity.checks import Check
from eddyline.capacity.load import Load
from eddyline.capacity.rates import Rates
from eddyline.capacity.sizing import seconds_of_batch

RESULTS: Final = LATEST.with_name(capacity_report.NAME)
PREDICTED: Final = "predicted"
ONE: Final = Asked("keyed", 30_000, 20, 400_000, share=3e-6)
ALONE: Final = "1 core"
BATCHES: Final = 14  # of a run whose Java has just been started
PLACES: Final = {"2 cores": 2, "2 workers": 2}  # with a session of their own; by tasks of a batch


def predictions(setting: Setting, running: Cluster) -> Iterator[Record]:
    """Rows a second as predicted and as measured; writes the rates to `capacity.json` beside the other results."""
    with clocked(running) as heard:
        rates = measure(setting, running, heard)
        asked = Asked(
            ONE.kind, setting.sizes(ONE.queries)[0], ONE.columns, setting.rows(ONE.rows), share=ONE.share
        )
        checks = [_check(rates, ALONE, asked, run(running, heard, asked))]
    _write(rates, checks)
    yield _record(checks[-1])
    for place, tasks in PLACES.items():
        several = Asked(**{**asdict(asked), "files": tasks, "batches": BATCHES})
        checks.append(_check(rates, place, several, in_its_own_process(place, several)))
        _write(rates, checks)
        yield _record(checks[-1])


def _check(rates: Rates, place: str, asked: Asked, found: Run) -> Check:
    cores = int(place.split()[0])
    load = Load(asked.queries, 1.0, columns=asked.columns, share=asked.share, kind=asked.kind)
    together = not place.endswith("workers")
    predicted = found.rows / seconds_of_batch(
        load, rates, found.rows, cores, together=together, tasks=asked.files
    )
    return Check(
        place, cores, asked.queries, asked.columns, found.rows, predicted, found.rows / found.seconds
    )


def _record(check: Check) -> Record:
    return Record.rates(
        f"{CAPACITY}, {check.place}",
        check.queries,
        check.rows,
        "rows",
        check.measured,
        PREDICTED,
        check.predicted,
        True,
    )


def _write(rates: Rates, checks: list[Check], path: Path = RESULTS) -> None:
    path.parent.mkdir(exist_ok=True)
    document = {"rates": rates.as_json(), "checks": [asdict(check) for check in checks]}
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
