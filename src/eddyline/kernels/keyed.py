"""Keyed evaluation: rows that may match are picked out first, then the entries of their key are compared.

    every row       places of its key values  --->  its key, if any entry could hold   (screen_*; combinations.py)
    picked rows     entries of the key, those left out whose bounds are above the row  (collect)

A *map* is a hash table from 64-bit keys to numbers: slot s is the key at 2 * s and its number + 1 behind it, 0 if the
slot is empty. Lengths are powers of two; `shift` is 64 less the logarithm. `factor`, an odd one, says where keys belong.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from eddyline.kernels.compiling import kernel, part

FAN = 8  # entries, or minima of the level below, that a minimum stands for
_LOG = 3

_U64 = np.uint64
_WHOLE_GROUP = np.uint64((1 << FAN) - 1)


@part
def _place(key, factor, shift):
    return ((key ^ (key >> _U64(32))) * factor) >> _U64(shift)


@kernel
def build_map(keys, factor, shift, farthest, slots):
    """Put distinct keys into the slots of a map, all zero before; key i has the number i.

    False, with only some of them put, if one comes to lie more than `farthest` slots behind its own.
    """
    mask = _U64(len(slots) - 1)
    for number in range(len(keys)):
        key, steps = _U64(keys[number]), 0
        at = _U64(2) * _place(key, factor, shift)
        while slots[at + _U64(1)]:
            at, steps = (at + _U64(2)) & mask, steps + 1
        if steps > farthest:
            return False
        slots[at], slots[at + _U64(1)] = key, _U64(number + 1)
    return True


@part
def number_of(key, factor, shift, slots):
    """The number of a key, or -1."""
    mask = _U64(len(slots) - 1)
    at = _U64(2) * _place(key, factor, shift)
    while slots[at + _U64(1)]:
        if slots[at] == key:
            return np.int64(slots[at + _U64(1)]) - 1
        at = (at + _U64(2)) & mask
    return np.int64(-1)


@kernel
def look_up(keys, factor, shift, slots, missing, numbers):
    """numbers[i] = number of keys[i], or `missing`."""
    for i in range(len(keys)):
        number = number_of(_U64(keys[i]), factor, shift, slots)
        numbers[i] = number if number >= 0 else missing


@kernel
def remap(indices, table, out):
    """out[i] = table[indices[i]]"""
    for i in range(len(indices)):
        out[i] = table[_U64(indices[i])]


@kernel
def screen_bounds(keys, leasts, first, flip, second, other, picked):
    """Write the rows that reach the least first and second bound of their key; returns how many."""
    found = _U64(0)
    for row in range(len(keys)):
        at = _U64(2) * _U64(keys[row])
        picked[found] = row
        found += _U64((leasts[at] <= (first[row] ^ flip)) & (leasts[at + _U64(1)] <= (second[row] ^ other)))
    return np.int64(found)


@intrinsic
def _reached(typing, bounds, at, value):
    """Eight bits: which of bounds[at:at + 8] are not above the value."""
    signature = types.uint64(bounds, types.int64, types.int64)
    vector = ir.VectorType(ir.IntType(64), FAN)

    def generate(context, builder, signature, arguments):
        bounds, at, value = arguments
        array = context.make_array(signature.args[0])(context, builder, bounds)
        place = builder.bitcast(builder.gep(array.data, [at]), vector.as_pointer())
        zero = ir.Constant(ir.IntType(32), 0)
        lane = builder.insert_element(ir.Constant(vector, ir.Undefined), value, zero)
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), FAN), [0] * FAN)
        values = builder.shuffle_vector(lane, ir.Constant(vector, ir.Undefined), lanes)
        inside = builder.icmp_signed("<=", builder.load(place, align=8), values)
        return builder.zext(builder.bitcast(inside, ir.IntType(FAN)), ir.IntType(64))

    return signature, generate


@part
def _skip(at, value, minima, levels):
    """How many entries from `at` on have a second bound above the value, as far as aligned groups of them tell."""
    level = 0
    while level + 1 < len(levels) and not (at >> (_LOG * level)) & (FAN - 1):
        if minima[levels[level] + (at >> (_LOG * (level + 1)))] <= value:
            break
        level += 1
    return 1 << (_LOG * level) if level else 0


@kernel
def collect(rows, keys, values, starts, bounds, results, minima, levels, begin, filled, row_out, number_out):
    """Add the pairs of the picked rows from `begin` on to the `filled` ones, until the output is full.

    rows, keys: picked rows and their keys. values: (picked, columns), to be compared with bounds, which has a stretch of
    entries and FAN more for each column. Returns how many pairs there are and the next picked row; the last FAN places
    of the output are never filled.
    """
    columns = values.shape[1]
    stretch = len(bounds) // columns
    room = len(row_out) - FAN
    found = filled
    for i in range(begin, len(rows)):
        before = found
        at, end = np.int64(starts[keys[i]]), np.int64(starts[keys[i] + 1])
        first, second = values[i, 0], values[i, 1]
        while at < end and bounds[at] <= first:
            skipped = _skip(at, second, minima, levels)
            if skipped:
                at += skipped
                continue
            stop = min((at | (FAN - 1)) + 1, end)
            if found > room:
                return before, i
            inside = _reached(bounds, at, first) & _reached(bounds, stretch + at, second)
            for column in range(2, columns):
                inside &= _reached(bounds, column * stretch + at, values[i, column])
            if inside == _WHOLE_GROUP and stop - at == FAN:
                for lane in range(FAN):
                    number_out[found + lane] = results[at + lane]
                found += FAN
            else:
                for entry in range(at, stop):
                    number_out[found] = results[entry]
                    found += np.int64(inside & _U64(1))
                    inside >>= _U64(1)
            at = stop
        for pair in range(before, found):
            row_out[pair] = rows[i]
    return found, len(rows)


@kernel
def collect_all(rows, keys, starts, results, begin, filled, row_out, number_out):
    """As `collect`, where entries have no bounds: all of a key's match."""
    found = filled
    for i in range(begin, len(rows)):
        at, end = np.int64(starts[keys[i]]), np.int64(starts[keys[i] + 1])
        if found + (end - at) > len(row_out):
            return found, i
        for entry in range(at, end):
            row_out[found], number_out[found] = rows[i], results[entry]
            found += 1
    return found, len(rows)
