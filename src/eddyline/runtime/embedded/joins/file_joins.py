"""Joins over the rows of files: all rows that may be joined are taken as they are read, then joined by event time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from eddyline.execute.reading.batch import ColumnReader
from eddyline.functions.evaluate import Evaluation
from eddyline.join.watermark import Watermark, judge
from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column
from eddyline.model.matches import Matches
from eddyline.model.roles import Roles
from eddyline.queryset.join_replay import Replay
from eddyline.queryset.kept_columns import Kept, keeping
from eddyline.runtime.embedded.joins.file_places import FilePlaces
from eddyline.runtime.embedded.joins.kept_rows import KeptRows
from eddyline.runtime.embedded.joins.pair_blocks import PairBlock
from eddyline.runtime.embedded.sources import FileRows
from eddyline.standing.join_reading import columns_needed
from eddyline.standing.version import Version


@dataclass(frozen=True, eq=False)
class _JoinedStream:
    """What is read of a stream's rows; `keeps_all`: some join asks nothing of them."""

    stream: Stream
    reader: ColumnReader
    keeps_all: bool
    left_out: Counter[str]


class FileJoins:
    """The joins of a version over files: `take` all rows, stream after stream, then ask for `pairs`, or for `counts`.

    failed      joins that could not be evaluated for some rows, by dense id; complete at the end
    """

    def __init__(self, version: Version, kept: Kept) -> None:
        assert version.roles is not None, "the set has joins"
        self.places = FilePlaces()
        self.failed: dict[int, Exception] = {}
        self._version = version
        self._roles = keeping(version.roles, kept, version.compiler.streams)
        self._rows = KeptRows()
        streams = (_joined_stream(self._roles, stream) for stream in version.compiler.streams)
        self._streams = {each.stream.name: each for each in streams if each is not None}

    def reads(self, stream: str) -> bool:
        """Whether some join reads a stream."""
        return stream in self._streams

    @property
    def left_out(self) -> dict[str, dict[str, int]]:
        """How many rows were left out of joins, by stream and reason."""
        return {name: dict(each.left_out) for name, each in self._streams.items() if each.left_out}

    def take(self, stream: str, piece: FileRows, matches: Matches | None = None) -> None:
        """Take the rows of a piece of a stream that joins read; `matches` are those of the same version, if they are known."""
        joined = self._streams[stream]
        places = self.places.of(stream, piece)
        if matches is None:
            matches = self._version.match(piece.batch, stream)
        self._note_failures(
            {dense: error for dense, error in matches.failed_numbers.items() if self._roles.alive[dense]}
        )
        columns, rows = joined.reader.read(piece.batch)
        assert joined.stream.times is not None, "it is joined"
        evaluation = Evaluation(columns, time_zone=self._version.compiler.time_zone, rows=rows)
        times = evaluation.values(Column(joined.stream.times.column, joined.stream.times.type))
        judged = judge(Watermark(joined.stream.times), times, None)
        joined.left_out.update(judged.left_out)
        row, role = matches.pairs_among(self._roles.alive)
        wanted = judged.kept.copy()
        if not joined.keeps_all:
            wanted &= np.bincount(row, minlength=rows) > 0
        if not wanted.any():
            return
        if wanted.all():
            self._rows.take(joined.stream, columns, judged.times, places, (row, role))
            return
        which = np.flatnonzero(wanted)
        taken = {name: column.take(pa.array(which)) for name, column in columns.items()}
        own = wanted[row]
        lineage = (np.cumsum(wanted) - 1)[row[own]], role[own]
        self._rows.take(joined.stream, taken, judged.times[which], places[which], lineage)

    def pairs(self) -> Iterator[PairBlock]:
        """The pairs, in the order in which they would be complete if all rows came by event time, then by place.

        Where a few rows make millions of pairs, they come in parts, each of which is in order.
        """
        replay = self._replay(numbered=True)
        for found in replay:
            yield PairBlock(found, self._roles)
        self._note_failures(replay.failed)

    def counts(self) -> Integers:
        """How many pairs satisfy each join, by dense id: for those who do not ask for the pairs."""
        totals = np.zeros(self._version.table.size, np.int64)
        replay = self._replay(numbered=False)
        for joined in chain.from_iterable(replay):
            totals += np.bincount(joined.query, minlength=len(totals))
        self._note_failures(replay.failed)
        return totals

    def _replay(self, *, numbered: bool) -> Replay:
        zone = self._version.compiler.time_zone
        return Replay(self._roles, self._rows.runs(), time_zone=zone, numbered=numbered)

    def _note_failures(self, failed: Mapping[int, Exception]) -> None:
        """Of roles the joins that they belong to."""
        for dense, error in failed.items():
            [owner] = self._version.table.owners([dense])
            self.failed.setdefault(owner, error)


def _joined_stream(roles: Roles, stream: Stream) -> _JoinedStream | None:
    """What is to be known of a stream; None if no join reads it."""
    used = columns_needed(roles, stream)
    if not used:
        return None
    alive = roles.alive[: roles.size]
    own = [number for number, stem in enumerate(roles.stems) if stem.stream == stream.name]
    is_free = alive & roles.free[: roles.size] & np.isin(roles.stem[: roles.size], own)
    return _JoinedStream(stream, ColumnReader(stream, used), bool(is_free.any()), Counter())
