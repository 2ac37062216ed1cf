"""Which lists of what can fail the queries of a version have, and how many queries have each.

Failures are counted for each distinct expression of a stream once, and not query by query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from eddyline.execute.placed import Placed
from eddyline.model.arrays import Integers
from eddyline.standing.rows.columns import Columns
from eddyline.standing.rows.table import Table

Counted = Mapping[str, Mapping[int, int]]  # by stream, then by a list's number: how many queries have it


class CountedWhenAsked(Mapping[str, Mapping[int, int]]):
    """Of a version whose queries are all in segments: the lists of a stream are counted when somebody wants to know.

    The list without anything in it may be among them; it means nothing.
    """

    def __init__(self, table: Table, segments: Sequence[Placed]) -> None:
        self._table, self._segments = table, segments
        self._streams = dict.fromkeys(placed.segment.stream for placed in segments)
        self._known: dict[str, Mapping[int, int]] = {}

    def __getitem__(self, stream: str) -> Mapping[int, int]:
        if stream not in self._streams:
            raise KeyError(stream)
        if stream not in self._known:
            dense = dense_ids(stream, self._table, self._segments)
            users = np.bincount(self._table.columns["fallible"][dense])
            numbers = np.flatnonzero(users)
            self._known[stream] = dict(zip(numbers.tolist(), users[numbers].tolist(), strict=True))
        return self._known[stream]

    def __iter__(self) -> Iterator[str]:
        return iter(self._streams)

    def __len__(self) -> int:
        return len(self._streams)


def dense_ids(stream: str, table: Table, segments: Iterable[Placed]) -> Integers:
    """The queries of a stream that stand in segments and are not gone, ascending."""
    own = [placed.numbering.all() for placed in segments if placed.segment.stream == stream]
    found = own[0] if len(own) == 1 else np.sort(np.concatenate([np.empty(0, np.int64), *own]))
    return found if table.gone is None else found[~table.gone[found]]


def recounted(before: Counted, columns: Columns, leaving: Iterable[int], coming: Iterable[int]) -> Counted:
    """With some queries less and some more, given by dense id; most queries have nothing that can fail."""
    after: dict[str, dict[int, int]] = {}
    for moving, step in ((leaving, -1), (coming, 1)):
        for dense in moving:
            number = int(columns["fallible"][dense])
            if not columns.shared.fallibles[number]:
                continue
            name = columns.selection(dense)[0].name
            users = after.setdefault(name, dict(before.get(name, {})))
            users[number] = users.get(number, 0) + step
            if not users[number]:
                del users[number]
    return {**before, **after} if after else before
