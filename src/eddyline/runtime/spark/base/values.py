"""Values that the parts of a pipeline exchange: which pipeline, which micro-batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from eddyline.storage.ownership import UNOWNED, Ownership


@dataclass(frozen=True, slots=True)
class PipelineIdentity:
    """A pipeline as its outputs know it: `id` is given once, to a new checkpoint, and lives as long as that.

    `owner` is what this process has of the checkpoint: asked before results are put in their place.
    """

    id: str
    name: str
    checkpoint: str
    owner: Ownership = field(default=UNOWNED, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Batch:
    """One micro-batch of a source; everything in it is the same when the batch is replayed after a failure."""

    pipeline: str  # the id of the pipeline's identity
    name: str
    source: str
    batch_id: int
    version: int  # of the registry: which queries serve the batch
    at: datetime  # when the version was pinned, in UTC

    def __str__(self) -> str:
        return f'batch {self.batch_id} of source "{self.source}"'
