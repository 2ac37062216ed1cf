"""Segments: tuples clustered by key, and their lineages."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from eddyline.join.keys import FACTOR
from eddyline.join.segment import Segment, Tuples, segment_of, tuples_of
from eddyline.join.spill import Folder


def tuples(keys: list[int], lists: list[list[int]], first: int = 0) -> Tuples:
    ends = np.cumsum([len(each) for each in lists]).astype(np.int32)
    flat = [role for each in lists for role in each]
    return Tuples(
        np.array(keys, np.int64),
        np.array(keys, np.int64) * 10,
        np.arange(first, first + len(keys)),
        ends - np.array([len(each) for each in lists], np.int32),
        ends,
        np.array(flat, np.int32),
    )


def content(segment: Segment) -> dict[int, tuple[int, int, list[int]]]:
    """Key, time and lineage by position."""
    of = segment.tuples
    return {
        int(of.positions[i]): (
            int(of.keys[i]),
            int(of.times[i]),
            of.lists[of.begins[i] : of.ends[i]].tolist(),
        )
        for i in range(len(of))
    }


def test_tuples_lie_in_the_buckets_of_their_keys() -> None:
    segment = segment_of(tuples([3, 1, 3, 2, 3], [[1], [], [2, 3], [4], [5]]))
    for place, key in enumerate(segment.tuples.keys.tolist()):
        bucket = (key * int(FACTOR)) % 2**64 >> segment.shift
        assert segment.start[bucket] <= place < segment.start[bucket + 1]
    assert content(segment) == {
        0: (3, 30, [1]),
        1: (1, 10, []),
        2: (3, 30, [2, 3]),
        3: (2, 20, [4]),
        4: (3, 30, [5]),
    }
    assert segment.times == (10, 30) and segment.positions == (0, 4) and segment.longest == 2
    assert segment.start[-1] == 5


def test_segments_are_merged() -> None:
    one, other = segment_of(tuples([1, 2], [[1], [2]])), segment_of(tuples([2, 1], [[3, 4], []], first=2))
    assert content(segment_of(tuples_of([one, other]))) == content(one) | content(other)


def test_long_lineages_that_are_equal_are_kept_once() -> None:
    wanted = list(range(100))
    many = [wanted, wanted[:50], wanted, wanted, wanted[:50], wanted]
    segment = segment_of(tuples([5, 4, 3, 2, 1, 0], many))
    assert len(segment.tuples.lists) == 150
    assert [each[2] for _, each in sorted(content(segment).items())] == many
    merged = segment_of(tuples_of([segment, segment_of(tuples([7, 8], [wanted, [1]], first=6))]))
    assert len(merged.tuples.lists) == 151
    assert content(merged)[6][2] == wanted and content(merged)[7][2] == [1]


def test_crowded_keys_are_also_found_by_role(tmp_path: Path) -> None:
    crowd = tuples([1] * 50 + [2] * 50, [[role] for role in range(100)])
    assert segment_of(tuples(list(range(100)), [[role] for role in range(100)])).index is None
    segment = segment_of(crowd)
    for each in (segment, segment.moved(np.arange(100)[::-1].copy()), segment.spilled(Folder(tmp_path))):
        assert each.index is not None
        of, index = each.tuples, each.index
        roles = [of.lists[of.begins[place]] for place in index.tuples.tolist()]
        assert roles == index.roles.tolist()
        assert sorted(roles) == list(range(100))


def test_roles_move_and_go() -> None:
    segment = segment_of(tuples([1, 2, 1], [[0, 1, 2], [1], [2]]))
    moved = segment.moved(np.array([7, -1, 5]))
    assert {place: each[2] for place, each in content(moved).items()} == {0: [7, 5], 1: [], 2: [5]}


def test_files_have_the_same_tuples_and_no_names(tmp_path: Path) -> None:
    segment = segment_of(tuples([1, 2, 1], [[0, 1, 2], [1], [2]]))
    spilled = segment.spilled(Folder(tmp_path / "joins"))
    assert content(spilled) == content(segment)
    assert spilled.is_spilled and spilled.nbytes == segment.nbytes
    assert all(array.flags.writeable and array.flags.c_contiguous for array in spilled.arrays)
    assert list((tmp_path / "joins").iterdir()) == []
