"""Sliced evaluation: one mask of 512 bits for each distinct condition and block of tuples, then AND/OR over masks.

    region ids of one subject      condition 4 <= id <= 9      mask
    2 5 9 0 4 ...  (512)     --->  compare as a vector   --->  01101...  (eight 64-bit words)

Masks live in one array of words, eight to a *slot*; offsets called `at` count words, so slot s starts at 8 * s.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from eddyline.kernels.compiling import kernel, part
from eddyline.kernels.stages import (
    int32s,
    int64s,
    number,
    run_stage,
    stage,
    uint8s,
    uint16s,
    uint32s,
    uint64s,
)
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

# The frame of a call. ids: one row of STRIDE places for each subject. HIT_*: rows and slots of pattern hits by block, and where
# each block's start. MASKS: scratch, zero where patterns put their hits. KEEP: each block's results have their own place in
# OUT; else every block's go to the first. STREAMING: results go past the caches. GATHERED: scratch of `direct`.
(
    IDS8,
    IDS16,
    IDS32,
    STRIDE,
    HIT_ROWS,
    HIT_SLOTS,
    HIT_STARTS,
    MASKS,
    OUT,
    COUNTS,
    GATHERED,
    RESULTS,
    KEEP,
    STREAMING,
) = range(14)
I64, I32 = np.int64, np.int32
CALL = (
    np.uint8,
    np.uint16,
    np.uint32,
    int,
    I64,
    I64,
    I64,
    np.uint64,
    np.uint64,
    I64,
    np.uint64,
    int,
    int,
    int,
)
TABLE = (I64, I64, I64, np.uint8)
GROUPS = (I64, I64, I64, I64, I32)
STEPS = (I32, I32, I32, I32, I32)
DIRECT = (I64, I64, I64, I64, I64, np.uint8, np.uint8)


@part
def _range_masks(ids, stride, base, rows, lows, spans, slots, firsts, masks):
    """One mask for each condition of few ranges of region ids.

    ids: region ids, one row of `stride` for each subject. base: first tuple of the block. rows, lows, spans, slots: per
    range; the first `firsts` are the only or first ranges of their conditions, the others are added. Writes masks.
    """
    for i in range(firsts):
        range_mask(ids, rows[i] * stride + base, lows[i], spans[i], masks, slots[i] * WORDS)
    for i in range(firsts, len(rows)):
        add_range_mask(ids, rows[i] * stride + base, lows[i], spans[i], masks, slots[i] * WORDS)


@part
def _edge_masks(edges, ids, stride, base, masks):
    """Masks of ids up to an edge, then differences of two of them; see `index.edges.Edges` for the fields."""
    rows, tops, slots, targets, uppers, lowers = edges
    for i in range(len(rows)):
        up_to_mask(ids, rows[i] * stride + base, tops[i], masks, slots[i] * WORDS)
    for i in range(len(targets)):
        difference(masks, targets[i] * WORDS, uppers[i] * WORDS, lowers[i] * WORDS)


@part
def _table_masks(ids, stride, base, rows, offsets, slots, tables, masks):
    """One mask for each condition of several ranges: tables[offset + id] is 1 where the id belongs to it."""
    for i in range(len(rows)):
        start, offset, at = rows[i] * stride + base, offsets[i], slots[i] * WORDS
        for word in range(WORDS):
            bits = np.uint64(0)
            for bit in range(64):
                bits |= np.uint64(tables[offset + np.int64(ids[start + word * 64 + bit])]) << np.uint64(bit)
            masks[at + word] = bits


@part
def _run_steps(targets, lefts, rights, flips, emits, masks, out, base, streaming):
    """The AND/OR steps of the shared program, in order; a step with emits[i] >= 0 gives that result."""
    for i in range(len(targets)):
        at, a, b = np.int64(targets[i]) * WORDS, np.int64(lefts[i]) * WORDS, np.int64(rights[i]) * WORDS
        step(masks, at, a, b, np.int64(flips[i]))
        if emits[i] >= 0:
            and1(out, base + np.int64(emits[i]) * WORDS, streaming, masks, at)


@part
def _count_steps(emits, out, counts):
    """Count the results of steps, which are in their places."""
    for emitted in emits:
        if emitted >= 0:
            counts[emitted] += mask_population(out, np.int64(emitted) * WORDS)


@part
def _conjunctions(arity, operands, count, masks, out, at, streaming):
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


@part
def _compare_directly(direct, ids, stride, base, scratch, out, at, streaming):
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


@part
def _count_directly(direct, ids, stride, base, scratch, counts):
    """As `_compare_directly`, results only being counted."""
    arities, firsts, sizes, offsets, rows, lows, spans = direct
    for g in range(len(arities)):
        arity, o = arities[g], offsets[g]
        for q in range(sizes[g]):
            _compare(arity, ids, stride, base, rows, lows, spans, o + q * arity, scratch, 0)
            counts[firsts[g] + q] += mask_population(scratch, 0)


@part
def _count_conjunctions(arity, operands, count, masks, out, counts):
    """As `_conjunctions`, results only being counted: a few at a time, which stay in the nearest cache."""
    for first in range(0, count, COUNTED):
        size = min(COUNTED, count - first)
        _conjunctions(arity, operands[first * arity :], size, masks, out, 0, False)
        for q in range(size):
            counts[first + q] += mask_population(out, q * WORDS)


@kernel
def clear_tail(out, at, queries, valid):
    """Zero the bits of tuples from `valid` on in one block of results."""
    for q in range(queries):
        for word in range(WORDS):
            keep = min(64, max(0, valid - word * 64))
            if keep < 64:
                out[at + q * WORDS + word] &= (np.uint64(1) << np.uint64(keep)) - np.uint64(1)


@kernel
def add_counts(out, at, queries, counts):
    """counts[q] += ones of query q in one block."""
    for q in range(queries):
        counts[q] += mask_population(out, at + q * WORDS)


@part
def _shelf_masks(ids, call, edges, ranges, base):
    """Masks of all conditions on the subjects of one shelf but those by table."""
    stride, masks = number(call, STRIDE), uint64s(call, MASKS)
    line = 64 // ids.itemsize
    for row in range(len(ids) // stride):
        start = row * stride + base + BLOCK
        for at in range(start, start + BLOCK, line):
            prefetch(ids, at)
    _edge_masks(edges, ids, stride, base, masks)
    rows, lows, spans, slots, firsts = ranges
    _range_masks(ids, stride, base, rows, lows, spans, slots, firsts, masks)


@part
def _set_hits(rows, slots, start, end, masks):
    """Set the bits of hits start .. end - 1, pairs of a row and a slot, all of one block."""
    for i in range(start, end):
        row = rows[i]
        masks[slots[i] * WORDS + ((row % BLOCK) >> 6)] |= np.uint64(1) << np.uint64(row & 63)


@part
def _clear_hits(rows, slots, start, end, masks):
    """Undo `_set_hits`, so that the cost follows the hits and not the patterns."""
    for i in range(start, end):
        masks[slots[i] * WORDS + ((rows[i] % BLOCK) >> 6)] = np.uint64(0)


@part
def _derive(targets, hits, nulls, flags, masks):
    """Masks of conditions on patterns that ask for more than hits: flags 1 true, 2 false, 4 NULL."""
    zero = np.uint64(0)
    for i in range(len(targets)):
        t, f, n = flags[i] & 1 != 0, flags[i] & 2 != 0, flags[i] & 4 != 0
        for word in range(WORDS):
            hit, null = masks[hits[i] * WORDS + word], masks[nulls[i] * WORDS + word]
            bits = (hit if t else zero) | (~(hit | null) if f else zero) | (null if n else zero)
            masks[targets[i] * WORDS + word] = bits


def _shelf_kinds(width):
    return (I64, width, I64, I64, I64, I64, I64, width, width, I64, int)


@stage(*_shelf_kinds(np.uint8))
def shelf8(call, own, block):
    """Masks of conditions on subjects with ids of one byte: the fields of their edges, those of their ranges."""
    edges = (int64s(own, 0), uint8s(own, 1), int64s(own, 2), int64s(own, 3), int64s(own, 4), int64s(own, 5))
    ranges = (int64s(own, 6), uint8s(own, 7), uint8s(own, 8), int64s(own, 9), number(own, 10))
    _shelf_masks(uint8s(call, IDS8), call, edges, ranges, block * BLOCK)


@stage(*_shelf_kinds(np.uint16))
def shelf16(call, own, block):
    """As `shelf8`, ids of two bytes."""
    edges = (int64s(own, 0), uint16s(own, 1), int64s(own, 2), int64s(own, 3), int64s(own, 4), int64s(own, 5))
    ranges = (int64s(own, 6), uint16s(own, 7), uint16s(own, 8), int64s(own, 9), number(own, 10))
    _shelf_masks(uint16s(call, IDS16), call, edges, ranges, block * BLOCK)


@stage(*_shelf_kinds(np.uint32))
def shelf32(call, own, block):
    """As `shelf8`, ids of four bytes."""
    edges = (int64s(own, 0), uint32s(own, 1), int64s(own, 2), int64s(own, 3), int64s(own, 4), int64s(own, 5))
    ranges = (int64s(own, 6), uint32s(own, 7), uint32s(own, 8), int64s(own, 9), number(own, 10))
    _shelf_masks(uint32s(call, IDS32), call, edges, ranges, block * BLOCK)


@part
def _tables(ids, call, own, block):
    stride, masks = number(call, STRIDE), uint64s(call, MASKS)
    rows, offsets, slots, bits = int64s(own, 0), int64s(own, 1), int64s(own, 2), uint8s(own, 3)
    _table_masks(ids, stride, block * BLOCK, rows, offsets, slots, bits, masks)


@stage(*TABLE)
def tables8(call, own, block):
    """Masks of conditions of many ranges on ids of one byte: rows, offsets, slots, bits."""
    _tables(uint8s(call, IDS8), call, own, block)


@stage(*TABLE)
def tables16(call, own, block):
    """As `tables8`, ids of two bytes."""
    _tables(uint16s(call, IDS16), call, own, block)


@stage(*TABLE)
def tables32(call, own, block):
    """As `tables8`, ids of four bytes."""
    _tables(uint32s(call, IDS32), call, own, block)


@stage()
def hits(call, own, block):
    """Set the bits that patterns have found in this block."""
    starts = int64s(call, HIT_STARTS)
    _set_hits(
        int64s(call, HIT_ROWS),
        int64s(call, HIT_SLOTS),
        starts[block],
        starts[block + 1],
        uint64s(call, MASKS),
    )


@stage()
def no_hits(call, own, block):
    """Undo `hits`."""
    starts = int64s(call, HIT_STARTS)
    _clear_hits(
        int64s(call, HIT_ROWS),
        int64s(call, HIT_SLOTS),
        starts[block],
        starts[block + 1],
        uint64s(call, MASKS),
    )


@stage(I64, I64, I64, np.uint8)
def derived(call, own, block):
    """Masks of conditions on patterns: targets, hits, nulls, flags."""
    _derive(int64s(own, 0), int64s(own, 1), int64s(own, 2), uint8s(own, 3), uint64s(call, MASKS))


@part
def _at(call, block):
    """Where the results of a block begin: in a place of their own, or in the first."""
    return block * number(call, RESULTS) * WORDS if number(call, KEEP) else 0


@part
def _groups(own):
    """The fields of a frame of GROUPS."""
    return int64s(own, 0), int64s(own, 1), int64s(own, 2), int64s(own, 3), int32s(own, 4)


@stage(*GROUPS)
def grouped(call, own, block):
    """Conjunctions of masks: arity, first result, size and operand offset of each group, and the operands."""
    arities, firsts, sizes, offsets, operands = _groups(own)
    masks, out, at = uint64s(call, MASKS), uint64s(call, OUT), _at(call, block)
    streaming = number(call, STREAMING) != 0
    for g in range(len(arities)):
        own_operands = operands[offsets[g] :]
        _conjunctions(arities[g], own_operands, sizes[g], masks, out, at + firsts[g] * WORDS, streaming)


@stage(*GROUPS)
def count_grouped(call, own, block):
    """As `grouped`, results only being counted."""
    arities, firsts, sizes, offsets, operands = _groups(own)
    masks, out, counts = uint64s(call, MASKS), uint64s(call, OUT), int64s(call, COUNTS)
    for g in range(len(arities)):
        own_operands = operands[offsets[g] :]
        _count_conjunctions(arities[g], own_operands, sizes[g], masks, out, counts[firsts[g] :])


@stage(*STEPS)
def steps(call, own, block):
    """The shared program: targets, lefts, rights, flips, emits."""
    targets, lefts, rights, flips, emits = (
        int32s(own, 0), int32s(own, 1), int32s(own, 2), int32s(own, 3), int32s(own, 4)
    )  # fmt: skip
    masks, out, streaming = uint64s(call, MASKS), uint64s(call, OUT), number(call, STREAMING) != 0
    _run_steps(targets, lefts, rights, flips, emits, masks, out, _at(call, block), streaming)


@stage(*STEPS)
def count_steps(call, own, block):
    """Count the results of `steps`, which has run."""
    _count_steps(int32s(own, 4), uint64s(call, OUT), int64s(call, COUNTS))


@stage(int, int)
def always(call, own, block):
    """Results from .. to that are all ones."""
    out, at = uint64s(call, OUT), _at(call, block)
    for word in range(at + number(own, 0) * WORDS, at + number(own, 1) * WORDS):
        out[word] = ~np.uint64(0)


@part
def _direct(own):
    """The fields of a frame of DIRECT."""
    groups = int64s(own, 0), int64s(own, 1), int64s(own, 2), int64s(own, 3)
    return (*groups, int64s(own, 4), uint8s(own, 5), uint8s(own, 6))


@stage(*DIRECT)
def direct(call, own, block):
    """Conjunctions without masks in between; see `index.direct.Direct` for the fields."""
    ids, stride, scratch = uint8s(call, IDS8), number(call, STRIDE), uint64s(call, GATHERED)
    out, at, streaming = uint64s(call, OUT), _at(call, block), number(call, STREAMING) != 0
    _compare_directly(_direct(own), ids, stride, block * BLOCK, scratch, out, at, streaming)


@stage(*DIRECT)
def count_direct(call, own, block):
    """As `direct`, results only being counted."""
    ids, stride, scratch = uint8s(call, IDS8), number(call, STRIDE), uint64s(call, GATHERED)
    _count_directly(_direct(own), ids, stride, block * BLOCK, scratch, int64s(call, COUNTS))


@kernel
def run_blocks(first, last, stages, call):
    """Run all stages over blocks first .. last - 1; stages: addresses of each and of its own frame; call: that of the call."""
    for block in range(first, last):
        for i in range(0, len(stages), 2):
            run_stage(stages[i], call, stages[i + 1], block)
