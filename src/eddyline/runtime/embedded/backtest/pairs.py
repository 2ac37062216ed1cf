"""Joins over a history: rows are kept as they are read, and the pairs are tallied once all are there.

piece ─► FileJoins: rows that may be joined ─► pairs by event time ─► Tally of each lane of joins
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.backtest.axis import Axis, Positions, axis_of
from eddyline.backtest.lots import Lots, lots_of_pairs
from eddyline.backtest.prepare import JoinLane, JoinLanes
from eddyline.backtest.results import StreamTally
from eddyline.backtest.rows import FoundPair, shown_rows
from eddyline.backtest.settings import Settings
from eddyline.backtest.tally import Tally
from eddyline.backtest.values import Row
from eddyline.functions.evaluate.odd_text import readable
from eddyline.model.arrays import Flags, Integers
from eddyline.model.catalog import Stream
from eddyline.runtime.embedded.joins import FileJoins, Kept, PairBlock
from eddyline.runtime.embedded.joins.file_places import FilePlaces
from eddyline.runtime.embedded.sources import FileRows


class JoinTallies:
    """The tallies of all lanes of joins; `take` all rows of the history, then ask for the `tallies`."""

    def __init__(self, joins: JoinLanes, time_zone: str, settings: Settings) -> None:
        self._joins = FileJoins(joins.queries.standing(), Kept.EVERYTHING)
        self._lanes = [_LaneTally(lane, self._joins.places, time_zone, settings) for lane in joins.lanes]

    def take(self, stream: str, piece: FileRows) -> None:
        """Rows of a stream, the next ones of their file."""
        if self._joins.reads(stream):
            self._joins.take(stream, piece)
            for lane in self._lanes:
                lane.take_rows(stream, piece.batch)

    def tallies(self) -> list[StreamTally]:
        """What was found in each lane."""
        for block in self._joins.pairs():
            for lane in self._lanes:
                lane.take_pairs(block)
        return [StreamTally(lane.lane.name, lane.tally) for lane in self._lanes]


class _LaneTally:
    """The tally of one lane, over the event time of both streams: a pair stands where its later row does."""

    def __init__(self, lane: JoinLane, places: FilePlaces, time_zone: str, settings: Settings) -> None:
        self.lane, self.places = lane, places
        first, second = (axis_of(stream, None, time_zone) for stream in lane.streams)
        self.axes = first, second
        columns = dict.fromkeys(str(axis.column) for axis in self.axes)
        common = Axis(first.kind, ", ".join(columns), first.zone)
        self.tally = Tally(common, len(lane.tested), len(lane), settings)
        self._is_turned = np.array([lane.is_turned(number) for number in range(len(lane))], np.bool_)
        self._by_dense = np.argsort(lane.dense)
        self._pairs = 0

    def take_rows(self, stream: str, batch: pa.RecordBatch) -> None:
        """Count rows of one of the streams."""
        names = [each.name for each in self.lane.streams]
        if stream in names:
            self.tally.add_rows(*self.axes[names.index(stream)].positions(batch, 0))

    def take_pairs(self, block: PairBlock) -> None:
        """Count the pairs of a block that satisfy joins of the lane."""
        own = np.flatnonzero(np.isin(block.query, self.lane.dense))
        if not len(own):
            return
        number = self._by_dense[np.searchsorted(self.lane.dense, block.query[own], sorter=self._by_dense)]
        turned = self._is_turned[number]
        sources = [block.places(source)[block.pair[own]] for source in (0, 1)]
        places = np.where(turned, sources[1], sources[0]), np.where(turned, sources[0], sources[1])
        firsts, pair = _distinct(*places)
        found = _LanePairs(
            self,
            block,
            block.pair[own[firsts]],
            turned[firsts],
            (places[0][firsts], places[1][firsts]),
            self._pairs,
        )
        by_pair = np.argsort(pair, kind="stable")
        self.tally.add_pairs(found, (pair[by_pair], number[by_pair]), found.positions(np.arange(len(firsts))))
        self.tally.keep(found)
        self._pairs += len(firsts)


def _distinct(first: Integers, second: Integers) -> tuple[Integers, Integers]:
    """Where each distinct pair of numbers stands first, in the order of these places, and which of them each is."""
    order = np.lexsort((second, first))
    is_new = np.append(
        True, (first[order][1:] != first[order][:-1]) | (second[order][1:] != second[order][:-1])
    )
    firsts = order[is_new]  # the first of its kind, for the sort is stable
    rank = np.empty(len(firsts), np.int64)
    rank[np.argsort(firsts)] = np.arange(len(firsts))
    which = np.empty(len(order), np.int64)
    which[order] = rank[np.cumsum(is_new) - 1]
    return np.sort(firsts), which


@dataclass(frozen=True, eq=False)
class _LanePairs:
    """Pairs of rows of a lane's streams, in the order of these; `ordinal` pairs of the lane came before.

    pairs       which pair of the block each is
    turned      whether it has its rows the other way round there
    numbers     the places of its rows
    """

    tally: _LaneTally
    block: PairBlock
    pairs: Integers
    turned: Flags
    numbers: tuple[Integers, Integers]
    ordinal: int

    def lots(self, start: int, size: int) -> Lots:
        """By which samples are chosen, of some of them."""
        first, second = (numbers[start : start + size] for numbers in self.numbers)
        return lots_of_pairs(first, second)

    def positions(self, which: Integers) -> Positions:
        """Where some of them stand on the axis."""
        first, second = (
            axis.positions(self._rows(side, (str(axis.column),), which), 0)[0]
            for side, axis in enumerate(self.tally.axes)
        )
        return np.maximum(first, second)

    def fetch(self, axis: Axis, places: Integers) -> dict[int, FoundPair]:
        """Some of them as a report shows them."""
        if not len(places):
            return {}
        positions = self.positions(places)
        first, second = (self._shown(side, places) for side in (0, 1))
        return {
            place: FoundPair(axis.text(int(position)), (one, other))
            for place, position, one, other in zip(places.tolist(), positions, first, second, strict=True)
        }

    def _shown(self, side: int, which: Integers) -> list[Row]:
        axis, stream, numbers = (
            self.tally.axes[side],
            self.tally.lane.streams[side],
            self.numbers[side][which],
        )
        rows = self._rows(side, tuple(stream.schema.names), which)
        places = self.tally.places
        files = places.files(numbers).to_pylist()
        return shown_rows(rows, files, places.rows(numbers), axis, *axis.positions(rows, 0))

    def _rows(self, side: int, names: tuple[str, ...], which: Integers) -> pa.RecordBatch:
        """Columns of a stream's rows in some of the pairs, at least one."""
        stream, turned = self.tally.lane.streams[side], self.turned[which]
        order = np.argsort(turned, kind="stable")
        pieces = [
            self.block.columns(source, stream.name, names, self.pairs[own])
            for source, own in ((side, which[~turned]), (1 - side, which[turned]))
            if len(own)
        ]
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        columns = [
            _readable(pa.concat_arrays(several).take(pa.array(back)), stream, name)
            for name, *several in zip(names, *pieces, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=list(names))


def _readable(column: pa.Array, stream: Stream, name: str) -> pa.Array:
    kind = stream.types.get(name)
    return column if kind is None else readable(column, kind)
