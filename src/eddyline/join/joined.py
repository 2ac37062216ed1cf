"""What a step of a join stage gives: pairs of tuples and the joins that they satisfy, in the order of delivery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.join.keys import Codes
from eddyline.join.payload import Chunk, gather
from eddyline.join.probe import Found
from eddyline.kernels.join import pack_pairs, pairs_of_joins, unpack_pairs
from eddyline.kernels.sorting import sort_digits
from eddyline.model.arrays import Flags, Integers
from eddyline.model.catalog import Stream


@dataclass(frozen=True, slots=True)
class Held:
    """What is known of a stream's tuples at one moment: the kept ones, and the batch that has just come."""

    stream: Stream
    chunks: Sequence[Chunk]

    def columns(self, names: Sequence[str], positions: Codes) -> list[pa.Array]:
        """Columns of tuples by position."""
        return gather(self.stream, self.chunks, names, positions)

    def kept(self, position: int) -> dict[str, pa.Array]:
        """All that is kept of one tuple."""
        chunk = next(chunk for chunk in reversed(self.chunks) if chunk.first <= position)
        row = pa.array(chunk.rows(np.array([position])))
        return {name: chunk.columns[name].take(row) for name in chunk.columns}


@dataclass(frozen=True, eq=False)
class Joined:
    """Pairs, by row, then by the partner's arrival, then by query; or in any order, where that was asked for.

    row         of the batch that has just come: the tuple of the pair that arrived last
    query       the dense id of the join
    positions   of the tuples of source 0 and of source 1: how many rows of its stream came before it
    """

    row: npt.NDArray[np.int64]
    query: npt.NDArray[np.int64]
    positions: tuple[Codes, Codes]
    held: Mapping[str, Held]

    def __len__(self) -> int:
        return len(self.row)

    def columns(
        self, source: int, stream: str, names: Sequence[str], which: Integers | Flags | slice = slice(None)
    ) -> list[pa.Array]:
        """Columns of a source's tuples in some of the pairs, whose joins all read that source from this stream.

        They are in the Arrow types in which expressions are evaluated; see `join/payload.py`.
        """
        return self.held[stream].columns(names, self.positions[source][which])


def ordered(found: Found, query: Integers, side: Integers, base: int) -> tuple[Codes, ...]:
    """Pairs in the order of delivery, each once: rows, queries, and positions of source 0 and of source 1.

    query, side: of roles. base: the position of row 0. Where all that pairs are ordered by fits into one word, words are
    sorted, in a tenth of the time that several columns take.
    """
    least = int(found.positions.min())
    bits = [(int(found.positions.max()) - least).bit_length(), len(query).bit_length()]
    all_bits = sum(bits) + int(found.rows.max()).bit_length() + 1
    if all_bits > 63:
        return _ordered_by_columns(found, query, side, base)
    packed, spare, *columns = (np.empty(len(found), np.int64) for _ in range(6))
    pack_pairs(found.rows, found.positions, found.roles, query, side, least, *bits, packed)
    count = unpack_pairs(sort_digits(packed, spare, all_bits), base, least, *bits, *columns)
    return tuple(column[:count] for column in columns)


def unordered(found: Found, query: Integers, side: Integers, base: int) -> tuple[Codes, ...]:
    """As `ordered`, in any order: without sorting, unless a join has several branches, which may find the same pair."""
    columns = tuple(np.empty(len(found), np.int64) for _ in range(4))
    is_once = pairs_of_joins(found.rows, found.positions, found.roles, query, side, base, *columns)
    return columns if is_once else ordered(found, query, side, base)


def _ordered_by_columns(found: Found, query: Integers, side: Integers, base: int) -> tuple[Codes, ...]:
    later_side = 1 - side[found.roles].astype(np.int64)
    keys = (found.rows.astype(np.int64), found.positions, query[found.roles].astype(np.int64), later_side)
    order = np.lexsort(keys[::-1])
    row, position, of, later = (key[order] for key in keys)
    new = np.append(True, np.any([c[1:] != c[:-1] for c in (row, position, of, later)], axis=0))
    firsts, seconds = np.where(later == 0, row + base, position), np.where(later == 0, position, row + base)
    return row[new], of[new], firsts[new], seconds[new]
