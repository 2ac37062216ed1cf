"""The plain boxes among a set's queries: an AND of one range for each of some columns, NULL excluded.

They are read out of compiled segments, not out of texts, so a hundred thousand take a few hundredths of a second.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.functions.evaluate.arrays import arrow_type
from eddyline.index.boxes import Boxes
from eddyline.index.cutting import cut
from eddyline.index.keyed.choose import is_key, is_range
from eddyline.index.keyed.ordinals import GREATEST, LEAST, bounds, has_ordinals
from eddyline.kernels.covers import first_of_equals
from eddyline.model.arrays import Flags
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column
from eddyline.model.predicate import Predicate, conjunction
from eddyline.relations.corner_batches import filled_batch, ordinals_as_column
from eddyline.standing.version import Version

Longs = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Ranges:
    """Boxes as lists of ranges, as `kernels/covers.py` has them: those of box b from firsts[b] to firsts[b + 1].

    Ends are ordinals of the column's type. Of a text they are codes, which only tell apart: low and high are the same.
    """

    firsts: Longs
    columns: Numbers
    lows: Longs
    highs: Longs

    def __len__(self) -> int:
        return len(self.firsts) - 1

    def chosen(self, boxes: Longs) -> Ranges:
        """Some of the boxes, in the order in which they are given."""
        lengths = np.diff(self.firsts)[boxes]
        firsts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.firsts[boxes] - firsts[:-1], lengths) + np.arange(firsts[-1])
        return Ranges(firsts, self.columns[places], self.lows[places], self.highs[places])

    def leaders(self) -> Longs:
        """For each box the first one that has the same ranges."""
        leaders = np.empty(len(self), np.int64)
        table = np.full(1 << (2 * len(self) + 1).bit_length(), -1, np.int64)
        first_of_equals(self.firsts, self.columns, self.lows, self.highs, table, leaders)
        return leaders


@dataclass(frozen=True, slots=True)
class PlainBoxes:
    """The boxes of a stream's queries: that of the query with dense id `dense[b]` is box b; dense ids ascend.

    `names` are the columns by number, `texts` the values that codes stand for, by column.
    """

    stream: Stream
    dense: Longs
    ranges: Ranges
    names: tuple[str, ...]
    texts: Mapping[int, list[Any]]

    def chosen(self, boxes: Longs) -> PlainBoxes:
        """Some of the boxes."""
        return PlainBoxes(self.stream, self.dense[boxes], self.ranges.chosen(boxes), self.names, self.texts)

    def alone(self, predicate: Predicate) -> PlainBoxes | None:
        """The box of one more predicate, with the same codes for texts; None if it is no plain box."""
        conditions = conjunction(predicate)
        if conditions is None:
            return None
        numbers = {name: number for number, name in enumerate(self.names)}
        texts = dict(self.texts)
        found: list[tuple[int, int, int]] = []
        for subject, regions in [(condition.subject, condition.regions) for condition in conditions]:
            if not isinstance(subject, Column):
                return None
            column = numbers[subject.name]
            if has_ordinals(subject.type) and is_range(regions):
                (low,), (high,) = bounds(cut(subject, ()), [regions])
                found.append((column, int(low), int(high)))
            elif not has_ordinals(subject.type) and is_key(regions) and len(regions.cuts) == 2:
                value, known = regions.cuts[0][0], texts.get(column, [])
                code = known.index(value) if value in known else len(known)
                texts[column] = known if code < len(known) else [*known, value]
                found.append((column, code, code))
            else:
                return None
        columns, lows, highs = np.array(sorted(found), np.int64).reshape(-1, 3).T
        ranges = Ranges(np.array([0, len(found)]), columns.astype(np.int32), lows.copy(), highs.copy())
        return PlainBoxes(self.stream, np.array([-1]), ranges, self.names, texts)

    def corners(self, start: int, end: int) -> pa.RecordBatch:
        """A row for each of some boxes that lies in it, at those ends of its ranges that few others reach.

        That is the end which a box has at all: `price > 3` starts at 3 and goes on for ever, and whoever has no upper bound
        either reaches that far. Columns that a box does not name are NULL, so that nobody matches who asks for more columns.
        """
        first, last = self.ranges.firsts[[start, end]].tolist()
        columns = self.ranges.columns[first:last]
        box = np.repeat(np.arange(end - start), np.diff(self.ranges.firsts[start : end + 1]))
        arrays = {}
        for column in np.unique(columns).tolist():
            at = np.flatnonzero(columns == column)
            ends = self._few_reach(self.ranges.lows[first:last][at], self.ranges.highs[first:last][at])
            arrays[self.names[column]] = self._column(column, box[at], *ends, end - start)
        return filled_batch(arrays, self.stream, end - start)

    def _few_reach(self, lows: Longs, highs: Longs) -> tuple[Longs, Flags]:
        """One end of each range, and whether it is the upper one."""
        is_upper = (lows == LEAST) & (highs != GREATEST)
        return np.where(is_upper, highs, lows), is_upper

    def _column(self, column: int, boxes: Longs, ends: Longs, is_upper: Flags, size: int) -> pa.Array:
        values, upper, missing = np.zeros(size, np.int64), np.zeros(size, np.bool_), np.ones(size, np.bool_)
        values[boxes], upper[boxes], missing[boxes] = ends, is_upper, False
        if column in self.texts:
            known = pa.array(self.texts[column], arrow_type(self.stream.types[self.names[column]]))
            return known.take(pa.array(values, mask=missing))
        return ordinals_as_column(self.stream.types[self.names[column]], values, upper, missing)


_KNOWN: Final[WeakKeyDictionary[Version, dict[str, PlainBoxes]]] = WeakKeyDictionary()
_REMEMBERING: Final = threading.Lock()


def plain_boxes(version: Version, stream: Stream) -> PlainBoxes:
    """The plain boxes among the queries of a stream that stand in a compiled version; remembered as long as the version is."""
    with _REMEMBERING:
        known = _KNOWN.setdefault(version, {})
        if stream.name not in known:
            known[stream.name] = _gathered(version, stream)
        return known[stream.name]


def _gathered(version: Version, stream: Stream) -> PlainBoxes:
    gathering = _Gathering(stream)
    hidden = version.table.hidden
    for placed in version.segments:
        if placed.segment.stream == stream.name:
            for boxes in placed.segment.boxes:
                dense = placed.numbering.numbers(boxes.slots).astype(np.int64)
                gathering.add(boxes, dense, None if hidden is None else ~hidden[dense])
    return gathering.result()


class _Gathering:
    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.numbers = {name: number for number, name in enumerate(stream.types)}
        self.codes: dict[int, dict[Any, int]] = {}
        self.dense: list[Longs] = []
        self.lengths: list[Longs] = []
        self.parts: list[list[Longs]] = []

    def add(self, boxes: Boxes, dense: Longs, wanted: Flags | None) -> None:
        """Take in those boxes that are wanted, and ask only about columns."""
        column_of = np.array(
            [self.numbers[c.subject.name] if isinstance(c.subject, Column) else -1 for c in boxes.cuttings],
            np.int64,
        )
        columns = column_of[boxes.subjects]
        chosen = (columns >= 0).all(axis=1)
        if wanted is not None:
            chosen &= wanted
        columns, subjects = columns[chosen], boxes.subjects[chosen]
        lows, highs = boxes.lows[chosen], boxes.highs[chosen]
        for number, cutting in enumerate(boxes.cuttings):
            if isinstance(cutting.constants, tuple) and column_of[number] >= 0:
                at = subjects == number
                codes = self._coded(int(column_of[number]), cutting.constants)
                lows[at] = highs[at] = codes[lows[at]]
        order = np.argsort(columns, axis=1, kind="stable")
        self.parts.append([np.take_along_axis(part, order, 1).reshape(-1) for part in (columns, lows, highs)])
        self.dense.append(dense[chosen])
        self.lengths.append(np.full(len(columns), columns.shape[1], np.int64))

    def _coded(self, column: int, constants: Iterable[Any]) -> Longs:
        codes = self.codes.setdefault(column, {})
        return np.array([codes.setdefault(value, len(codes)) for value in constants], np.int64)

    def result(self) -> PlainBoxes:
        """All boxes by dense id."""
        none = np.empty(0, np.int64)
        dense = np.concatenate([*self.dense, none])
        lengths = np.concatenate([*self.lengths, none])
        columns, lows, highs = (
            np.concatenate([*parts, none])
            for parts in (zip(*self.parts, strict=True) if self.parts else ((),) * 3)
        )
        ranges = Ranges(np.concatenate([[0], np.cumsum(lengths)]), columns.astype(np.int32), lows, highs)
        texts = {column: list(codes) for column, codes in self.codes.items()}
        found = PlainBoxes(self.stream, dense, ranges, tuple(self.numbers), texts)
        return found.chosen(np.argsort(dense, kind="stable"))
