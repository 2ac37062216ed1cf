"""What a pipeline needs, by its own reports where it has any: checkpoints made by hand, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.capacity.measured import RATES
from eddyline.errors import FileError, UsageError
from eddyline.runtime.spark.versions import StateFolder
from eddyline.runtime.spark.watching import BatchReport, Metrics
from eddyline.service.jobs.capacity import CapacityRequest, capacity

SETTINGS = """[pipeline]
name = "market"
registry = "market.db"
checkpoint = "state"
trigger = "1 second"
[[source]]
name = "quotes"
format = "json"
path = "incoming"
[[sink]]
name = "results"
format = "parquet"
path = "out"
"""


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "market.toml"
    path.write_text(SETTINGS)
    return path


def report(number: int, *, rows: int = 200_000, working: float = 0.5) -> BatchReport:
    return BatchReport(
        source="quotes",
        batch_id=number,
        version=1,
        queries=2_000,
        rows=rows,
        matches=4_000,
        delivered={"results": 3_000},
        working=working,
        seconds={"match": 0.8, "total": 1.1},
    )


def write(settings: Path, reports: list[BatchReport]) -> None:
    StateFolder.open(settings.parent / "state", name="market", sources=["quotes"])
    metrics = Metrics(settings.parent / "state" / "metrics.jsonl")
    for one in reports:
        metrics.batch(one)


def test_without_a_pipeline_the_packages_rates_are_taken() -> None:
    found = capacity(CapacityRequest(10_000.0, queries=1_000))
    assert found.pipeline is None and found.calibrated is None and found.estimate.sizing.rates is RATES
    assert [text.rpartition("(")[2] for text in found.assumed] == [
        "--matches-per-row)",
        "--columns)",
        "--kind)",
    ]
    stated = CapacityRequest(10_000.0, queries=1_000, columns=3, matches_per_row=0.5, kind="ranges")
    found = capacity(stated)
    assert found.assumed == () and found.estimate.load.matches_per_row == 0.5
    assert found.as_json()["own_reports"] is None and found.as_json()["load"]["kind"] == "ranges"


def test_a_pipelines_reports_say_what_its_batches_took(settings: Path) -> None:
    write(settings, [report(0, working=60.0), report(1, working=60.0), *map(report, range(2, 12))])
    found = capacity(CapacityRequest(10_000.0, file=str(settings)))
    own, load = found.calibrated, found.estimate.load
    assert own is not None and own.batches == 10 and found.pipeline == "market" and found.why == ""
    assert load.queries == 2_000 and load.matches_per_row == pytest.approx(0.02)
    assert load.delivered == pytest.approx(0.75)
    sizing = found.estimate.sizing
    per_row = (sizing.matching_cores + sizing.making_cores) / load.rows_per_second
    assert per_row == pytest.approx(0.5 / 200_000)
    more = capacity(CapacityRequest(10_000.0, file=str(settings), queries=20_000)).estimate.load
    assert more.matches_per_row == pytest.approx(0.2)  # each query matches as many rows as before
    assert found.as_json()["own_reports"]["batches"] == 10


def test_reports_that_were_put_aside_count_too(settings: Path) -> None:
    write(settings, [*map(report, range(6))])
    metrics = settings.parent / "state" / "metrics.jsonl"
    metrics.rename(metrics.with_name("metrics.jsonl.1"))
    write(settings, [*map(report, range(6, 9))])
    own = capacity(CapacityRequest(10_000.0, file=str(settings))).calibrated
    assert own is not None and own.batches == 7


@pytest.mark.parametrize(
    ("reports", "why"),
    [
        (None, "has not reported any batch yet"),
        ([], "any batch yet"),
        ([report(0)], "no steady batches to go by"),
    ],
)
def test_a_pipeline_that_has_said_too_little(
    settings: Path, reports: list[BatchReport] | None, why: str
) -> None:
    if reports is not None:
        write(settings, reports)
    found = capacity(CapacityRequest(10_000.0, file=str(settings), queries=1_000))
    assert found.calibrated is None and why in found.why
    with pytest.raises(UsageError, match=f"with --queries: .*{why}"):
        capacity(CapacityRequest(10_000.0, file=str(settings)))


def test_what_cannot_be_reckoned_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="state the number of queries with --queries"):
        capacity(CapacityRequest(10_000.0))
    with pytest.raises(UsageError, match="queries: 0 is not"):
        capacity(CapacityRequest(10_000.0, queries=0, matches_per_row=1.0))
    with pytest.raises(FileError, match=r"missing\.toml"):
        capacity(CapacityRequest(10_000.0, file=str(tmp_path / "missing.toml"), queries=1))
