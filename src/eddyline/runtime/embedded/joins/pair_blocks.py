"""Pairs of rows in the order in which they would be complete if all rows came by event time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.join.joined import Joined
from eddyline.model.arrays import Flags, Integers
from eddyline.model.roles import Roles, role_row
from eddyline.project.pair_rows import PairRows
from eddyline.queryset.join_replay import ARRIVAL, PLACE

Numbers = npt.NDArray[np.int64]


class PairBlock:
    """Some pairs, each once, and the joins that they satisfy: by pair, then in the order of registration.

    pair        for each join that a pair satisfies: which pair
    query       the dense id of that join
    """

    def __init__(self, found: Sequence[Joined], roles: Roles) -> None:
        self._roles = roles
        parts = np.repeat(np.arange(len(found)), [len(joined) for joined in found])
        indices = np.concatenate([np.arange(len(joined)) for joined in found])
        query = np.concatenate([joined.query for joined in found])
        numbers = [_numbers(found, roles, source) for source in (0, 1)]
        arrivals = numbers[0][ARRIVAL], numbers[1][ARRIVAL]
        order = _order_of_arrival(*arrivals, query)
        first, second = (arrival[order] for arrival in arrivals)
        is_new: Flags = np.ones(len(order), np.bool_)
        is_new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        self.query = query[order]
        self.pair: Numbers = np.cumsum(is_new) - 1
        self._pairs = _OrderedPairs(found, parts[order], indices[order], self.query)
        self._first = np.flatnonzero(is_new)
        self._places = tuple(each[PLACE][order][is_new] for each in numbers)

    def __len__(self) -> int:
        return len(self.query)

    @property
    def distinct(self) -> int:
        """How many pairs there are, however many joins each satisfies."""
        return len(self._first)

    def places(self, source: int) -> Numbers:
        """The place of each pair's row of a source."""
        return self._places[source]

    @cached_property
    def rows(self) -> PairRows:
        """The pairs as the result stage takes them."""
        return PairRows(self._pairs, self._roles, self._first)

    def columns(self, source: int, stream: str, names: Sequence[str], pairs: Integers) -> list[pa.Array]:
        """Columns of a source's rows in some of the pairs, whose joins read that source from this stream."""
        return self._pairs.columns(source, stream, names, self._first[pairs])


@dataclass(frozen=True, eq=False)
class _OrderedPairs:
    """What steps of the join stage have found, in another order: place i has pair indices[i] of found[parts[i]]."""

    found: Sequence[Joined]
    parts: Integers
    indices: Integers
    query: Integers

    @property
    def row(self) -> Integers:
        """Which pair each is."""
        return np.arange(len(self.query))

    @property
    def positions(self) -> tuple[Integers, Integers]:
        """The tuples of both sources, by how many came before them in their streams."""
        first, second = (
            np.concatenate([joined.positions[source] for joined in self.found]) for source in (0, 1)
        )
        starts = np.cumsum([0, *(len(joined) for joined in self.found[:-1])])
        places = starts[self.parts] + self.indices
        return first[places], second[places]

    def columns(self, source: int, stream: str, names: Sequence[str], which: Integers) -> list[pa.Array]:
        """Columns of the tuples of one source, for some of the pairs."""
        parts, indices = self.parts[which], self.indices[which]
        if len(self.found) == 1:
            return self.found[0].columns(source, stream, names, indices)
        order = np.argsort(parts, kind="stable")
        pieces = [
            self.found[part].columns(source, stream, names, indices[order[start:end]])
            for part, start, end in _runs(parts[order])
        ]
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return [pa.concat_arrays(several).take(pa.array(back)) for several in zip(*pieces, strict=True)]


def _runs(ascending: Integers) -> Iterator[tuple[int, int, int]]:
    """Each number, and from where to where it stands."""
    starts = np.flatnonzero(np.diff(ascending, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], len(ascending)], strict=True):
        yield int(ascending[start]), start, end


def _numbers(found: Sequence[Joined], roles: Roles, source: int) -> dict[str, Numbers]:
    """Place and arrival of a source's row in every pair."""
    names = (PLACE, ARRIVAL)
    numbers = {name: np.empty(sum(map(len, found)), np.int64) for name in names}
    streams = [stem.stream for stem in roles.stems]
    start = 0
    for joined in found:
        stems = roles.stem[role_row(joined.query, 0, source)]
        for stream in dict.fromkeys(streams[stem] for stem in np.unique(stems).tolist()):
            own = np.flatnonzero(np.isin(stems, [n for n, name in enumerate(streams) if name == stream]))
            columns = joined.columns(source, stream, names, own)
            for name, values in zip(names, columns, strict=True):
                numbers[name][start + own] = values.to_numpy()
        start += len(joined)
    return numbers


def _order_of_arrival(first: Numbers, second: Numbers, query: Integers) -> Integers:
    """Pairs by the arrival of the later row, of the earlier one, and by query.

    Where a stream is joined with itself, a pair whose later row is that of the first source comes before its mirror image.
    Numbers that fit into one word of 64 bits together are sorted as such, in a fraction of the time.
    """
    later, earlier = np.maximum(first, second), np.minimum(first, second)
    columns = [later - later.min(), earlier - earlier.min(), query.astype(np.int64), (second > first) * 1]
    sizes = [int(column.max()).bit_length() for column in columns]
    if sum(sizes) > 63:
        return np.lexsort(columns[::-1])
    packed = columns[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        packed = packed << size | column
    return np.argsort(packed)
