"""Row-wise evaluation: each tuple's GRB, 512 queries at a time, as the AND of the qrb of its regions.

    table, one block of 512 queries        a tuple's regions, in sequence       GRB (one vector)
    region 0   1 0 1 1 ...                 A1: 3    A2: 0    A3: 2       --->   and, and, stop when it is zero
    region 1   0 0 1 1 ...

The table holds block after block, so that one block's regions stay in cache while a chunk of tuples goes by.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from eddyline.kernels.compiling import kernel
from eddyline.kernels.vectors import I64 as _I64
from eddyline.kernels.vectors import MASK as _LANES
from eddyline.kernels.vectors import WORDS, population

CHUNK = 512


def _element(context, builder, kind, value, index, to=None):
    """Address of value[index], as a pointer to another type if wanted."""
    array = context.make_array(kind)(context, builder, value)
    place = builder.gep(array.data, [index])
    return place if to is None else builder.bitcast(place, to.as_pointer())


def _is_zero(builder, vector):
    """Whether all lanes are zero."""
    lanes = builder.icmp_unsigned("!=", vector, ir.Constant(_LANES, [0] * WORDS))
    return builder.icmp_unsigned(
        "==", builder.bitcast(lanes, ir.IntType(WORDS)), ir.Constant(ir.IntType(WORDS), 0)
    )


def _visiting(immediate):
    """Code for grb[at:at + 8] = AND over the positions; gives the position of the drop + 1, or count + 1 for none.

    A loop of its own, since numba has no vector values: the GRB stays in one register.
    """

    def make(typing, *kinds):
        signature = types.int64(*kinds)

        def generate(context, builder, signature, arguments):
            table, base, starts, ids, row, stride, count, grb, at = arguments
            kinds = signature.args
            lanes = cgutils.alloca_once_value(builder, ir.Constant(_LANES, [-1] * WORDS))
            dropped = cgutils.alloca_once_value(builder, builder.add(count, ir.Constant(_I64, 1)))
            builder.store(ir.Constant(_LANES, [-1] * WORDS), lanes)
            builder.store(builder.add(count, ir.Constant(_I64, 1)), dropped)
            with cgutils.for_range(builder, count) as loop:
                place = builder.add(row, builder.mul(loop.index, stride))
                region = builder.zext(builder.load(_element(context, builder, kinds[3], ids, place)), _I64)
                start = builder.load(_element(context, builder, kinds[2], starts, loop.index))
                words = builder.shl(builder.add(start, region), ir.Constant(_I64, 3))
                source = _element(context, builder, kinds[0], table, builder.add(base, words), _LANES)
                value = builder.and_(builder.load(lanes), builder.load(source, align=8))
                builder.store(value, lanes)
                if immediate:
                    with builder.if_then(_is_zero(builder, value), likely=False):
                        builder.store(builder.add(loop.index, ir.Constant(_I64, 1)), dropped)
                        loop.do_break()
            value = builder.load(lanes)
            if not immediate:
                result = builder.select(_is_zero(builder, value), count, builder.load(dropped))
                builder.store(result, dropped)
            builder.store(value, _element(context, builder, kinds[7], grb, at, _LANES), align=8)
            return builder.load(dropped)

        return signature, generate

    return make


_make_immediate, _make_delayed = _visiting(True), _visiting(False)


@intrinsic
def _visit(typing, table, base, starts, ids, row, stride, count, grb, at):
    return _make_immediate(typing, table, base, starts, ids, row, stride, count, grb, at)


@intrinsic
def _visit_all(typing, table, base, starts, ids, row, stride, count, grb, at):
    return _make_delayed(typing, table, base, starts, ids, row, stride, count, grb, at)


@kernel
def surviving(table, regions, blocks, alive, starts, ids, stride, rows, most, kept, tally, scratch):
    """Rows whose GRB is not zero after the given positions.

    table: qrb, (blocks, regions, 8). alive: per region whether its qrb has any one. starts: per position the first
    region of its subject. ids: region ids, one row of `stride` for each position. Writes kept and adds to tally, per
    position, the tuples dropped there; returns how many were kept, or -1 if of the first chunk more than `most` were.
    """
    count = np.int64(len(starts))
    found = 0
    for row in range(rows):
        if row == CHUNK and found > most:
            return -1
        if not alive[starts[0] + np.int64(ids[row])]:
            tally[0] += 1
            continue
        last = np.int64(1)
        for block in range(blocks):
            base = np.int64(block) * regions * WORDS
            reached = _visit(table, base, starts, ids, np.int64(row), stride, count, scratch, np.int64(0))
            last = max(last, reached)
            if reached > count:
                break
        if last > count:
            kept[found] = row
            found += 1
        else:
            tally[last - 1] += 1
    return found


@kernel
def lineages(
    table, regions, blocks, alive, starts, ids, stride, rows, immediate, grbs, kept, tally, places, lasts
):
    """The GRB of every row, those that are zero left out; arguments as for `surviving`.

    Writes grbs, (rows, blocks, 8), and kept, the row of each, and adds to tally; returns how many were written.
    places, lasts: scratch for one chunk.
    """
    count = np.int64(len(starts))
    words = np.int64(blocks) * WORDS
    found = np.int64(0)
    for first in range(0, rows, CHUNK):
        here = 0
        for row in range(first, min(first + CHUNK, rows)):
            if immediate and not alive[starts[0] + np.int64(ids[row])]:
                tally[0] += 1
            else:
                places[here], lasts[here] = row, 1
                here += 1
        for block in range(blocks):
            base = np.int64(block) * regions * WORDS
            at = found * words + np.int64(block) * WORDS
            if immediate:
                for i in range(here):
                    reached = _visit(table, base, starts, ids, places[i], stride, count, grbs, at + i * words)
                    lasts[i] = max(lasts[i], reached)
            else:
                for i in range(here):
                    reached = _visit_all(
                        table, base, starts, ids, places[i], stride, count, grbs, at + i * words
                    )
                    lasts[i] = max(lasts[i], reached)
        at = found * words
        for i in range(here):
            if lasts[i] > count:
                if found * words != at + i * words:
                    for word in range(words):
                        grbs[found * words + word] = grbs[at + i * words + word]
                kept[found] = places[i]
                found += 1
            else:
                tally[lasts[i] - 1] += 1
    return found


@intrinsic
def _narrow(typing, table, source, grb, at):
    """Set grb[at:at + 8] to its AND with table[source:source + 8]; gives whether anything is left."""
    signature = types.boolean(table, source, grb, at)

    def generate(context, builder, signature, arguments):
        table, source, grb, at = arguments
        target = _element(context, builder, signature.args[2], grb, at, _LANES)
        other = _element(context, builder, signature.args[0], table, source, _LANES)
        value = builder.and_(builder.load(target, align=8), builder.load(other, align=8))
        builder.store(value, target, align=8)
        return builder.not_(_is_zero(builder, value))

    return signature, generate


@kernel
def follow(
    table, regions, blocks, alive, order, starts, arrows, ids, stride, rows, immediate, grbs, kept, tally, geb
):
    """As `lineages`, along a hybrid-sequence: from each region to where its micro-arrow leads, else to the next of `order`.

    order: subjects of the macro-sequence. starts: per subject its first region. arrows: per region a subject of `order`,
    or -1. ids: one row of `stride` for each subject. tally: tuples dropped at their first visit, second and so on.
    geb: scratch, an entry a subject, which has been evaluated for row r if it is r + 1 (no bits to clear for each row).
    """
    count = np.int64(len(order))
    words = np.int64(blocks) * WORDS
    found = np.int64(0)
    for row in range(rows):
        at = found * words
        for word in range(words):
            grbs[at + word] = ~np.uint64(0)
        visits, following, subject = np.int64(0), np.int64(0), order[0]
        while True:
            geb[subject] = row + 1
            region = starts[subject] + np.int64(ids[subject * stride + row])
            visits += 1
            left = False
            if alive[region]:
                for block in range(blocks):
                    source = (np.int64(block) * regions + region) * WORDS
                    left |= _narrow(table, source, grbs, at + np.int64(block) * WORDS)
            elif not immediate:
                for word in range(words):
                    grbs[at + word] = np.uint64(0)
            if visits == count or (immediate and not left):
                break
            subject = arrows[region]
            if subject < 0 or geb[subject] == row + 1:
                while geb[order[following]] == row + 1:
                    following += 1
                subject = order[following]
        if left:
            kept[found] = row
            found += 1
        else:
            tally[visits - 1] += 1
    return found


@kernel
def ones(grbs):
    """Number of ones in all words."""
    total = np.int64(0)
    for i in range(len(grbs)):
        total += population(grbs[i])
    return total


@kernel
def add_counts(grbs, rows, words, counts):
    """counts[q] += number of the rows whose bit q is one."""
    for row in range(rows):
        for word in range(words):
            bits = grbs[row * words + word]
            while bits != np.uint64(0):
                low = bits & (~bits + np.uint64(1))
                counts[word * 64 + population(low - np.uint64(1))] += 1
                bits ^= low


@kernel
def all_pairs(grbs, kept, words, numbers, rows, queries):
    """All (row, query number) pairs, by row; returns how many were written."""
    found = 0
    for i in range(len(kept)):
        for word in range(words):
            bits = grbs[i * words + word]
            while bits != np.uint64(0):
                low = bits & (~bits + np.uint64(1))
                rows[found] = kept[i]
                queries[found] = numbers[word * 64 + population(low - np.uint64(1))]
                found += 1
                bits ^= low
    return found
