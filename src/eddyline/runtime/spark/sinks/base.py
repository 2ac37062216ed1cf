"""What every sink is, and what its failures are called."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import pyarrow as pa

from eddyline.errors import DeliveryError, EddylineError, FullDiskError, OwnershipError
from eddyline.runtime.spark.base.failures import in_words
from eddyline.runtime.spark.base.secrets import secrets_in
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.base.values import Batch, PipelineIdentity
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EXACTLY_ONCE: Final = "exactly once"
AT_LEAST_ONCE: Final = "at least once"

Lists = Mapping[int, pa.Schema]
"""SELECT lists of a sink's queries, by number."""

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_FULL_WORDS: Final = ("No space left on device", "Disk quota exceeded")
LONGEST: Final = 1000  # characters of somebody else's message


class Sink(Protocol):
    """Takes the results of one destination, batch by batch.

    A sink holds its settings and nothing else until it is opened, so it can be pickled before.
    """

    name: str
    guarantee: str

    def inspect(self, pipeline: PipelineIdentity | None = None) -> None:
        """Refuse, by a `SinkError`, what would not work, and change nothing; without a pipeline, as for a new one."""

    def open(self, pipeline: PipelineIdentity) -> None:
        """Inspect, then take possession of the output."""

    def typed_for(self, lists: Lists, batch: Batch) -> TypedList | None:
        """The typed columns in which it wants the results of its queries, which have these SELECT lists; None: as text."""

    def deliver(self, rows: DataFrame, batch: Batch, typed: TypedList | None = None) -> int | None:
        """Take the rows of a batch; gives how many there were where the sink knows.

        `typed` is what `typed_for` gave for the batch: results of its SELECT lists have these columns in SELECTED.
        `DeliveryError` where the batch has to come again; `RowsRefusedError` where some rows will never be taken, and
        all others were.
        """

    def close(self) -> None:
        """Let go of what was opened."""


class TextSink:
    """What sinks have in common that take results as text and hold nothing open between batches."""

    guarantee = AT_LEAST_ONCE

    def __init__(self, settings: SinkSettings) -> None:
        self.name = settings.name
        self._settings = settings

    def inspect(self, pipeline: PipelineIdentity | None = None) -> None:
        """There is nothing that could be wrong before rows come."""

    def open(self, pipeline: PipelineIdentity) -> None:
        """Inspect; there is nothing to take possession of."""
        self.inspect(pipeline)

    def typed_for(self, lists: Lists, batch: Batch) -> TypedList | None:
        """Text."""
        return None

    def close(self) -> None:
        """Nothing is held open."""


@dataclass(frozen=True, slots=True)
class RefusedResult:
    """A result that a sink will never take."""

    destination: str | None
    query_id: str
    query_revision: int
    version: int
    tuple_key: str | None
    payload: str | None
    reason: str


class RowsRefusedError(EddylineError):
    """All rows of a batch were delivered but these, which belong into the dead letters; trying again is of no use."""

    def __init__(self, message: str, refused: tuple[RefusedResult, ...], delivered: int) -> None:
        super().__init__(message)
        self.refused = refused
        self.delivered = delivered


@contextmanager
def delivering(settings: SinkSettings, batch: Batch) -> Iterator[None]:
    """Whatever fails inside is a `DeliveryError` that names sink and batch and shows no secret."""
    try:
        yield
    except (DeliveryError, OwnershipError, RowsRefusedError):
        raise
    except Exception as error:
        raise failure(settings, batch, error) from None


def failure(settings: SinkSettings, batch: Batch, error: BaseException) -> DeliveryError:
    """What a failed delivery is called: a full disk is told apart, secrets are taken out."""
    if is_full(error):
        return FullDiskError(
            f'there is no room left for {batch} in sink "{settings.name}"'
            + (f" ({settings.path})" if settings.path else ""),
            hint="nothing of the batch counts yet; make room, and it is delivered again",
        )
    words = in_words(error, LONGEST, secrets_in(settings))
    return DeliveryError(f'sink "{settings.name}" did not take {batch}: {words}')


def is_full(error: BaseException | None) -> bool:
    """Whether an error, or what caused it, says that a disk is full."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        if any(words in str(error) for words in _FULL_WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False
