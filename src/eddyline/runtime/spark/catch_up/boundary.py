"""From which batch on a query is in force, and in which batches before it was not delivered.

    version of the registry   1   1   1   2   2   3   3   4            4: enabled (as it was in 2)
    batch                     0   1   2   3   4   5   6   7
    delivered                 -   -   -   x   x   -   -   x ...        missed: 0 to 2, 5 to 6

Which version serves a batch is written down before the batch runs, and a batch that runs again keeps it. So a batch
whose version is known to be an older one will never deliver the query, and every later batch will.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final

from eddyline.errors import EddylineError, FileError
from eddyline.model.query_state import State
from eddyline.registry import Registry
from eddyline.registry.values import Entry, Step
from eddyline.runtime.spark.versions import Pin, StateFolder, VersionLog

LOOK: Final = 0.2  # seconds between two looks at a pipeline that runs


@dataclass(frozen=True, slots=True)
class Boundary:
    """Of one source: the batches that a query missed, as ranges, and the first one from which on it is in force.

    `first` is None where the pipeline stands still: it is the batch after the last one.
    """

    source: str
    missed: tuple[range, ...]
    first: int | None

    def as_json(self) -> dict[str, object]:
        """For machines; ranges with both ends."""
        return {"first": self.first, "missed": [[batches.start, batches[-1]] for batches in self.missed]}

    def __str__(self) -> str:
        parts = [f"{r.start}" if len(r) == 1 else f"{r.start} to {r.stop - 1}" for r in self.missed]
        since = "the next batch" if self.first is None else f"batch {self.first}"
        return f"{self.source}: in force from {since} on, missed {', '.join(parts) or 'none'}"


@dataclass(frozen=True)
class InForce:
    """When a text of a query was enabled: since which version it is now, and whether it was in an older one."""

    entry: Entry
    since: int
    steps: tuple[Step, ...]

    @staticmethod
    def of(registry: Registry, id: str) -> InForce:
        """A query that is enabled, by what happened to it."""
        steps = tuple(registry.history(id))
        newest = steps[-1].entry if steps else None
        if newest is None or newest.state is not State.ENABLED:
            raise EddylineError(f'query "{id}" is not enabled', hint=f"eddyline query enable {id}")
        since = steps[-1].version.number
        for step in reversed(steps):
            if not _delivers(step.entry, newest):
                break
            since = step.version.number
        return InForce(newest, since, steps)

    def delivered_until(self, version: int) -> bool:
        """Whether any version up to one delivers this text of the query."""
        return any(_delivers(step.entry, self.entry) for step in self.steps if step.version.number <= version)

    def delivered_in(self, version: int) -> bool:
        """Whether batches of a version deliver this text of the query."""
        before = [step for step in self.steps if step.version.number <= version]
        return bool(before) and _delivers(before[-1].entry, self.entry)


def _delivers(entry: Entry | None, wanted: Entry) -> bool:
    return entry is not None and entry.state is State.ENABLED and entry.number == wanted.number


def find_boundary(
    state: StateFolder,
    in_force: InForce,
    sources: Sequence[str],
    *,
    settle: Callable[[], object] = int,
    timeout: float = 60.0,
) -> list[Boundary]:
    """Where the query begins in each source.

    While the pipeline runs that is known once a batch of each source began with the query in it, for which we wait; one
    that stands still is kept from starting while we look, and while `settle` makes sure that it will start with a version
    that has the query, even if it cannot reach the registry then.
    """
    log = VersionLog(state.batches)
    deadline = time.monotonic() + timeout
    while True:
        found = [_boundary(log.pins(source), source, in_force) for source in sources]
        if all(boundary.first is not None for boundary in found):
            return found
        if StateFolder.is_running(state.address) is None:
            with _kept_still(state) as still:
                if still:
                    settle()
                    return [_boundary(log.pins(source), source, in_force) for source in sources]
        if time.monotonic() > deadline:
            waiting = ", ".join(boundary.source for boundary in found if boundary.first is None)
            raise EddylineError(
                f"no batch of {waiting} began with the query in it within {timeout:g} seconds",
                hint="it is enabled; run the command again when rows have come, or stop the pipeline before",
            )
        time.sleep(LOOK)


@contextmanager
def _kept_still(state: StateFolder) -> Iterator[bool]:
    """Hold the lock of a pipeline; False where another process was quicker."""
    try:
        lock = state.lock()
    except FileError:
        yield False
        return
    with closing(lock):
        yield True


def _boundary(pins: Sequence[Pin], source: str, in_force: InForce) -> Boundary:
    first = next((pin.batch_id for pin in pins if pin.version >= in_force.since), None)
    forgotten = pins[0].batch_id if pins else 0  # batches of which the records were old and are deleted
    if forgotten and in_force.delivered_until(pins[0].version):
        raise EddylineError(
            f'it is not known any more which of the first {forgotten} batches of source "{source}" delivered the query',
            hint="keep_days in the pipeline's settings says how long that is kept; a back-test has all results",
        )
    missed = [*range(forgotten)] + [
        pin.batch_id
        for pin in pins
        if (first is None or pin.batch_id < first) and not in_force.delivered_in(pin.version)
    ]
    return Boundary(source, ranges_of(missed), first)


def ranges_of(numbers: Iterable[int]) -> tuple[range, ...]:
    """Ascending numbers as ranges.

    >>> ranges_of([0, 1, 2, 5, 6])
    (range(0, 3), range(5, 7))
    """
    found: list[range] = []
    for number in numbers:
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return tuple(found)
