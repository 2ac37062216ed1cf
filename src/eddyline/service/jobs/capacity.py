"""What a pipeline needs for so many queries and rows: from what it has reported itself, else from the rates of the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from eddyline.capacity import Calibrated, Estimate, Load, ObservedBatch, calibrate, estimate
from eddyline.capacity.load import COLUMNS, SHARE, Kind
from eddyline.capacity.measured import RATES
from eddyline.errors import UsageError
from eddyline.service.jobs.pipelines import reached_settings

if TYPE_CHECKING:
    from eddyline.runtime.spark.base.settings import PipelineSettings

NEWEST: Final = 1_000  # batches: those before may have had another machine, or other queries


@dataclass(frozen=True, slots=True)
class CapacityRequest:
    """What is asked; None where it is to be found out, or assumed.

    file             the settings of a pipeline, whose reports say more than the package's rates
    queries          those of the pipeline's last batch, if not given
    matches_per_row  as reported; else each query matches one row in a million
    kind             as near as can be told from the reports; else keyed
    """

    rows_per_second: float
    file: str | None = None
    queries: int | None = None
    columns: int | None = None
    matches_per_row: float | None = None
    kind: Kind | None = None
    cores_per_worker: int = 4
    utilisation: float = 0.7
    longest_batch: float = 60.0


@dataclass(frozen=True, slots=True)
class CapacityReport:
    """What a load needs. `calibrated`: what the pipeline's own batches said; None where there are none to go by, as `why` says.

    `assumed` has what nobody stated and nothing measured, in words.
    """

    estimate: Estimate
    pipeline: str | None
    calibrated: Calibrated | None
    why: str
    assumed: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "pipeline": self.pipeline,
            "measured_on": {"machine": RATES.machine, "day": RATES.day},
            "own_reports": None if self.calibrated is None else self.calibrated.as_json(),
            "assumed": list(self.assumed),
            **self.estimate.as_json(),
            "rates": self.estimate.sizing.rates.as_json(),
        }


def capacity(request: CapacityRequest) -> CapacityReport:
    """What a load needs."""
    columns = COLUMNS if request.columns is None else request.columns
    name, own, why = None, None, ""
    if request.file is not None:
        with reached_settings(request.file) as settings:
            name, batches = settings.name, _observed(settings)
        own = calibrate(RATES, batches, columns, request.kind) if batches else None
        if own is None:
            why = (
                f'pipeline "{name}" has no steady batches to go by'
                if batches
                else f'pipeline "{name}" has not reported any batch yet'
            )
    return _report(request, columns, name, own, why)


def _report(
    request: CapacityRequest, columns: int, name: str | None, own: Calibrated | None, why: str
) -> CapacityReport:
    queries = request.queries if request.queries is not None else own.queries if own else None
    if queries is None:
        raise UsageError(f"state the number of queries with --queries{': ' if why else ''}{why}")
    if queries < 1:
        raise UsageError(f"queries: {queries} is not a number above 0")
    if request.matches_per_row is not None:
        share = request.matches_per_row / queries
    else:
        share = own.share if own else SHARE
    load = Load(
        queries,
        request.rows_per_second,
        columns=columns,
        share=share,
        delivered=own.delivered if own else 1.0,
        kind=request.kind or (own.kind if own else "keyed"),
        cores_per_worker=request.cores_per_worker,
        utilisation=request.utilisation,
        longest_batch=request.longest_batch,
    )
    found = estimate(load, own.rates if own else RATES)
    return CapacityReport(found, name, own, why, _assumed(request, own))


def _assumed(request: CapacityRequest, own: Calibrated | None) -> tuple[str, ...]:
    found = []
    if request.matches_per_row is None and own is None:
        found.append("each query matches one row in a million (--matches-per-row)")
    if request.columns is None:
        found.append(f"{COLUMNS} columns are read (--columns)")
    if request.kind is None and own is None:
        found.append("queries ask for a rare value, such as a symbol (--kind)")
    return tuple(found)


def _observed(settings: PipelineSettings) -> list[ObservedBatch]:
    """The newest batches that the checkpoint has reports of, oldest first."""
    from eddyline.runtime.spark.versions import StateFolder
    from eddyline.runtime.spark.versions.working_folder import WorkingFolder
    from eddyline.runtime.spark.watching import Tail
    from eddyline.runtime.spark.watching.kept_metrics import metrics_in

    if not StateFolder.exists(settings.checkpoint):
        return []
    folder = WorkingFolder.of(StateFolder.find(settings.checkpoint))
    path = metrics_in(folder.metrics, folder.kept).path
    old = Tail(path.with_name(path.name + ".1"))  # put aside when it had reached its size
    reports = [*old.read(), *Tail(path).read()][-NEWEST:]
    return [
        ObservedBatch(
            source=report.source,
            batch_id=report.batch_id,
            queries=report.queries,
            rows=report.rows,
            matches=report.matches,
            delivered=sum(report.delivered.values()),
            working=report.working,
            seconds=report.total,
        )
        for report in reports
    ]
