"""Masks to pairs: the bits of a block are turned by 90 degrees, then each tuple's queries are read off in one go.

masks, by query           turned, by tuple           pairs
q0  0 1 1 0 ...           t0  0 1 ...                t0 q1
q1  1 1 0 0 ...    --->   t1  1 1 ...         --->   t1 q0, t1 q1
...                       ...                        ...
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from eddyline.kernels.compiling import kernel, part
from eddyline.kernels.vectors import BLOCK, I32, I64, MASK, WORDS, lowest, pointer, splat

SLACK = 64  # places past the last pair that may be written to
# words between columns of 64 results: not a power of two, or one row's words share a cache set
COLUMN = BLOCK + 8
_BYTES = ir.VectorType(ir.IntType(8), 64)
_BITS = ir.VectorType(ir.IntType(1), 64)
_LANES = ir.VectorType(I32, 16)


def _constant(values):
    return ir.Constant(MASK, list(values))


def _exchange(builder, vectors, distance):
    """One round of the turning: bits of rows that are `distance` apart change places; eight rows to a vector."""
    # columns that a row without `distance` keeps
    low = sum(1 << bit for bit in range(64) if not bit & distance)
    rotate = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(MASK, [MASK, MASK, MASK]), "llvm.fshl.v8i64"
    )
    turned = []
    for place, vector in enumerate(vectors):
        rows = range(8 * place, 8 * place + 8)
        if distance >= WORDS:
            partner = vectors[place ^ (distance // WORDS)]
        else:
            lanes = ir.Constant(ir.VectorType(I32, WORDS), [lane ^ distance for lane in range(WORDS)])
            partner = builder.shuffle_vector(vector, ir.Constant(MASK, ir.Undefined), lanes)
        amount = _constant(64 - distance if row & distance else distance for row in rows)
        own = _constant(low ^ (2**64 - 1) if row & distance else low for row in rows)
        other = _constant(low if row & distance else low ^ (2**64 - 1) for row in rows)
        moved = builder.call(rotate, [partner, partner, amount])
        turned.append(builder.or_(builder.and_(vector, own), builder.and_(moved, other)))
    return turned


@intrinsic
def _turn(typing, words, at):
    """Turn the 64 words from `at` on as a square of bits: bit j of word i becomes bit i of word j."""
    signature = types.void(words, at)

    def generate(context, builder, signature, arguments):
        words, at = arguments
        first = pointer(context, builder, signature.args[0], words, at, MASK)
        places = [builder.gep(first, [ir.Constant(I64, place)]) for place in range(8)]
        vectors = [builder.load(place, align=8) for place in places]
        for distance in (32, 16, 8, 4, 2, 1):
            vectors = _exchange(builder, vectors, distance)
        for place, vector in zip(places, vectors, strict=True):
            builder.store(vector, place, align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _append(typing, word, base, numbers, at):
    """Write base + the position of every one of a word to numbers[at:], 16 at a time; give how many there were."""
    signature = types.int64(types.uint64, types.int32, numbers, at)

    def generate(context, builder, signature, arguments):
        word, base, numbers, at = arguments
        squeeze = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(_BYTES, [_BYTES, _BITS, _BYTES]),
            "llvm.experimental.vector.compress.v64i8",
        )
        count = cgutils.get_or_insert_function(builder.module, ir.FunctionType(I64, [I64]), "llvm.ctpop.i64")
        found = builder.call(count, [word])
        ladder = ir.Constant(_BYTES, list(range(64)))
        undefined = ir.Constant(_BYTES, ir.Undefined)
        positions = builder.call(squeeze, [ladder, builder.bitcast(word, _BITS), undefined])
        bases = splat(builder, base, _LANES)
        target = pointer(context, builder, signature.args[2], numbers, at, _LANES)

        def put(quarter):
            lanes = ir.Constant(ir.VectorType(I32, 16), list(range(16 * quarter, 16 * quarter + 16)))
            some = builder.zext(builder.shuffle_vector(positions, undefined, lanes), _LANES)
            place = builder.gep(target, [ir.Constant(I64, quarter)])
            builder.store(builder.add(some, bases), place, align=4)

        put(0)
        with builder.if_then(builder.icmp_unsigned(">", found, ir.Constant(I64, 16)), likely=False):
            for quarter in (1, 2, 3):
                put(quarter)
        return found

    return signature, generate


@intrinsic
def _stream16(typing, values, at, value):
    """Write a value to values[at:at + 16], which is a cache line, past the caches."""
    signature = types.void(values, at, types.int32)

    def generate(context, builder, signature, arguments):
        values, at, value = arguments
        place = pointer(context, builder, signature.args[0], values, at, _LANES)
        store = builder.store(splat(builder, value, _LANES), place, align=64)
        store.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(I32, 1)]))
        return context.get_dummy_value()

    return signature, generate


@part
def _fill(rows, start, end, number, streaming):
    """rows[start:end] = number"""
    if streaming:
        while start < end and start % 16:
            rows[start] = number
            start += 1
        while start + 16 <= end:
            _stream16(rows, start, number)
            start += 16
    for place in range(start, end):
        rows[place] = number


@part
def _turn_block(masks, at, order, columns, turned):
    """turned[COLUMN * column + tuple] = 64 results of a tuple, the results taken in the given order."""
    results = len(order)
    for column in range(columns):
        start = column * COLUMN
        for i in range(64):
            place = column * 64 + i
            if place < results:
                source = at + np.int64(order[place]) * WORDS
                for word in range(WORDS):
                    turned[start + word * 64 + i] = masks[source + word]
            else:
                for word in range(WORDS):
                    turned[start + word * 64 + i] = np.uint64(0)
        for word in range(WORDS):
            _turn(turned, start + word * 64)


@kernel
def all_pairs(masks, blocks, order, turned, rows, found, streaming):
    """All (row, place in the order) pairs of the blocks, by row, then by place; returns how many.

    masks: eight words for each block and result. order: results in the order wanted. turned: scratch of COLUMN
    words for each 64 results. rows, found: as long as there are pairs, and SLACK more. streaming: rows, which then
    start at a cache line, go past the caches.
    """
    results = len(order)
    columns = (results + 63) // 64
    total = np.int64(0)
    for block in range(blocks):
        _turn_block(masks, block * results * WORDS, order, columns, turned)
        for row in range(BLOCK):
            start = total
            for column in range(columns):
                bits = turned[column * COLUMN + row]
                if bits != np.uint64(0):
                    total += _append(bits, np.int32(column * 64), found, total)
            _fill(rows, start, total, np.int32(block * BLOCK + row), streaming)
    return total


@kernel
def all_lists(masks, blocks, order, turned, starts, found):
    """As `all_pairs`, with where each row's places start in place of the rows: starts is one longer than there are rows."""
    results = len(order)
    columns = (results + 63) // 64
    rows = len(starts) - 1
    total = np.int64(0)
    starts[0] = 0
    for block in range(blocks):
        _turn_block(masks, block * results * WORDS, order, columns, turned)
        for row in range(min(BLOCK, rows - block * BLOCK)):
            for column in range(columns):
                bits = turned[column * COLUMN + row]
                if bits != np.uint64(0):
                    total += _append(bits, np.int32(column * 64), found, total)
            starts[block * BLOCK + row + 1] = total


@kernel
def query_rows(masks, blocks, results, result, rows):
    """Rows of one result over all blocks, ascending; returns how many were written."""
    found = 0
    for block in range(blocks):
        at = (block * results + result) * WORDS
        for word in range(WORDS):
            bits = masks[at + word]
            base = block * BLOCK + word * 64
            while bits != np.uint64(0):
                rows[found] = base + lowest(bits)
                found += 1
                bits &= bits - np.uint64(1)
    return found
