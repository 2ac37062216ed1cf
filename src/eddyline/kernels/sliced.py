"""Sliced evaluation: one mask of 512 bits for each distinct condition and block of tuples, then AND/OR over masks.

    region ids of one subject      condition 4 <= id <= 9      mask
    2 5 9 0 4 ...  (512)     --->  compare as a vector   --->  01101...  (eight 64-bit words)

Masks live in one array of words, eight to a *slot*; offsets called `at` count words, so slot s starts at 8 * s.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 512
WORDS = BLOCK // 64

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_MASK = ir.VectorType(_I64, WORDS)


def _pointer(context, builder, kind, value, index, to):
    """Address of value[index] as a pointer to another type."""
    array = context.make_array(kind)(context, builder, value)
    return builder.bitcast(builder.gep(array.data, [index]), to.as_pointer())


def _splat(builder, scalar, kind):
    """A vector with the scalar in every lane."""
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, ir.Constant(_I32, 0))
    lanes = ir.Constant(ir.VectorType(_I32, kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), lanes)


def _range_code(ids, start, masks, at, add):
    """Code for masks[at:at + 8] = bits of (ids[start:start + 512] - low) <= span, unsigned; ORed to what is there if add."""
    signature = types.void(ids, start, ids.dtype, ids.dtype, masks, at)
    vector = ir.VectorType(ir.IntType(ids.dtype.bitwidth), 64)
    bytes_each = ids.dtype.bitwidth // 8

    def generate(context, builder, signature, arguments):
        ids, start, low, span, masks, at = arguments
        source = _pointer(context, builder, signature.args[0], ids, start, vector)
        words = _pointer(context, builder, signature.args[4], masks, at, _I64)
        lows, spans = _splat(builder, low, vector), _splat(builder, span, vector)
        for word in range(WORDS):
            place = ir.Constant(_I64, word)
            values = builder.load(builder.gep(source, [place]), align=bytes_each)
            inside = builder.icmp_unsigned("<=", builder.sub(values, lows), spans)
            bits, word_at = builder.bitcast(inside, _I64), builder.gep(words, [place])
            if add:
                bits = builder.or_(bits, builder.load(word_at, align=8))
            builder.store(bits, word_at, align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _range_mask(typing, ids, start, low, span, masks, at):
    """Set masks[at:at + 8] to the bits of ids[start:start + 512] that lie from low to low + span."""
    return _range_code(ids, start, masks, at, add=False)


@intrinsic
def _add_range_mask(typing, ids, start, low, span, masks, at):
    """Add the bits of ids[start:start + 512] that lie from low to low + span to masks[at:at + 8]."""
    return _range_code(ids, start, masks, at, add=True)


def _conjunction(count):
    """Code for target[at:at + 8] = AND of `count` masks."""

    def make(typing, *kinds):
        signature = types.void(*kinds)

        def generate(context, builder, signature, arguments):
            target, at, masks = arguments[:3]
            value = None
            for offset in arguments[3 : 3 + count]:
                mask = builder.load(
                    _pointer(context, builder, signature.args[2], masks, offset, _MASK), align=8
                )
                value = mask if value is None else builder.and_(value, mask)
            builder.store(value, _pointer(context, builder, signature.args[0], target, at, _MASK), align=8)
            return context.get_dummy_value()

        return signature, generate

    return make


_make1, _make2, _make3, _make4 = (_conjunction(count) for count in (1, 2, 3, 4))


@intrinsic
def _and1(typing, target, at, masks, a):
    return _make1(typing, target, at, masks, a)


@intrinsic
def _and2(typing, target, at, masks, a, b):
    return _make2(typing, target, at, masks, a, b)


@intrinsic
def _and3(typing, target, at, masks, a, b, c):
    return _make3(typing, target, at, masks, a, b, c)


@intrinsic
def _and4(typing, target, at, masks, a, b, c, d):
    return _make4(typing, target, at, masks, a, b, c, d)


@intrinsic
def _and_into(typing, target, at, masks, a):
    """Take target[at:at + 8] &= masks[a:a + 8]."""
    signature = types.void(target, at, masks, a)

    def generate(context, builder, signature, arguments):
        target, at, masks, a = arguments
        place = _pointer(context, builder, signature.args[0], target, at, _MASK)
        mask = builder.load(_pointer(context, builder, signature.args[2], masks, a, _MASK), align=8)
        builder.store(builder.and_(builder.load(place, align=8), mask), place, align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _step(typing, masks, at, a, b, flip):
    """masks[at] = ((masks[a] ^ flip) & (masks[b] ^ flip)) ^ flip: AND for flip 0, OR for flip -1, without a branch."""
    signature = types.void(masks, at, a, b, types.int64)

    def generate(context, builder, signature, arguments):
        masks, at, a, b, flip = arguments
        flips = _splat(builder, flip, _MASK)
        sides = [
            builder.xor(
                builder.load(_pointer(context, builder, signature.args[0], masks, o, _MASK), align=8), flips
            )
            for o in (a, b)
        ]
        result = builder.xor(builder.and_(*sides), flips)
        builder.store(result, _pointer(context, builder, signature.args[0], masks, at, _MASK), align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _population(typing, word):
    """Number of ones in a word."""
    signature = types.int64(types.uint64)

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(_I64, [_I64])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.ctpop.i64")
        return builder.call(function, [arguments[0]])

    return signature, generate


@intrinsic
def _lowest(typing, word):
    """Position of the lowest one of a word that is not zero."""
    signature = types.int64(types.uint64)

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(_I64, [_I64, ir.IntType(1)])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.cttz.i64")
        return builder.call(function, [arguments[0], ir.Constant(ir.IntType(1), 1)])

    return signature, generate


@njit(cache=True, nogil=True)
def range_masks(ids, stride, base, rows, lows, spans, slots, firsts, masks):
    """One mask for each condition of few ranges of region ids.

    ids: region ids, one row of `stride` for each subject. base: first tuple of the block. rows, lows, spans, slots: per
    range; the first `firsts` are the only or first ranges of their conditions, the others are added. Writes masks.
    """
    for i in range(firsts):
        _range_mask(ids, rows[i] * stride + base, lows[i], spans[i], masks, slots[i] * WORDS)
    for i in range(firsts, len(rows)):
        _add_range_mask(ids, rows[i] * stride + base, lows[i], spans[i], masks, slots[i] * WORDS)


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
def run_steps(targets, lefts, rights, flips, emits, masks, out, base):
    """The AND/OR steps of the shared program, in order; a step with emits[i] >= 0 gives that result."""
    for i in range(len(targets)):
        at, a, b = np.int64(targets[i]) * WORDS, np.int64(lefts[i]) * WORDS, np.int64(rights[i]) * WORDS
        _step(masks, at, a, b, np.int64(flips[i]))
        if emits[i] >= 0:
            _and1(out, base + np.int64(emits[i]) * WORDS, masks, at)


@njit(cache=True, nogil=True)
def conjunctions(arity, operands, count, masks, out, at):
    """out[at + 8 q] = AND of the `arity` masks named by operands[q * arity:], for q below count."""
    if arity == 1:
        for q in range(count):
            _and1(out, at + q * WORDS, masks, np.int64(operands[q]) * WORDS)
    elif arity == 2:
        for q in range(count):
            o = 2 * q
            _and2(
                out, at + q * WORDS, masks, np.int64(operands[o]) * WORDS, np.int64(operands[o + 1]) * WORDS
            )
    elif arity == 3:
        for q in range(count):
            o = 3 * q
            a, b = np.int64(operands[o]) * WORDS, np.int64(operands[o + 1]) * WORDS
            _and3(out, at + q * WORDS, masks, a, b, np.int64(operands[o + 2]) * WORDS)
    else:
        for q in range(count):
            o = arity * q
            a, b = np.int64(operands[o]) * WORDS, np.int64(operands[o + 1]) * WORDS
            c, d = np.int64(operands[o + 2]) * WORDS, np.int64(operands[o + 3]) * WORDS
            _and4(out, at + q * WORDS, masks, a, b, c, d)
            for j in range(4, arity):
                _and_into(out, at + q * WORDS, masks, np.int64(operands[o + j]) * WORDS)


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
        total = np.int64(0)
        for word in range(WORDS):
            total += _population(out[at + q * WORDS + word])
        counts[q] += total


@njit(cache=True, nogil=True)
def _shelf_masks(shelf, stride, base, masks):
    """Masks of all conditions on the subjects of one shelf; see `run_blocks` for the fields."""
    ids, rows, lows, spans, slots, firsts, table_rows, offsets, table_slots, tables = shelf
    range_masks(ids, stride, base, rows, lows, spans, slots, firsts, masks)
    table_masks(ids, stride, base, table_rows, offsets, table_slots, tables, masks)


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
    always,
    results,
    masks,
    out,
    keep,
    counts,
):
    """All results of blocks first .. last - 1, with `masks` as scratch, zero where patterns put their hits.

    shelf: ids, then rows, lows, spans, slots of the ranges and how many come first, then rows, offsets, slots and bits of the table
    conditions. found: rows and slots of pattern hits by block, and where each block's start. derived: targets, hits, nulls
    and flags of conditions on patterns. groups: arity, first result, count and operand offset of each group, and the operands. steps: targets,
    lefts, rights, flips, emits. always: results from .. to that are all ones. keep: write each block to its own place
    of `out`; else every block to the first. counts: if it has a place for each result, ones are added up in it.
    """
    arities, firsts, sizes, offsets, operands = groups
    targets, lefts, rights, flips, emits = steps
    hit_rows, hit_slots, hit_starts = found
    derived_targets, derived_hits, derived_nulls, derived_flags = derived
    for block in range(first, last):
        base = block * BLOCK
        at = block * results * WORDS if keep else 0
        _shelf_masks(shelf8, stride, base, masks)
        _shelf_masks(shelf16, stride, base, masks)
        _shelf_masks(shelf32, stride, base, masks)
        _set_hits(hit_rows, hit_slots, hit_starts[block], hit_starts[block + 1], masks)
        _derive(derived_targets, derived_hits, derived_nulls, derived_flags, masks)
        for g in range(len(arities)):
            start = offsets[g]
            own = operands[start : start + arities[g] * sizes[g]]
            conjunctions(arities[g], own, sizes[g], masks, out, at + firsts[g] * WORDS)
        run_steps(targets, lefts, rights, flips, emits, masks, out, at)
        _clear_hits(hit_rows, hit_slots, hit_starts[block], hit_starts[block + 1], masks)
        for place in range(at + always[0] * WORDS, at + always[1] * WORDS):
            out[place] = ~np.uint64(0)
        if base + BLOCK > rows:
            clear_tail(out, at, results, rows - base)
        if len(counts) == results:
            add_counts(out, at, results, counts)


@njit(cache=True, nogil=True)
def query_rows(out, blocks, queries, query, rows):
    """Rows of one query over all blocks, ascending; returns how many were written."""
    found = 0
    for block in range(blocks):
        at = (block * queries + query) * WORDS
        for word in range(WORDS):
            bits = out[at + word]
            base = block * BLOCK + word * 64
            while bits != np.uint64(0):
                rows[found] = base + _lowest(bits)
                found += 1
                bits &= bits - np.uint64(1)
    return found


@njit(cache=True, nogil=True)
def all_pairs(out, blocks, queries, order, numbers, starts, rows, found):
    """All (row, query) pairs by row, and for each row in the given order of results.

    order: results in the order wanted; numbers: what to write for each result. starts: scratch of 513 places. Each block
    is counted by row first and then filled, so that no sorting is needed. Writes rows and found; returns how many.
    """
    total = 0
    for block in range(blocks):
        starts[:] = 0
        base = block * queries
        for result in range(queries):
            for word in range(WORDS):
                bits = out[(base + result) * WORDS + word]
                while bits != np.uint64(0):
                    starts[word * 64 + _lowest(bits) + 1] += 1
                    bits &= bits - np.uint64(1)
        starts[0] = total
        for row in range(BLOCK):
            count = starts[row + 1]
            for place in range(starts[row], starts[row] + count):
                rows[place] = block * BLOCK + row
            starts[row + 1] = starts[row] + count
        total = starts[BLOCK]
        for i in range(queries):
            result = order[i]
            for word in range(WORDS):
                bits = out[(base + result) * WORDS + word]
                while bits != np.uint64(0):
                    row = word * 64 + _lowest(bits)
                    found[starts[row]] = numbers[result]
                    starts[row] += 1
                    bits &= bits - np.uint64(1)
    return total
