"""Some tuples of a stream, reduced to the regions of their values: all that an order of subjects is found from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eddyline.model.asc import ASC, BLOCK_WORDS, Words

RegionIds = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The region of every subject for some tuples.

                t1  t2  t3
        A1       0   4   3        regions[i, j]: the region of the constants of ascs[i] in which tuple j has its value
        A2       0   4   2

    Invariant: ascs[i] is subject i, and regions is (subjects, tuples). GRBs have as many words as the queries need,
    without the padding of the executors' blocks.
    """

    ascs: tuple[ASC, ...]
    regions: RegionIds

    def __post_init__(self) -> None:
        assert self.regions.ndim == 2 and len(self.regions) == len(self.ascs), "one row of regions a subject"

    @property
    def tuples(self) -> int:
        """How many tuples were taken."""
        return int(self.regions.shape[1])

    @property
    def subjects(self) -> int:
        return len(self.ascs)

    @property
    def queries(self) -> int:
        """Number of queries: the papers' k."""
        return self.ascs[0].queries if self.ascs else 0

    @property
    def words(self) -> int:
        """Words of one GRB."""
        return words_of(self.queries)

    @property
    def every(self) -> Words:
        """The GRB before the first visit: a one for every query."""
        return every_query(self.queries)

    def grb_words(self, subject: int, rows: npt.NDArray[np.int64] | None = None) -> Words:
        """The qrb of a subject that each tuple meets, or some of them do, (tuples, words)."""
        regions = self.regions[subject] if rows is None else self.regions[subject, rows]
        needed = -(-self.words // BLOCK_WORDS)
        met = self.ascs[subject].blocks[:needed, regions]
        return met.swapaxes(0, 1).reshape(len(regions), needed * BLOCK_WORDS)[:, : self.words]

    def after(self, subjects: Iterable[int]) -> Words:
        """The GRB of each tuple when it has visited some subjects, (tuples, words)."""
        grb = np.tile(self.every, (self.tuples, 1))
        for subject in subjects:
            grb &= self.grb_words(subject)
        return grb

    def part(self, first: int, last: int) -> Sample:
        """The tuples from first to last, which is not included."""
        return Sample(self.ascs, self.regions[:, first:last])


def words_of(queries: int) -> int:
    """How many words a bitmap over queries needs, at least one."""
    return max(1, -(-queries // 64))


def every_query(queries: int) -> Words:
    """A bitmap with a one for every query.

    >>> every_query(3)
    array([7], dtype=uint64)
    """
    flags = np.zeros(words_of(queries) * 64, np.uint8)
    flags[:queries] = 1
    return np.packbits(flags, bitorder="little").view(np.uint64)


def query_usage(ascs: Iterable[ASC]) -> Words:
    """The qubs of subjects, (subjects, words)."""
    rows = [asc.qub[: words_of(asc.queries)] for asc in ascs]
    return np.array(rows, np.uint64) if rows else np.zeros((0, 1), np.uint64)
