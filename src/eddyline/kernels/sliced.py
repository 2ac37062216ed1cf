"""Sliced evaluation: one mask of 512 bits for each distinct condition and block of tuples, then AND/OR over masks.

    region ids of one subject      condition 4 <= id <= 9      mask
    2 5 9 0 4 ...  (512)     --->  compare as a vector   --->  01101...  (eight 64-bit words)

Masks live in one array of words, eight to a *slot*; offsets called `at` count words, so slot s starts at 8 * s.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from eddyline.kernels.vectors import (
    BLOCK,
    WORDS,
    add_range_mask,
    and1,
    and2,
    and3,
    and4,
    compare1,
    compare2,
    compare3,
    compare4,
    compare5,
    compare6,
    difference,
    mask_population,
    prefetch,
    range_mask,
    step,
    up_to_mask,
)

COUNTED = 64  # results that are counted together: 4 kB


@njit(cache=True, nogil=True)
def range_masks(ids, stride, base, rows, lows, spans, slots, firsts, masks):
    """One mask for each condition of few ranges of region ids.

    ids: region ids, one row of `stride` for each subject. base: first tuple of the block. rows, lows, spans, slots: per
    range; the first `firsts` are the only or first ranges of their conditions, the others are added. Writes masks.
    """
    for i in range(firsts):
        range_mask(ids, rows[i] * stride + base, lows[i], spans[i], masks, slots[i] * WORDS)
    for i in range(firsts, len(rows)):
        add_range_mask(ids, rows[i] * stride + base, lows[i], spans[i], masks, slots[i] * WORDS)


@njit(cache=True, nogil=True)
def edge_masks(edges, ids, stride, base, masks):
    """Masks of ids up to an edge, then differences of two of them; see `index.edges.Edges` for the fields."""
    rows, tops, slots, targets, uppers, lowers = edges
    for i in range(len(rows)):
        up_to_mask(ids, rows[i] * stride + base, tops[i], masks, slots[i] * WORDS)
    for i in range(len(targets)):
        difference(masks, targets[i] * WORDS, uppers[i] * WORDS, lowers[i] * WORDS)


@njit(cache=True, nogil=True)
def table_masks(ids, stride, base, rows, offsets, slots, tables, masks):
    """One mask for each condition of several ranges: tables[offset + id] is 1 where the id belongs to it."""
    for i in range(len(rows)):
        start, offset, at = rows[i] * stride + base, offsets[i], slots[i] * WORDS
        for word in range(WORDS):
            bits = np.uint64(0)
            for bit in range(64):
                bits |= np.uint64(tables[offset + np.int64(ids[start + word * 64 + bit])]) << np.uint64(bit)
            masks[at + word] = bits


@njit(cache=True, nogil=True)
def run_steps(targets, lefts, rights, flips, emits, masks, out, base, streaming):
    """The AND/OR steps of the shared program, in order; a step with emits[i] >= 0 gives that result."""
    for i in range(len(targets)):
        at, a, b = np.int64(targets[i]) * WORDS, np.int64(lefts[i]) * WORDS, np.int64(rights[i]) * WORDS
        step(masks, at, a, b, np.int64(flips[i]))
        if emits[i] >= 0:
            and1(out, base + np.int64(emits[i]) * WORDS, streaming, masks, at)


@njit(cache=True, nogil=True)
def _count_steps(emits, out, counts):
    """Count the results of steps, which are in their places."""
    for emitted in emits:
        if emitted >= 0:
            counts[emitted] += mask_population(out, np.int64(emitted) * WORDS)


@njit(cache=True, nogil=True)
def conjunctions(arity, operands, count, masks, out, at, streaming):
    """out[at + 8 q] = AND of the `arity` masks named by operands[q * arity:], for q below count.

    The last slot of masks is scratch. streaming: results go to memory past the caches.
    """
    spare = np.int64(len(masks) - WORDS)
    for q in range(count):
        o, to = arity * q, at + q * WORDS
        a = np.int64(operands[o]) * WORDS
        if arity == 1:
            and1(out, to, streaming, masks, a)
        elif arity == 2:
            and2(out, to, streaming, masks, a, np.int64(operands[o + 1]) * WORDS)
        elif arity == 3:
            b, c = np.int64(operands[o + 1]) * WORDS, np.int64(operands[o + 2]) * WORDS
            and3(out, to, streaming, masks, a, b, c)
        else:
            for last in range(3, arity - 1, 3):
                b, c = np.int64(operands[o + last - 2]) * WORDS, np.int64(operands[o + last - 1]) * WORDS
                and4(masks, spare, False, masks, a, b, c, np.int64(operands[o + last]) * WORDS)
                a = spare
            # the last one to three masks, some of them twice, so that every arity ends in the same way
            b, c = np.int64(operands[o + arity - 2]) * WORDS, np.int64(operands[o + arity - 1]) * WORDS
            and4(out, to, streaming, masks, a, np.int64(operands[o + arity - 3]) * WORDS, b, c)


@njit(inline="always")  # a call with so many arrays would cost more than what it does
def _compare(arity, ids, stride, base, rows, lows, spans, o, target, at):
    """target[at:at + 8] = AND of `arity` comparisons from place o on."""
    if arity == 1:
        compare1(ids, stride, base, rows, lows, spans, o, target, at)
    elif arity == 2:
        compare2(ids, stride, base, rows, lows, spans, o, target, at)
    elif arity == 3:
        compare3(ids, stride, base, rows, lows, spans, o, target, at)
    elif arity == 4:
        compare4(ids, stride, base, rows, lows, spans, o, target, at)
    elif arity == 5:
        compare5(ids, stride, base, rows, lows, spans, o, target, at)
    else:
        compare6(ids, stride, base, rows, lows, spans, o, target, at)


@njit(cache=True, nogil=True)
def compare_directly(direct, ids, stride, base, scratch, out, at, streaming):
    """Results of conjunctions without masks in between; see `index.direct.Direct` for the fields.

    Streamed results are gathered in scratch first: words cannot go past the caches one by one.
    """
    arities, firsts, sizes, offsets, rows, lows, spans = direct
    room = len(scratch) // WORDS
    for g in range(len(arities)):
        arity, to = arities[g], at + firsts[g] * WORDS
        for first in range(0, sizes[g], room):
            last = min(first + room, sizes[g])
            o = offsets[g] + first * arity
            if streaming:
                for q in range(last - first):
                    _compare(arity, ids, stride, base, rows, lows, spans, o + q * arity, scratch, q * WORDS)
                for q in range(last - first):
                    and1(out, to + (first + q) * WORDS, True, scratch, q * WORDS)
            else:
                for q in range(last - first):
                    _compare(
                        arity,
                        ids,
                        stride,
                        base,
                        rows,
                        lows,
                        spans,
                        o + q * arity,
                        out,
                        to + (first + q) * WORDS,
                    )


@njit(cache=True, nogil=True)
def count_directly(direct, ids, stride, base, scratch, counts):
    """As `compare_directly`, results only being counted."""
    arities, firsts, sizes, offsets, rows, lows, spans = direct
    for g in range(len(arities)):
        arity, o = arities[g], offsets[g]
        for q in range(sizes[g]):
            _compare(arity, ids, stride, base, rows, lows, spans, o + q * arity, scratch, 0)
            counts[firsts[g] + q] += mask_population(scratch, 0)


@njit(cache=True, nogil=True)
def count_conjunctions(arity, operands, count, masks, out, counts):
    """As `conjunctions`, results only being counted: a few at a time, which stay in the nearest cache."""
    for first in range(0, count, COUNTED):
        size = min(COUNTED, count - first)
        conjunctions(arity, operands[first * arity :], size, masks, out, 0, False)
        add_counts(out, 0, size, counts[first:])


@njit(cache=True, nogil=True)
def clear_tail(out, at, queries, valid):
    """Zero the bits of tuples from `valid` on in one block of results."""
    for q in range(queries):
        for word in range(WORDS):
            keep = min(64, max(0, valid - word * 64))
            if keep < 64:
                out[at + q * WORDS + word] &= (np.uint64(1) << np.uint64(keep)) - np.uint64(1)


@njit(cache=True, nogil=True)
def add_counts(out, at, queries, counts):
    """counts[q] += ones of query q in one block."""
    for q in range(queries):
        counts[q] += mask_population(out, at + q * WORDS)


@njit(cache=True, nogil=True)
def _shelf_masks(shelf, stride, base, masks):
    """Masks of all conditions on the subjects of one shelf; see `run_blocks` for the fields."""
    ids, edges, ranges, tables = shelf
    rows, lows, spans, slots, firsts = ranges
    table_rows, offsets, table_slots, bits = tables
    line = 64 // ids.itemsize
    for row in range(len(ids) // stride):
        start = row * stride + base + BLOCK
        for at in range(start, start + BLOCK, line):
            prefetch(ids, at)
    edge_masks(edges, ids, stride, base, masks)
    range_masks(ids, stride, base, rows, lows, spans, slots, firsts, masks)
    table_masks(ids, stride, base, table_rows, offsets, table_slots, bits, masks)


@njit(cache=True, nogil=True)
def _set_hits(rows, slots, start, end, masks):
    """Set the bits of hits start .. end - 1, pairs of a row and a slot, all of one block."""
    for i in range(start, end):
        row = rows[i]
        masks[slots[i] * WORDS + ((row % BLOCK) >> 6)] |= np.uint64(1) << np.uint64(row & 63)


@njit(cache=True, nogil=True)
def _clear_hits(rows, slots, start, end, masks):
    """Undo `_set_hits`, so that the cost follows the hits and not the patterns."""
    for i in range(start, end):
        masks[slots[i] * WORDS + ((rows[i] % BLOCK) >> 6)] = np.uint64(0)


@njit(cache=True, nogil=True)
def _derive(targets, hits, nulls, flags, masks):
    """Masks of conditions on patterns that ask for more than hits: flags 1 true, 2 false, 4 NULL."""
    zero = np.uint64(0)
    for i in range(len(targets)):
        t, f, n = flags[i] & 1 != 0, flags[i] & 2 != 0, flags[i] & 4 != 0
        for word in range(WORDS):
            hit, null = masks[hits[i] * WORDS + word], masks[nulls[i] * WORDS + word]
            bits = (hit if t else zero) | (~(hit | null) if f else zero) | (null if n else zero)
            masks[targets[i] * WORDS + word] = bits


@njit(cache=True, nogil=True)
def run_blocks(
    first,
    last,
    rows,
    stride,
    shelf8,
    shelf16,
    shelf32,
    found,
    derived,
    groups,
    steps,
    direct,
    always,
    results,
    gathered,
    masks,
    out,
    keep,
    streaming,
    counts,
):
    """All results of blocks first .. last - 1, with `masks` as scratch, zero where patterns put their hits.

    shelf: ids, with `stride` places a subject; the fields of its edges; rows, lows, spans, slots of the ranges and how many
    come first; rows, offsets, slots and bits of the table conditions. found: rows and slots of pattern hits by block, and where each
    block's start. derived: targets, hits, nulls and flags of conditions on patterns. groups: arity, first result, count and operand
    offset of each group, and the operands. steps: targets, lefts, rights, flips, emits. direct: see
    `compare_directly`, with `gathered` as its scratch. always: results from .. to that are
    all ones. keep: write each block to its own place of `out`; else every block to the first. streaming: results go past
    the caches. counts: if it has a place for each result, ones are added up in it.
    """
    arities, firsts, sizes, offsets, operands = groups
    targets, lefts, rights, flips, emits = steps
    hit_rows, hit_slots, hit_starts = found
    derived_targets, derived_hits, derived_nulls, derived_flags = derived
    for block in range(first, last):
        base = block * BLOCK
        at = block * results * WORDS if keep else 0
        counting = len(counts) == results and base + BLOCK <= rows
        _shelf_masks(shelf8, stride, base, masks)
        _shelf_masks(shelf16, stride, base, masks)
        _shelf_masks(shelf32, stride, base, masks)
        _set_hits(hit_rows, hit_slots, hit_starts[block], hit_starts[block + 1], masks)
        _derive(derived_targets, derived_hits, derived_nulls, derived_flags, masks)
        for g in range(len(arities)):
            start = offsets[g]
            own = operands[start : start + arities[g] * sizes[g]]
            if counting:
                count_conjunctions(arities[g], own, sizes[g], masks, out, counts[firsts[g] :])
            else:
                conjunctions(arities[g], own, sizes[g], masks, out, at + firsts[g] * WORDS, streaming)
        run_steps(targets, lefts, rights, flips, emits, masks, out, at, streaming)
        _clear_hits(hit_rows, hit_slots, hit_starts[block], hit_starts[block + 1], masks)
        for word in range(at + always[0] * WORDS, at + always[1] * WORDS):
            out[word] = ~np.uint64(0)
        if counting:
            _count_steps(emits, out, counts)
            for result in range(always[0], always[1]):  # an array operation would take two seconds to compile
                counts[result] += BLOCK
            count_directly(direct, shelf8[0], stride, base, gathered, counts)
            continue
        compare_directly(direct, shelf8[0], stride, base, gathered, out, at, streaming)
        if base + BLOCK > rows:
            clear_tail(out, at, results, rows - base)
        if len(counts) == results:
            add_counts(out, at, results, counts)
