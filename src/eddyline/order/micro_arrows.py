"""Micro-arrows (ASC-2): for the tuples that stand in one region of a subject, the subject that filters them best."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from eddyline.model.sample import query_usage
from eddyline.model.visit_order import Arrow
from eddyline.order.sample_table import Rows
from eddyline.order.walk import Walk

Gains = npt.NDArray[np.float64]
Arrows = dict[tuple[int, int], int]


def find_arrows(walk: Walk, subject: int) -> Arrows:
    """The arrows of a subject's regions, for tuples whose last visit was there.

    A region gets an arrow only where a candidate beats the macro-arrow: for the tuples that can follow it, fewer ones
    are left in their GRBs, or, once all of them have visited a cover set, more of them are dropped.
    """
    at = np.flatnonzero(walk.here == subject)
    regions = walk.sample.regions[subject, walk.rows[at]]
    count = walk.sample.ascs[subject].regions
    covered = _everywhere(regions, _covered(walk, at), count)
    best, target = np.zeros(count), np.full(count, -1)
    macro = _left_after(walk, at, walk.macro_next()[at])
    for other in range(walk.sample.subjects):
        open_to = ~walk.geb[at, other] & _candidate(walk, subject, other)[regions]
        if other == subject or not open_to.any():
            continue
        left = _left_after(walk, at[open_to], np.full(int(open_to.sum()), other))
        gain = _gains(macro[open_to], left, regions[open_to], covered)
        better = gain > best
        best[better], target[better] = gain[better], other
    return {(subject, int(region)): int(target[region]) for region in np.flatnonzero(target >= 0)}


def arrows_of(found: Arrows) -> tuple[Arrow, ...]:
    """Arrows as a sequence holds them."""
    return tuple(Arrow(subject, region, to) for (subject, region), to in sorted(found.items()))


def _left_after(walk: Walk, at: Rows, subjects: Rows) -> Rows:
    """Ones in the GRB of tuples after one visit more, each to its own subject."""
    left = np.zeros(len(at), np.int64)
    for subject in np.unique(subjects).tolist():
        here = np.flatnonzero(subjects == subject)
        grb = walk.grb[at[here]] & walk.sample.grb_words(subject, walk.rows[at[here]])
        left[here] = np.bitwise_count(grb).sum(axis=1, dtype=np.int64)
    return left


def _gains(macro: Rows, left: Rows, regions: npt.NDArray[np.int32], covered: npt.NDArray[np.bool_]) -> Gains:
    """Per region what an arrow is better by: queries that fail, or tuples dropped where a cover set is complete."""
    queries = np.bincount(regions, weights=macro - left, minlength=len(covered))
    tuples = np.bincount(regions, weights=(left == 0).astype(np.int64) - (macro == 0), minlength=len(covered))
    return np.where(covered, tuples, queries)


def _covered(walk: Walk, at: Rows) -> npt.NDArray[np.bool_]:
    """Which tuples have visited a cover set, as far as queries have conditions at all."""
    qubs = query_usage(walk.sample.ascs)
    wanted = np.bitwise_or.reduce(qubs)
    ways, way = np.unique(walk.geb[at], axis=0, return_inverse=True)
    complete = [np.array_equal(np.bitwise_or.reduce(qubs[each]), wanted) for each in ways]
    return np.array(complete, np.bool_)[way.reshape(-1)]


def _everywhere(
    regions: npt.NDArray[np.int32], flags: npt.NDArray[np.bool_], count: int
) -> npt.NDArray[np.bool_]:
    """Per region whether all of its tuples have a flag."""
    return np.asarray(np.bincount(regions, weights=~flags, minlength=count) == 0)


def _candidate(walk: Walk, subject: int, other: int) -> npt.NDArray[np.bool_]:
    """Per region of a subject whether another one is in its cab: some query possible there can fail at the other.

    ASCs may be built without cab; then every subject is measured, and those outside would filter nothing.
    """
    asc = walk.sample.ascs[subject]
    if not asc.cab.any():
        return np.ones(asc.regions, np.bool_)
    return np.asarray(asc.cab[:, other // 64] >> np.uint64(other % 64) & np.uint64(1) == 1)
