"""What a pipeline has done, read from its checkpoint, whether it runs or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from eddyline.errors import EddylineError

if TYPE_CHECKING:
    from eddyline.runtime.spark.base.settings import PipelineSettings
    from eddyline.runtime.spark.versions import Served, StateFolder
    from eddyline.runtime.spark.watching import PipelineTotals
    from eddyline.storage.folder_lock import Holder


@dataclass(frozen=True, slots=True)
class ServedBatches:
    """The newest batches of some sources of a pipeline."""

    pipeline: str
    id: str
    served: Mapping[str, Sequence[Served]]

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        found = {name: [served_json(one) for one in several] for name, several in self.served.items()}
        return {"pipeline": self.pipeline, "id": self.id, "batches": found}


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """Whether a pipeline runs (`running` is who it is), how far each source is, and what came of it so far.

    `registry_version` is None where the registry cannot be asked now.
    """

    pipeline: str
    id: str
    running: Holder | None
    registry_version: int | None
    last: Mapping[str, Served | None]
    totals: PipelineTotals

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        running = self.running
        return {
            "pipeline": self.pipeline,
            "id": self.id,
            "running": None if running is None else {"pid": running.pid, "host": running.host},
            "registry_version": self.registry_version,
            "sources": {name: None if one is None else served_json(one) for name, one in self.last.items()},
            "totals": self.totals.to_json(),
        }


def newest_batches(file: str, source: str | None, count: int) -> ServedBatches:
    """The newest batches of each source, or of one of them."""
    with _found(file) as (settings, state):
        if source is not None and source not in state.sources:
            raise EddylineError(
                f'pipeline "{state.name}" has no source "{source}"',
                hint=f"its sources are {', '.join(state.sources)}",
            )
        chosen = state.sources if source is None else (source,)
        return ServedBatches(settings.name, state.id, {name: _newest(state, name, count) for name in chosen})


def status_of(file: str) -> PipelineStatus:
    """How a pipeline is."""
    from eddyline.runtime.spark.versions import StateFolder
    from eddyline.runtime.spark.versions.working_folder import WorkingFolder
    from eddyline.runtime.spark.watching.kept_metrics import metrics_in

    with _found(file) as (settings, state):
        folder = WorkingFolder.of(state)
        return PipelineStatus(
            settings.name,
            state.id,
            StateFolder.is_running(state.address),
            _registry_version(settings),
            {name: next(iter(_newest(state, name, 1)), None) for name in state.sources},
            metrics_in(folder.metrics, folder.kept).totals,
        )


def served_json(served: Served) -> dict[str, Any]:
    """A batch for machines."""
    from eddyline.runtime.spark.pipeline.input.inputs import readable_path

    pin = served.pin
    return {
        "batch_id": pin.batch_id,
        "version": pin.version,
        "pinned": pin.at.isoformat(),
        "nulled": list(pin.nulled),
        "set_aside": [{"file": readable_path(file.path), "reason": file.reason} for file in pin.set_aside],
        "orders": [order.as_json() for order in pin.orders],
        "committed": None if served.committed is None else served.committed.isoformat(),
        **dict(served.account),
    }


@contextmanager
def reached_settings(file: str) -> Iterator[PipelineSettings]:
    """The settings of a pipeline; where its state is reached through Spark, with a session for as long as it is looked at."""
    from eddyline.runtime.spark.base.remote_folders import local_path
    from eddyline.runtime.spark.base.secrets import revealed_all
    from eddyline.runtime.spark.base.settings import read_settings
    from eddyline.runtime.spark.sessions.command_session import command_session

    settings = read_settings(file)
    if local_path(settings.checkpoint) is not None:
        yield settings
        return
    with command_session(revealed_all(settings.session.settings), cores=1):
        yield settings


@contextmanager
def _found(file: str) -> Iterator[tuple[PipelineSettings, StateFolder]]:
    """A pipeline and its state."""
    with reached_settings(file) as settings:
        yield settings, _state(settings, file)


def _state(settings: PipelineSettings, file: str) -> StateFolder:
    from eddyline.runtime.spark.versions import StateFolder

    if not StateFolder.exists(settings.checkpoint):
        raise EddylineError(
            f'pipeline "{settings.name}" has not run yet: there is no state in {settings.checkpoint}',
            hint=f"eddyline run {file}",
        )
    return StateFolder.find(settings.checkpoint)


def _newest(state: StateFolder, source: str, count: int) -> list[Served]:
    from eddyline.runtime.spark.versions import VersionLog

    log = VersionLog(state.batches)
    last = log.last(source)
    first = 0 if last is None else max(0, last.batch_id - count + 1)
    return list(islice(log.batches(source, first), count))


def _registry_version(settings: PipelineSettings) -> int | None:
    from eddyline.runtime.spark.pipeline.batch.batch_context import open_registry

    try:
        with open_registry(settings) as registry:
            return registry.version
    except EddylineError:
        return None
