"""Combinations of several key values: rows whose one may be a key are picked, and the number of the key is found.

few combinations     a bit for each of them, and the number is how many are set before    (screen_cells, rank)
too many             two bits in a filter of hashes, then a map from packed places        (screen_combinations, resolve)
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.compiling import kernel, part
from eddyline.kernels.keyed import number_of
from eddyline.kernels.vectors import BLOCK, WORDS, lowest, population, range_mask

BATCH = 512  # rows whose hashes are worked out before the filter is looked at

_U64 = np.uint64


@part
def _add_products(places, factor, sums):
    """Add places * factor to the sums; a loop of its own, so that it is done in vectors."""
    for i in range(len(places)):
        sums[i] = np.uint32(sums[i] + np.uint32(places[i] * factor))


@part
def _products(places, factor, sums):
    for i in range(len(places)):
        sums[i] = np.uint32(places[i] * factor)


@part
def _combine(places, subjects, factors, begin, sums):
    """sums[i] = what the places of row begin + i, each times its factor, add up to; subjects: whose places."""
    end = begin + len(sums)
    _products(places[subjects[0]][begin:end], factors[0], sums)
    for i in range(1, len(subjects)):
        _add_products(places[subjects[i]][begin:end], factors[i], sums)


@kernel
def set_bits(hashes, shift, filter_):
    """Set both bits of every hash in a filter of 2 ** (32 - shift) bits; they lie in the same word."""
    for hash_ in hashes:
        bit = _U64(hash_ >> shift)
        filter_[bit >> _U64(6)] |= _U64(1) << (bit & _U64(63)) | _U64(1) << _U64(hash_ & np.uint32(63))


@part
def _passes(hash_, shift, filter_):
    """1 if both bits of a hash are set, else 0."""
    bit = _U64(hash_ >> shift)
    word = filter_[bit >> _U64(6)]
    return (word >> (bit & _U64(63))) & (word >> _U64(hash_ & np.uint32(63))) & _U64(1)


@kernel
def screen_combinations(places, subjects, factors, shift, filter_, picked):
    """Write the rows whose combination of places has its bits set in the filter; returns how many.

    places: (all subjects, rows). subjects: which of them make the key. factors: an odd number for each.
    """
    all_hashes = np.empty(BATCH, np.uint32)
    rows = places.shape[1]
    found = _U64(0)
    for begin in range(0, rows, BATCH):
        hashes = all_hashes[: min(BATCH, rows - begin)]
        _combine(places, subjects, factors, begin, hashes)
        for i in range(len(hashes)):
            picked[found] = begin + i
            found += _passes(hashes[i], shift, filter_)
    return np.int64(found)


@part
def _combine_rows(places, subjects, factors, rows, sums):
    """As `_combine`, for some rows; a subject at a time, as a loop over few subjects for each row is slow."""
    sums[:] = 0
    for subject in range(len(subjects)):
        own, factor = places[subjects[subject]], factors[subject]
        for i in range(len(rows)):
            sums[i] += factor * own[_U64(rows[i])]


@kernel
def resolve(
    places, subjects, factors, filter_shift, filter_, strides, factor, shift, slots, candidates, picked, keys
):
    """Write the candidates whose combination is in the map, and its number beside; returns how many.

    Those that the filter leaves out are not looked up.
    """
    all_hashes, all_packed = np.empty(BATCH, np.uint32), np.empty(BATCH, np.uint64)
    found = 0
    for begin in range(0, len(candidates), BATCH):
        rows = candidates[begin : begin + BATCH]
        hashes, passing = all_hashes[: len(rows)], _U64(0)
        _combine_rows(places, subjects, factors, rows, hashes)
        kept = picked[found:]
        for i in range(len(rows)):
            kept[passing] = rows[i]
            passing += _passes(hashes[i], filter_shift, filter_)
        packed = all_packed[: np.int64(passing)]
        _combine_rows(places, subjects, strides, kept[: len(packed)], packed)
        for i in range(len(packed)):
            number = number_of(packed[i], factor, shift, slots)
            picked[found], keys[found] = kept[i], number
            found += number >= 0
    return found


@part
def _read_bits(cells, numbers, bits):
    """bits[i] = the bit of a number among the cells; loads are a loop of their own, so that the rest is done in vectors."""
    for i in range(len(numbers)):
        bits[i] = cells[_U64(numbers[i] >> np.uint32(4))]
    for i in range(len(numbers)):
        bits[i] = (bits[i] >> np.uint16(numbers[i] & np.uint32(15))) & np.uint16(1)


@kernel
def screen_cells(places, subjects, strides, cells, picked, packed):
    """Write the rows whose combination has its bit set among the cells, and its number beside; returns how many.

    cells: a bit for every combination of places, which are the digits of its number; in words of 16 bits.
    """
    all_sums, bits, masks = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint16), np.empty(WORDS, np.uint64)
    rows, found = places.shape[1], 0
    for begin in range(0, rows, BLOCK):
        sums = all_sums[: min(BLOCK, rows - begin)]
        _combine(places, subjects, strides, begin, sums)
        bits[len(sums) :] = 0
        _read_bits(cells, sums, bits)
        range_mask(bits, 0, np.uint16(1), np.uint16(0), masks, 0)
        for word in range(WORDS):
            left = masks[word]
            while left:
                i = 64 * word + lowest(left)
                picked[found], packed[found] = begin + i, sums[i]
                found += 1
                left &= left - _U64(1)
    return found


@kernel
def rank(cells, ranks, candidates, packed, picked, keys):
    """Write the candidates whose bit is set among the cells, and how many are set before it; returns how many.

    ranks: how many bits are set before each word of the cells.
    """
    found = _U64(0)
    for i in range(len(candidates)):
        cell = _U64(packed[i])
        word, lower = cell >> _U64(6), (_U64(1) << (cell & _U64(63))) - _U64(1)
        picked[found], keys[found] = candidates[i], ranks[word] + population(cells[word] & lower)
        found += (cells[word] >> (cell & _U64(63))) & _U64(1)
    return np.int64(found)
