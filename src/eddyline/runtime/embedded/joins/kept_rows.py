"""Rows that may be joined, kept until all are read: in memory, and where they are too many, in files that nobody else sees.

    pieces, as they are read ─► kept ──────────► run in memory
                                 │ too many      ▲
                                 └─► sorted ─► run in a file, mapped into memory        (several of a stream)

Rows of a run stand by event time. So files need not be sorted, and may be longer than memory.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.errors import FileError
from eddyline.execute.reading.batch import Columns
from eddyline.join.spill import Folder
from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.queryset.join_replay import Numbers, RunRows

IN_MEMORY: Final = 1 << 27  # bytes of rows of all streams, before they go to files

# No column of a stream is called so.
_TIME, _PLACE, _LINEAGE = "\0time", "\0place", "\0lineage"


@dataclass(frozen=True, eq=False)
class KeptRun:
    """Rows of a stream by event time, and by place where that is the same."""

    stream: Stream
    batch: pa.RecordBatch

    @cached_property
    def times(self) -> Numbers:
        """The event times, ascending."""
        times: Numbers = self.batch.column(_TIME).to_numpy()
        return times

    @cached_property
    def places(self) -> Numbers:
        """The numbers that `FilePlaces` gave them."""
        places: Numbers = self.batch.column(_PLACE).to_numpy()
        return places

    def rows(self, start: int, end: int) -> RunRows:
        """The rows from one to another."""
        piece = self.batch.slice(start, end - start)
        own = [name for name in piece.schema.names if name not in (_TIME, _PLACE, _LINEAGE)]
        lineage = piece.column(_LINEAGE)
        sizes = np.diff(lineage.offsets.to_numpy())
        row = np.repeat(np.arange(end - start), sizes)
        return RunRows({name: piece.column(name) for name in own}, row, lineage.flatten().to_numpy())


@dataclass(slots=True)
class _StreamRows:
    stream: Stream
    held: list[pa.RecordBatch] = field(default_factory=list)
    nbytes: int = 0
    runs: list[KeptRun] = field(default_factory=list)

    def sorted(self) -> pa.RecordBatch:
        """All rows that are held, as one; none is held any more."""
        table = pa.Table.from_batches(self.held).unify_dictionaries()
        self.held, self.nbytes = [], 0
        times = table.column(_TIME).to_numpy()
        if (times[1:] < times[:-1]).any():
            table = table.take(pa.array(np.argsort(times, kind="stable")))  # places ascend as they come
        [batch] = table.combine_chunks().to_batches()
        return batch


class KeptRows:
    """Takes rows of several streams in the order of their places, and gives them back in runs."""

    def __init__(self) -> None:
        self._streams: dict[str, _StreamRows] = {}

    def take(
        self,
        stream: Stream,
        columns: Columns,
        times: Numbers,
        places: Integers,
        lineage: tuple[Integers, Integers],
    ) -> None:
        """Keep rows, at least one; of the lineage their numbers here, ascending, and the roles that they satisfy."""
        row, role = lineage
        starts = np.searchsorted(row, np.arange(len(times) + 1))
        lists = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), pa.array(role, pa.int32()))
        arrays = [pa.array(times), pa.array(places, pa.int64()), lists]
        batch = pa.RecordBatch.from_arrays(
            [*arrays, *map(_whole, columns.values())], names=[_TIME, _PLACE, _LINEAGE, *columns]
        )
        kept = self._streams.setdefault(stream.name, _StreamRows(stream))
        kept.held.append(batch)
        kept.nbytes += batch.nbytes
        while sum(each.nbytes for each in self._streams.values()) > IN_MEMORY:
            self._write(max(self._streams.values(), key=lambda each: each.nbytes))

    def runs(self) -> list[KeptRun]:
        """All rows; to be asked for once, when none is to come."""
        for kept in self._streams.values():
            if kept.held:
                kept.runs.append(KeptRun(kept.stream, kept.sorted()))
        return [run for kept in self._streams.values() for run in kept.runs]

    def _write(self, kept: _StreamRows) -> None:
        folder, batch = Path(tempfile.gettempdir()), kept.sorted()
        try:
            columns = Folder(folder).columns(batch.columns)
        except FileError as error:
            raise FileError(
                f'rows that are kept for joins cannot be written to "{folder}": {_reason(error)}',
                hint="have TMPDIR name a folder with more room",
            ) from None
        kept.runs.append(KeptRun(kept.stream, pa.RecordBatch.from_arrays(columns, schema=batch.schema)))


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _reason(error: FileError) -> str:
    """What the system says."""
    return getattr(error.__cause__, "strerror", None) or error.message
