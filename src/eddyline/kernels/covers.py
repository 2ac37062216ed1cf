"""Plain boxes compared: which are equal, which lie in which others, and which of those are the tightest.

A *box* is a list of ranges, `columns[i]` between `lows[i]` and `highs[i]`, for i from `firsts[box]` to `firsts[box + 1]`,
by ascending column. One box lies in another if it has a range for every column of the other, inside of the other's range.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.kernels.compiling import kernel, part

TIGHTEST: Final = 3  # covers that are kept of each box


@kernel
def first_of_equals(firsts, columns, lows, highs, table, leaders):
    """leaders[box] = the first box with the same ranges; `table` is scratch of a power of two places, all -1."""
    last = len(table) - 1
    for box in range(len(leaders)):
        key = np.uint64(0)
        for i in range(firsts[box], firsts[box + 1]):
            for piece in (np.uint64(columns[i]), np.uint64(lows[i]), np.uint64(highs[i])):
                key = (key ^ piece) * np.uint64(0x9E3779B97F4A7C15)
                key ^= key >> np.uint64(32)
        place = np.int64(key & np.uint64(last))
        while table[place] >= 0 and not _is_equal(firsts, columns, lows, highs, table[place], box):
            place = (place + 1) & last
        if table[place] < 0:
            table[place] = box
        leaders[box] = table[place]


@part
def _is_equal(firsts, columns, lows, highs, one, other):
    start, shift = firsts[one], firsts[other] - firsts[one]
    if firsts[one + 1] - start != firsts[other + 1] - firsts[other]:
        return False
    for i in range(start, firsts[one + 1]):
        j = i + shift
        if columns[i] != columns[j] or lows[i] != lows[j] or highs[i] != highs[j]:
            return False
    return True


@kernel
def judge(
    starts,
    numbers,
    owners,
    selves,
    own_firsts,
    own_columns,
    own_lows,
    own_highs,
    places,
    firsts,
    columns,
    lows,
    highs,
    covers,
    ends,
    undecided,
    found,
):
    """Which candidates cover the box owners[row]: those of a row are numbers[i], i from starts[row].

    places[number] is the box of a candidate; -1 for one that does not count, and past the last box for one that is no box.
    covers gets the places that do, those of a row up to ends[row]; undecided the (row, place) of candidates that are no
    boxes. found[row] says that one of them is the owner itself, whose place is selves[row]. Returns how many are undecided.
    """
    boxes = len(firsts) - 1
    covering = left = 0
    for row in range(len(starts) - 1):
        owner = owners[row]
        for i in range(starts[row], starts[row + 1]):
            other = places[numbers[i]]
            if other < 0:
                continue
            if other == selves[row]:
                found[row] = True
            elif other >= boxes:
                undecided[left, 0], undecided[left, 1] = row, other
                left += 1
            elif _lies_in(
                own_columns,
                own_lows,
                own_highs,
                own_firsts[owner],
                own_firsts[owner + 1],
                columns,
                lows,
                highs,
                firsts[other],
                firsts[other + 1],
            ):
                covers[covering] = other
                covering += 1
        ends[row] = covering
    return left


@part
def _lies_in(own_columns, own_lows, own_highs, at, own_end, columns, lows, highs, first, end):
    for j in range(first, end):
        while at < own_end and own_columns[at] < columns[j]:
            at += 1
        if at == own_end or own_columns[at] != columns[j]:
            return False
        if own_lows[at] < lows[j] or own_highs[at] > highs[j]:
            return False
    return True


@kernel
def tightest(starts, others, counts, kept):
    """kept[row, 0..2] = the others, from starts[row] on, with the greatest counts, of equal ones the first; -1 if none."""
    for row in range(len(starts) - 1):
        found = 0
        for i in range(starts[row], starts[row + 1]):
            other = others[i]
            place = found
            while place and _is_before(counts, other, kept[row, place - 1]):
                place -= 1
            if place == TIGHTEST:
                continue
            found = min(found + 1, TIGHTEST)
            for j in range(found - 1, place, -1):
                kept[row, j] = kept[row, j - 1]
            kept[row, place] = other


@part
def _is_before(counts, one, other):
    return counts[one] > counts[other] or (counts[one] == counts[other] and one < other)
