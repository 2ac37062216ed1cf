"""Columns of the tuples that a stream's SteMs keep: each tuple once, however many SteMs and queries want it.

    arrival            0 1 2 3 4 | 5 6 7 | 8 9 ...           all rows that ever came
    chunk              1 3         5 6 7   8                 positions of those that are kept
    columns            b d         f g h   i

Columns are in the Arrow types in which expressions are evaluated, those without a type in Spark as they are declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate import Evaluation, arrow_type
from eddyline.functions.evaluate.evaluation import Batch
from eddyline.join.keys import Codes
from eddyline.join.spill import Folder
from eddyline.join.tiers import newest_run
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column

_SMALL: Final = 4096  # rows of chunks that are merged, however few others there are


@dataclass(frozen=True, eq=False)
class Chunk:
    """Columns of tuples whose positions ascend; None in `positions`: `count` of them without a gap, from `first` on."""

    first: int
    count: int
    positions: Codes | None
    columns: Mapping[str, pa.Array]
    is_spilled: bool = False

    def __len__(self) -> int:
        return self.count

    @cached_property
    def last(self) -> int:
        """The last position."""
        return self.first + self.count - 1 if self.positions is None else int(self.positions[-1])

    @cached_property
    def nbytes(self) -> int:
        """How many bytes it takes, in memory or in a file."""
        own = 0 if self.positions is None else int(self.positions.nbytes)
        return own + sum(int(column.nbytes) for column in self.columns.values())

    def rows(self, positions: Codes) -> Codes:
        """Where positions that it has stand in it."""
        if self.positions is None:
            return positions - self.first
        return np.searchsorted(self.positions, positions)

    def spilled(self, folder: Folder) -> Chunk:
        """The same in a file, read where it is looked at."""
        names = list(self.columns)
        held = [] if self.positions is None else [pa.array(self.positions)]
        found = folder.columns([*held, *self.columns.values()])
        positions = found.pop(0).to_numpy() if held else None
        return Chunk(self.first, self.count, positions, dict(zip(names, found, strict=True)), is_spilled=True)


def chunk_of(columns: Mapping[str, pa.Array], positions: Codes) -> Chunk:
    """A chunk of columns; positions ascend, and there is at least one."""
    first, count = int(positions[0]), len(positions)
    is_dense = int(positions[-1]) - first + 1 == count
    return Chunk(first, count, None if is_dense else positions, columns)


class BatchColumns(Mapping[str, pa.Array]):
    """The columns of a batch that has just come, each converted when it is first asked for."""

    def __init__(self, stream: Stream, batch: Batch, evaluation: Evaluation) -> None:
        self._stream = stream
        self._batch = batch
        self._evaluation = evaluation

    def __getitem__(self, name: str) -> pa.Array:
        kind = self._stream.types.get(name)
        if kind is not None:
            return self._evaluation.values(Column(name, kind))
        column = self._batch[name]
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        return array.cast(kept_type(self._stream, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream.schema.names)

    def __len__(self) -> int:
        return len(self._stream.schema.names)


def kept_type(stream: Stream, name: str) -> pa.DataType:
    """The Arrow type in which a column is kept."""
    kind = stream.types.get(name)
    return stream.schema.field(name).type if kind is None else arrow_type(kind)


def gather(stream: Stream, chunks: Sequence[Chunk], names: Sequence[str], positions: Codes) -> list[pa.Array]:
    """Columns of tuples at positions, in this order. A column that a chunk does not have is NULL there."""
    firsts = np.array([chunk.first for chunk in chunks], np.int64)
    chunk_of_position = np.searchsorted(firsts, positions, side="right") - 1
    order = np.argsort(chunk_of_position, kind="stable")
    ends = np.cumsum(np.bincount(chunk_of_position, minlength=len(chunks))).tolist()
    wanted = [
        (chunk, pa.array(chunk.rows(positions[order[start:end]])))
        for chunk, start, end in zip(chunks, [0, *ends], ends, strict=False)
        if end > start
    ]
    if len(wanted) <= 1:
        rows = pa.array(np.zeros(0, np.int64))
        chunk, rows = wanted[0] if wanted else (Chunk(0, 0, None, {}), rows)
        return [_taken(stream, chunk, name, rows) for name in names]
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    inverse = pa.array(back)
    return [
        pa.concat_arrays([_taken(stream, chunk, name, rows) for chunk, rows in wanted]).take(inverse)
        for name in names
    ]


def _taken(stream: Stream, chunk: Chunk, name: str, rows: pa.Array) -> pa.Array:
    column = chunk.columns.get(name)
    return pa.nulls(len(rows), kept_type(stream, name)) if column is None else column.take(rows)


class PayloadStore:
    """The chunks of one stream, oldest first."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(chunk.nbytes for chunk in self.chunks if not chunk.is_spilled)

    @property
    def spilled(self) -> int:
        """Bytes in files."""
        return sum(chunk.nbytes for chunk in self.chunks if chunk.is_spilled)

    def append(self, stream: Stream, chunk: Chunk, referenced: Callable[[int, int], Codes]) -> None:
        """Take in a chunk, and merge what is to be merged.

        `referenced` gives the positions within two that SteMs still have, ascending: others are forgotten.
        """
        self.chunks.append(chunk)
        total = sum(map(len, self.chunks))
        run = newest_run([len(chunk) for chunk in self.chunks])
        while run and sum(map(len, self.chunks[-run:])) <= max(_SMALL, total // 4):
            merged = _merged(stream, self.chunks[-run:], referenced)
            self.chunks[-run:] = [] if merged is None else [merged]
            run = newest_run([len(chunk) for chunk in self.chunks])

    def purge(self, oldest: int | None) -> None:
        """Drop the chunks whose positions are all below `oldest`; None: all of them."""
        if oldest is None:
            self.chunks.clear()
        elif self.chunks and self.chunks[0].last < oldest:
            self.chunks = [chunk for chunk in self.chunks if chunk.last >= oldest]

    def purgeable(self, oldest: int | None) -> int:
        """Bytes in memory that `purge` would free."""
        gone = [chunk for chunk in self.chunks if oldest is None or chunk.last < oldest]
        return sum(chunk.nbytes for chunk in gone if not chunk.is_spilled)

    def compact(self, stream: Stream, referenced: Callable[[int, int], Codes], tuples: int) -> None:
        """Forget rows that no SteM has any more, once they are at least as many as the others: SteMs have `tuples`.

        One that keeps a few tuples for long would otherwise hold on to all those that others have kept for a short time.
        """
        if sum(map(len, self.chunks)) > 2 * tuples + _SMALL:
            kept = [_merged(stream, [chunk], referenced) for chunk in self.chunks]
            self.chunks = [chunk for chunk in kept if chunk is not None]

    def spill(self, place: int, folder: Folder) -> None:
        """Put one of the chunks into a file."""
        self.chunks[place] = self.chunks[place].spilled(folder)


def _merged(stream: Stream, run: Sequence[Chunk], referenced: Callable[[int, int], Codes]) -> Chunk | None:
    positions = referenced(run[0].first, run[-1].last)
    if not len(positions):
        return None
    names = dict.fromkeys(name for chunk in run for name in chunk.columns)
    columns = gather(stream, run, list(names), positions)
    return chunk_of(dict(zip(names, columns, strict=True)), positions)
