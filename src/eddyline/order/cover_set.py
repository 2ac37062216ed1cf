"""The fewest subjects of which every query uses one: no tuple is dropped before it has visited such a set.

A query without any condition is used by no subject; it is left out here, and with it in the set nothing is ever dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from eddyline.model.asc import ASC, Words, covered, subject_text
from eddyline.model.sample import query_usage

EXACT_SUBJECTS: Final = 20
Sets = npt.NDArray[np.int64]  # sets of subjects, as bits


def minimal_cover_set(qubs: Words) -> tuple[int, ...]:
    """A cover set of least size, the first by numbers; of more than 20 subjects a small one, found greedily.

    qubs: (subjects, words).

    >>> minimal_cover_set(np.array([[0b0101], [0b1010], [0b1111]], np.uint64))
    (2,)
    """
    if len(qubs) > EXACT_SUBJECTS:
        return _greedy(qubs)
    return minimal_cover_sets(qubs)[0]


def minimal_cover_sets(qubs: Words) -> tuple[tuple[int, ...], ...]:
    """All cover sets of least size, for at most 20 subjects."""
    assert len(qubs) <= EXACT_SUBJECTS, "an exact search has up to 20 subjects"
    wanted = _distinct(qubs)
    everything = np.arange(1 << len(qubs), dtype=np.int64)
    sizes = np.bitwise_count(everything)
    for size in range(len(qubs) + 1):
        sets = everything[sizes == size]
        for users in wanted:
            sets = sets[(sets & users) != 0]
        if len(sets):
            return tuple(sorted(_members(int(each)) for each in sets))
    raise AssertionError("all subjects together are a cover set")


def explain_cover_set(ascs: Sequence[ASC]) -> str:
    """The cover set in words."""
    qubs = query_usage(ascs)
    found = minimal_cover_set(qubs)
    if not found:
        return "minimal cover set: none, no query has a condition"
    names = ", ".join(subject_text(ascs[subject].subject) for subject in found)
    if len(ascs) > EXACT_SUBJECTS:
        text = f"cover set, found greedily: {names}"
    else:
        others = len(minimal_cover_sets(qubs)) - 1
        text = f"minimal cover set: {names}" + _alternatives(others, len(found))
    return text if covered(ascs) else f"{text}; a query without conditions keeps every tuple"


def _alternatives(others: int, size: int) -> str:
    return f", or {others} other{'s' * (others > 1)} of {size}" if others else ""


def _distinct(qubs: Words) -> list[int]:
    """The sets of subjects that queries use, without those that include another one."""
    flags = np.unpackbits(np.ascontiguousarray(qubs).view(np.uint8), axis=1, bitorder="little").astype(
        np.int64
    )
    users = np.unique((flags << np.arange(len(qubs))[:, None]).sum(axis=0))
    users = users[users != 0]
    kept: list[int] = []
    for each in users[np.argsort(np.bitwise_count(users), kind="stable")].tolist():
        if not any(each & other == other for other in kept):
            kept.append(each)
    return kept


def _members(subjects: int) -> tuple[int, ...]:
    return tuple(i for i in range(subjects.bit_length()) if subjects >> i & 1)


def _greedy(qubs: Words) -> tuple[int, ...]:
    """Each time the subject that most queries left over use; then without those that others make needless."""
    left = np.bitwise_or.reduce(qubs)
    chosen: list[int] = []
    while left.any():
        chosen.append(int(np.bitwise_count(qubs & left).sum(axis=1, dtype=np.int64).argmax()))
        left = left & ~qubs[chosen[-1]]
    total = np.bitwise_or.reduce(qubs)
    for subject in list(chosen):
        others = [other for other in chosen if other != subject]
        if others and np.array_equal(np.bitwise_or.reduce(qubs[others]), total):
            chosen = others
    return tuple(sorted(chosen))
