"""Pattern matching over a whole Arrow string buffer: grams filter places, places are verified.

    data     ...c:\\windows\\system32\\cmd.exe...      every place: hash of 4 bytes --> one bit of the filter
                          ^ bit set                 few places: bucket of patterns with such a gram --> compare

A *code* is a pattern as bytes: literals in UTF-8, ANY for `%` and ONE for `_`, two bytes that UTF-8 never uses.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from eddyline.kernels.compiling import kernel, part

ANY, ONE = 0xFE, 0xFF
CONTAINS, STARTS, ENDS, EQUALS, GENERAL = range(5)
MULTIPLIER = 0x9E3779B97F4A7C15
STRETCH = 4096

_U64 = np.uint64
_FACTOR = np.uint64(MULTIPLIER)


@intrinsic
def _load32(typing, data, at):
    """The four bytes data[at:at + 4] as a number, the first one lowest, wherever they lie."""
    signature = types.uint64(data, at)

    def generate(context, builder, signature, arguments):
        data, at = arguments
        array = context.make_array(signature.args[0])(context, builder, data)
        place = builder.bitcast(builder.gep(array.data, [at]), ir.IntType(32).as_pointer())
        return builder.zext(builder.load(place, align=1), ir.IntType(64))

    return signature, generate


@part
def _gram(data, at, width, end, mask):
    """The gram at a place; what would lie past the end is not read."""
    if at + 4 <= end:
        return _load32(data, at) & mask
    gram = _U64(0)
    for i in range(min(width, end - at)):
        gram |= _U64(data[at + i]) << _U64(8 * i)
    return gram


@part
def _candidates(data, first, stop, end, width, mask, shift, bits, places):
    """Write to `places` where, from first to stop, the filter has the gram's bit set; returns how many."""
    found = 0
    fast = min(stop, end - 3)
    for at in range(first, fast):
        key = ((_load32(data, at) & mask) * _FACTOR) >> shift
        places[found] = at
        found += np.int64((bits[key >> _U64(6)] >> (key & _U64(63))) & _U64(1))
    for at in range(max(first, fast), stop):
        key = (_gram(data, at, width, end, mask) * _FACTOR) >> shift
        places[found] = at
        found += np.int64((bits[key >> _U64(6)] >> (key & _U64(63))) & _U64(1))
    return found


@part
def _like(data, start, end, codes, first, last):
    """Whether data[start:end] as a whole is what codes[first:last] describes."""
    at, code = start, first
    retry_at, retry_code = np.int64(-1), np.int64(-1)
    while at < end:
        if code < last:
            wanted = codes[code]
            if wanted == ANY:
                code += 1
                if code == last:
                    return True
                retry_at, retry_code = at, code
                continue
            if wanted == ONE:
                code += 1
                at += 1
                while at < end and data[at] & 0xC0 == 0x80:
                    at += 1
                continue
            if wanted == data[at]:
                code += 1
                at += 1
                continue
        if retry_code < 0:
            return False
        retry_at += 1
        while retry_at < end and data[retry_at] & 0xC0 == 0x80:
            retry_at += 1
        at, code = retry_at, retry_code
    while code < last and codes[code] == ANY:
        code += 1
    return code == last


@part
def _fits(data, at, start, end, kind, codes, literal, length):
    """Whether the literal stands at a place of the row data[start:end], and where its kind wants it."""
    if at < start or at + length > end:
        return False
    if kind in (STARTS, EQUALS) and at != start:
        return False
    if kind in (ENDS, EQUALS) and at + length != end:
        return False
    same = 0
    while same < length and data[at + same] == codes[literal + same]:
        same += 1
    return same == length


@kernel
def find(data, offsets, valid, valid_at, first, table, codes, code_starts, last, places, rows, patterns):
    """Pairs of one table from byte `first` on, until the output may overflow, rows ascending.

    data: the bytes of all rows; row r is data[offsets[r]:offsets[r + 1]]. valid: bitmap of rows that are not NULL, from
    bit valid_at on, or empty. table: the fields of `index.patterns.GramTable`. last[p]: the row in which pattern p was
    decided last. places: scratch for STRETCH places. Writes last, rows and patterns; returns how many pairs and the
    byte to go on from, which is the end of the data when all is done.
    """
    width, shift, bucket_shift, bits, starts, grams, befores, literals, lengths, kinds, numbers = table
    mask = (_U64(1) << _U64(8 * width)) - _U64(1)
    end = np.int64(offsets[len(offsets) - 1])
    room = len(rows)
    found = 0
    row = np.searchsorted(offsets, first, side="right") - 1
    while first < end:
        stop = min(first + STRETCH, end)
        count = _candidates(data, first, stop, end, width, mask, _U64(shift), bits, places)
        for place in range(count):
            at = places[place]
            gram = _gram(data, at, width, end, mask)
            bucket = ((gram * _FACTOR) >> _U64(shift)) >> _U64(bucket_shift)
            low, high = starts[bucket], starts[bucket + _U64(1)]
            if found + high - low > room:
                return found, at
            for entry in range(low, high):
                if grams[entry] != gram:
                    continue
                while np.int64(offsets[row + 1]) <= at:
                    row += 1
                number = numbers[entry]
                if last[number] == row:
                    continue
                row_start, row_end = np.int64(offsets[row]), np.int64(offsets[row + 1])
                kind = kinds[entry]
                begin = at - np.int64(befores[entry])
                if not _fits(data, begin, row_start, row_end, kind, codes, literals[entry], lengths[entry]):
                    continue
                if len(valid) and not (valid[(valid_at + row) >> 3] >> ((valid_at + row) & 7)) & 1:
                    continue
                last[number] = row
                if kind == GENERAL and not _like(
                    data, row_start, row_end, codes, code_starts[number], code_starts[number + 1]
                ):
                    continue
                rows[found] = row
                patterns[found] = number
                found += 1
        first = stop
    return found, end
