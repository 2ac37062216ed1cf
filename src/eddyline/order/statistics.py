"""What the papers measure of a sequence, on a sample: selectivity, dropping ratio, and the ASCs that tuples visit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from eddyline.model.asc import Words
from eddyline.model.sample import Sample, query_usage
from eddyline.model.visit_order import Counters, VisitOrder
from eddyline.order.sample_table import Ending, Rows, SampleTable, Ways


def selectivity(sample: Sample, subjects: Sequence[int]) -> float:
    """ASC-1's s: the share of (tuple, query) pairs still possible after some subjects."""
    return _share(ones(sample.after(subjects)), sample.queries * sample.tuples)


def conditional_selectivity(sample: Sample, before: Sequence[int], subject: int) -> float:
    """ASC-2's s(rho -> A | rho): the same after one subject more, among the queries that use none of those before."""
    left = uncovered(sample, before)
    passed = ones(sample.after([*before, subject]) & left)
    return _share(passed, ones(left) * sample.tuples)


def dropping_ratio(sample: Sample, subjects: Sequence[int]) -> float:
    """ASC-2's d: the share of tuples for which no query is left after some subjects."""
    return _share(int(dropped(sample.after(subjects)).sum()), sample.tuples)


def region_selectivity(sample: Sample, subject: int) -> tuple[Rows, npt.NDArray[np.float64]]:
    """How many tuples are in each region of a subject, and which share of the queries is possible there."""
    asc = sample.ascs[subject]
    tuples = np.bincount(sample.regions[subject], minlength=asc.regions)
    possible = np.bitwise_count(asc.blocks).sum(axis=(0, 2), dtype=np.int64)
    return tuples, possible / max(1, asc.queries)


def uncovered(sample: Sample, subjects: Sequence[int]) -> Words:
    """The queries that use none of some subjects."""
    used = query_usage(sample.ascs[subject] for subject in subjects)
    return np.asarray(sample.every & ~np.bitwise_or.reduce(used)) if len(used) else sample.every


def ones(words: Words) -> int:
    """Number of ones in all words."""
    return int(np.bitwise_count(words).sum(dtype=np.int64))


def dropped(grb: Words) -> npt.NDArray[np.bool_]:
    """Which tuples have no query left."""
    return np.asarray(~grb.any(axis=1))


def count_visits(
    sample: Sample, sequence: VisitOrder, *, immediate: bool = True, ending: Ending = "dropped"
) -> Counters:
    """What a sequence does to the sample, micro-arrows followed; survivors are those left after so many visits.

    Without subjects nothing is visited and nothing is dropped.
    """
    assert len(sequence) == sample.subjects or not sequence.arrows, "arrows are for whole sequences"
    ways = SampleTable(sample).ways(sequence, ending=ending, immediate=immediate)
    return counters_of(ways, len(sequence))


def counters_of(ways: Ways, subjects: int) -> Counters:
    """What came of all tuples together, after a sequence of so many subjects."""
    ended = np.bincount(ways.ended, minlength=subjects + 1)[1:]
    survivors = len(ways.ended) - np.cumsum(ended)
    return Counters(len(ways.ended), int(ways.made.sum()), ways.dropped, tuple(survivors.tolist()))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
