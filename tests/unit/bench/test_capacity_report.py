"""What is measured becomes the package's module; what is compared has queries that match as many rows as they should."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bench import capacity_report, ours, record
from bench.record import Record
from bench.workloads import standing
from eddyline.capacity.checks import Check
from eddyline.capacity.load import Kind
from tests.unit.capacity.figures import RATES

CHECK = Check("2 cores", 2, 30_000, 20, 800_000, 1_000_000.0, 900_000.0)


def test_the_module_says_what_was_measured(tmp_path: Path) -> None:
    results, module = tmp_path / "capacity.json", tmp_path / "measured.py"
    capacity_report.write(results, module)
    assert not module.exists()  # nothing was measured
    results.write_text(json.dumps({"rates": RATES.as_json(), "checks": [asdict(CHECK)]}))
    capacity_report.write(results, module)
    names: dict[str, Any] = {}
    exec(module.read_text(), names)
    assert names["RATES"] == RATES and names["CHECKS"] == (CHECK,) and CHECK.ratio == 0.9


def test_predictions_have_a_table_of_their_own() -> None:
    line = Record.rates("capacity, 2 cores", 30_000, 800_000, "rows", 9e5, "predicted", 1e6, True)
    assert line.table == record.CAPACITY and line.ratio == pytest.approx(0.9)


@pytest.mark.parametrize(("kind", "columns"), [("keyed", 2), ("keyed", 7), ("ranges", 2), ("ranges", 7)])
def test_queries_match_their_share_of_the_rows(kind: Kind, columns: int) -> None:
    workload = standing.workload(kind, 500, columns, 1e-4)
    found = len(ours.build(workload).match(workload.batch(20_000)).pair_arrays()[0])
    assert found == pytest.approx(500 * 20_000 * 1e-4, rel=0.2)
    assert len(workload.stream.schema) == columns
