"""A query that begins late in a pipeline is enabled, with all that it missed there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eddyline.errors import FileError, UsageError
from eddyline.model.query_state import State
from eddyline.runtime.embedded.outlets import file_names
from eddyline.service.changes import ChangeOutcome, Signature, bring
from eddyline.service.registries import DEFAULT

if TYPE_CHECKING:
    from eddyline.runtime.spark.base.settings import PipelineSettings
    from eddyline.runtime.spark.catch_up.boundary import Boundary


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """What the query missed: how many matches were written where, and where each source's own ones begin."""

    outcome: ChangeOutcome
    where: str
    rows: int
    boundaries: Sequence[Boundary]

    def as_json(self) -> dict[str, object]:
        """For machines."""
        begins = {boundary.source: boundary.as_json() for boundary in self.boundaries}
        return {**self.outcome.as_json(), "out": self.where, "matches": self.rows, "sources": begins}


def enable_from_backtest(
    id: str, pipeline: str, registry: str, signature: Signature, *, out: str | None, timeout: float
) -> CaughtUp | ChangeOutcome:
    """Enable a query, find the first batch that has it, and write what it would have matched before.

    Where it is refused, the outcome alone.
    """
    from eddyline.runtime.spark.base.secrets import revealed_all
    from eddyline.runtime.spark.base.settings import read_settings
    from eddyline.runtime.spark.catch_up import catch_up, look
    from eddyline.runtime.spark.histories.writing import write
    from eddyline.runtime.spark.pipeline.batch.batch_context import open_registry
    from eddyline.runtime.spark.sessions.command_session import command_session

    settings = read_settings(pipeline)
    _check_registry(registry, settings)
    where = out or f"{file_names([id])[0]}.backtest.parquet"
    if "://" not in where and Path(where).exists():
        raise FileError(f'"{where}" is there already', hint="remove it, or name another folder with --out")
    session = settings.session
    with (
        command_session(
            revealed_all(session.settings),
            time_zone=settings.time_zone,
            cores=session.cores,
            remote=session.remote,
        ) as spark,
        open_registry(settings) as opened,
    ):
        late = look(settings, spark, opened, id)
        outcome = bring(opened, [id], State.ENABLED, signature)
        if outcome.change is None:
            return outcome
        with catch_up(late, id, timeout=timeout) as caught:
            write([caught.results], where, "parquet")
            return CaughtUp(outcome, where, caught.written(where), caught.boundaries)


def _check_registry(named: str, settings: PipelineSettings) -> None:
    """The registry is the pipeline's; one that is named must be the same."""
    if named != DEFAULT and named != settings.registry and not _same_file(named, str(settings.registry)):
        raise UsageError("--from-backtest uses the registry of the pipeline; leave out --registry")


def _same_file(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()
