"""Plain boxes among the queries of a sliced index: conjunctions of conditions that are one range each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from eddyline.index.boxes import Boxes, Numbers, ends_of_ids
from eddyline.index.keyed.ordinals import Ordinals
from eddyline.index.sliced.sliced import WIDTHS, SlicedIndex

Int64 = npt.NDArray[np.int64]


def sliced_boxes(index: SlicedIndex) -> Iterator[Boxes]:
    """Those by masks, those that are compared directly, and queries without any condition."""
    ends = _Ends(index)
    subjects, lows, highs = _masks(index)
    for group in index.program.groups:
        operands = group.operands.reshape(-1, group.arity)
        numbers = index.numbers[group.first : group.first + len(operands)]
        yield ends.boxes(numbers, subjects[operands], lows[operands], highs[operands])
    direct = index.program.direct
    small = np.array([row for row, c in enumerate(index.cuttings) if c.id_type == WIDTHS[0]], np.int64)
    for arity, first, size, offset in zip(
        direct.arities.tolist(),
        direct.firsts.tolist(),
        direct.sizes.tolist(),
        direct.offsets.tolist(),
        strict=True,
    ):
        part = slice(offset, offset + arity * size)
        low = direct.lows[part].astype(np.int64).reshape(-1, arity)
        yield ends.boxes(
            index.numbers[first : first + size],
            small[direct.rows[part]].reshape(-1, arity),
            low,
            low + direct.spans[part].reshape(-1, arity),
        )
    start, end = index.program.always
    nothing = np.empty((end - start, 0), np.int64)
    yield Boxes(index.numbers[start:end], index.cuttings, nothing.astype(np.int32), nothing, nothing)


class _Ends:
    """Ids of all cuttings, one after another, and what values they stand for; last an id that stands for none."""

    def __init__(self, index: SlicedIndex) -> None:
        self._cuttings = index.cuttings
        *self._firsts, self._none = accumulate([c.size for c in index.cuttings], initial=0)
        ends = [ends_of_ids(cutting) for cutting in index.cuttings]
        no = np.zeros(1, np.bool_)
        self._lows = np.concatenate([*(lows for lows, *_ in ends), no.astype(np.int64)])
        self._highs = np.concatenate([*(highs for _, highs, *_ in ends), no.astype(np.int64)])
        self._may_start = np.concatenate([*(start for *_, start, _ in ends), no])
        self._may_end = np.concatenate([*(end for *_, end in ends), no])
        self._is_text = np.array([*(isinstance(c.constants, tuple) for c in index.cuttings), False])

    def boxes(self, numbers: Numbers, subjects: Int64, low_ids: Int64, high_ids: Int64) -> Boxes:
        """The queries of which all conditions are ranges of values; subject -1 is no such condition."""
        firsts = np.array([*self._firsts, self._none], np.int64)[subjects]
        low_ids, high_ids = firsts + low_ids, firsts + high_ids
        plain = self._may_start[low_ids] & self._may_end[high_ids]
        plain &= ~self._is_text[subjects] | (
            low_ids == high_ids
        )  # of what has no ordinals single values only
        chosen = plain.all(axis=1)
        return Boxes(
            numbers[chosen],
            self._cuttings,
            subjects[chosen].astype(np.int32),
            self._lows[low_ids[chosen]],
            self._highs[high_ids[chosen]],
        )


def _masks(index: SlicedIndex) -> tuple[Int64, Ordinals, Ordinals]:
    """The subject and the range of ids of each mask that is one range; the subject of others is -1."""
    subjects = np.full(index.program.slots, -1, np.int64)
    lows, highs = np.zeros_like(subjects), np.zeros_like(subjects)
    for shelf in index.shelves:
        of_row = np.array(shelf.subjects, np.int64)
        ranges, edges = shelf.ranges, shelf.edges
        first = slice(0, ranges.firsts)
        subjects[ranges.slots[first]] = of_row[ranges.rows[first]]
        lows[ranges.slots[first]] = ranges.lows[first]
        highs[ranges.slots[first]] = ranges.lows[first].astype(np.int64) + ranges.spans[first]
        several = ranges.slots[ranges.firsts :]
        subjects[several], lows[several], highs[several] = -1, 0, 0
        subjects[edges.slots] = of_row[edges.rows]
        highs[edges.slots] = edges.tops
        subjects[edges.targets] = subjects[edges.uppers]
        lows[edges.targets] = highs[edges.lowers] + 1
        highs[edges.targets] = highs[edges.uppers]
    return subjects, lows, highs
