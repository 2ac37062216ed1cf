"""Minimal cover sets against brute force."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from eddyline.model.asc import Words
from eddyline.order.cover_set import explain_cover_set, minimal_cover_set, minimal_cover_sets
from tests.unit.order.samples import index_of, sample_from


def draw_qubs(seed: int, subjects: int, queries: int) -> Words:
    source = random.Random(seed)
    flags = np.zeros((subjects, 128), np.uint8)
    for query in range(queries):
        for subject in source.sample(range(subjects), source.randint(0, min(3, subjects))):
            flags[subject, query] = 1
    return np.packbits(flags, axis=1, bitorder="little").view(np.uint64)


def covers(qubs: Words, subjects: tuple[int, ...]) -> bool:
    return bool((np.bitwise_or.reduce(qubs[list(subjects)]) == np.bitwise_or.reduce(qubs)).all())


@pytest.mark.parametrize("seed", range(25))
def test_all_of_least_size(seed: int) -> None:
    qubs = draw_qubs(seed, subjects=2 + seed % 7, queries=1 + 5 * seed)
    for size in range(len(qubs) + 1):
        found = tuple(some for some in combinations(range(len(qubs)), size) if covers(qubs, some))
        if found:
            break
    assert minimal_cover_sets(qubs) == found
    assert minimal_cover_set(qubs) == found[0]


@pytest.mark.parametrize("seed", range(10))
def test_greedy_beyond(seed: int) -> None:
    """A cover set of which nothing can be left out, and not much larger than the least."""
    qubs = draw_qubs(seed, subjects=24, queries=30)
    found = minimal_cover_set(qubs)
    assert covers(qubs, found)
    assert not any(covers(qubs, tuple(other for other in found if other != each)) for each in found)


def test_twenty_subjects() -> None:
    qubs = draw_qubs(3, subjects=20, queries=60)
    assert covers(qubs, minimal_cover_set(qubs))


def test_none() -> None:
    assert minimal_cover_set(np.zeros((0, 1), np.uint64)) == ()
    assert minimal_cover_set(np.zeros((3, 1), np.uint64)) == ()


def test_explained() -> None:
    rows = [(1.0, 2.0, 3.0)]
    ascs = sample_from(["A1 = 1 AND A2 = 2", "A1 > 3"], rows).ascs
    assert explain_cover_set(ascs) == "minimal cover set: A1"
    ascs = sample_from(["A1 = 1 AND A2 = 2", ""], rows).ascs
    assert explain_cover_set(ascs) == (
        "minimal cover set: A1, or 1 other of 1; a query without conditions keeps every tuple"
    )
    assert explain_cover_set(index_of([], []).ascs) == "minimal cover set: none, no query has a condition"
