"""Queries that were added and are not compiled into a segment yet."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Final

from eddyline.model.query import NormalQuery

_GROWING: Final = threading.Lock()  # two versions must not both find themselves at the end of one list


class Tail:
    """Queries that are not in a segment yet, with their numbers; versions that grow out of one another share one list."""

    def __init__(self, shared: list[tuple[int, NormalQuery]] | None = None, size: int = 0) -> None:
        self._shared = [] if shared is None else shared
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[tuple[int, NormalQuery]]:
        return iter(self._shared[: self._size])

    def add(self, members: list[tuple[int, NormalQuery]]) -> Tail:
        """More queries, at the cost of these alone if nobody else has added to the list."""
        with _GROWING:
            shared = self._shared if len(self._shared) == self._size else self._shared[: self._size]
            shared.extend(members)
            return Tail(shared, len(shared))
