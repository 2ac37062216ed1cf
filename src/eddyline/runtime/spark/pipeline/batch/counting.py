"""Counters of queries in the registry: each batch counted once, also when the registry cannot be reached for a while.

    state/uncounted/<source>/<batch id>.json      what waits for the registry, oldest first

The stream does not wait for the registry: what it does not take now is written down and added before the next batch's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Final

from eddyline.delivery.retry import Pause
from eddyline.errors import FileError, RegistryError
from eddyline.registry import Registry
from eddyline.storage.storage import Storage

FOLDER: Final = "uncounted"  # in the checkpoint
FORMAT: Final = 1
AGAIN: Final = 10.0  # seconds before a registry that failed is asked again

Counters = Mapping[str, Mapping[str, int]]


class Counting:
    """Adds what batches counted to the registry; `origin` is the pipeline's id."""

    def __init__(
        self,
        registry: Registry,
        checkpoint: Storage,
        origin: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._registry = registry
        self._storage = checkpoint
        self._origin = origin
        self._pause = Pause(clock=clock)
        self._failure = ""  # what the registry said the last time it failed

    def add(self, source: str, batch_id: int, counters: Counters) -> str | None:
        """Count a batch, now or later; what there is to tell if it is later. A batch that is replayed counts once."""
        if self._pause.is_over:
            try:
                self._count_waiting(source)
                self._count(source, batch_id, counters)
                return None
            except RegistryError as error:
                self._failure = error.message
                self._pause.begin(AGAIN)
        document = {"format": FORMAT, "counters": counters}
        self._storage.put(_name(source, batch_id), json.dumps(document).encode())
        several = len(self._waiting(source))
        return f"the counters of {several} batches wait for the registry: {self._failure}"

    def _count_waiting(self, source: str) -> None:
        for batch_id in self._waiting(source):
            self._count(source, batch_id, self._read(_name(source, batch_id)))
            # Last: what is counted a second time counts once, but what is deleted first may never be counted.
            self._storage.delete(_name(source, batch_id))

    def _count(self, source: str, batch_id: int, counters: Counters) -> None:
        self._registry.add_counters(counters, once=(f"{self._origin}/{source}", batch_id))

    def _read(self, name: str) -> Counters:
        try:
            document = json.loads(self._storage.read(name))
            found = document.get("format")
        except (ValueError, AttributeError) as error:
            raise FileError(
                f"{self._storage}/{name} is damaged: {error}",
                hint="delete it: these counts are then missing in the registry, and nothing else",
            ) from None
        if found != FORMAT:
            raise FileError(
                f"{self._storage}/{name} has format {found}, and this release reads format {FORMAT}",
                hint="use the release that wrote it, or delete the file: these counts are then missing in the registry",
            )
        counters: Counters = document["counters"]
        return counters

    def _waiting(self, source: str) -> list[int]:
        names = self._storage.list(f"{FOLDER}/{source}")
        return sorted(int(name.removesuffix(".json")) for name in names if name.endswith(".json"))


def _name(source: str, batch_id: int) -> str:
    return f"{FOLDER}/{source}/{batch_id}.json"
