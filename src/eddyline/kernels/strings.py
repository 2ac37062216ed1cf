"""Strings to the numbers of equal constants: a perfect hash table, whose entries hold the ends of strings.

    constant     'product 017'        length <= 8: head = tail = the bytes, zeros behind
    entry        head  'product '     length <= 16: head and tail overlap or meet, and with the length say it all
                 tail  'duct 017'     longer: what lies between is compared with the constant itself
                 length << 32 | answer

    hash  --low bits-->  bucket  --its factor * hash, high bits-->  slot  ---->  the only entry that can be equal

Factors are chosen so that no two constants share a slot: a string is compared with one entry, and nothing in the loop
depends on what is found. Slots without a constant lead to the last entry, whose length no string has.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from eddyline.kernels.compiling import kernel, part

WORDS = 3  # of an entry
SHORT = 16  # bytes of the longest string that its ends say all about
TRIES = 1 << 16  # factors for one bucket before another seed is better

_U64 = np.uint64
_FACTOR, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)


@intrinsic
def _load64(typing, data, at):
    """The eight bytes data[at:at + 8] as a number, the first one lowest, wherever they lie."""
    signature = types.uint64(data, types.int64)

    def generate(context, builder, signature, arguments):
        data, at = arguments
        array = context.make_array(signature.args[0])(context, builder, data)
        place = builder.bitcast(builder.gep(array.data, [at]), ir.IntType(64).as_pointer())
        return builder.load(place, align=1)

    return signature, generate


@intrinsic
def fold(typing, one, other):
    """Both halves of the product of two words, one over the other."""
    signature = types.uint64(types.uint64, types.uint64)

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        high = builder.lshr(product, ir.Constant(wide, 64))
        return builder.trunc(builder.xor(product, high), ir.IntType(64))

    return signature, generate


@part
def _hash_ends(head, tail, length, seed):
    """Different for different strings, but for those made to defeat the seed.

    Head and tail of a short string are equal. Were they treated alike, two words that differ by their length, as '1.5'
    and '2.5' do (by 3), would exchange the factors and have one hash under every seed.
    """
    return fold(head ^ length ^ seed, (tail << _U64(32) | tail >> _U64(32)) - seed)


@part
def hash_bytes(data, at, length, head, tail, seed):
    """A hash of the string data[at:at + length], whose ends are known."""
    mixed = _hash_ends(head, tail, _U64(length), seed)
    for i in range(8, length - 8, 8):
        mixed = fold(mixed ^ _load64(data, at + i), _FACTOR)
    return mixed


@part
def ends(data, at, length):
    """The first and the last eight bytes of a string, wherever it lies; both are all of it if it is shorter."""
    if length > 8:
        return _load64(data, at), _load64(data, at + length - 8)
    word = _U64(0)
    for i in range(length):
        word |= _U64(data[at + i]) << _U64(8 * i)
    return word, word


@part
def _same_middle(data, at, other, other_at, length):
    """Whether two strings of one length, equal in their first and last eight bytes, are equal."""
    difference = _U64(0)
    for i in range(8, length - 8, 8):
        difference |= _load64(data, at + i) ^ _load64(other, other_at + i)
    return difference == _U64(0)


@kernel
def fill(data, offsets, seed, step, first, entries, hashes):
    """Write the entry and the hash of every string; string i is answered by step * i + first."""
    for i in range(len(hashes)):
        at = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - at
        head, tail = ends(data, at, length)
        entry = WORDS * i
        entries[entry], entries[entry + 1] = head, tail
        entries[entry + 2] = _U64(length) << _U64(32) | _U64(step * i + first)
        hashes[i] = hash_bytes(data, at, length, head, tail, seed)


@part
def _settle(hashes, members, factor, shift, empty, slots):
    """Give every member of a bucket a slot of its own, or none of them any; returns whether that went well."""
    for i in range(len(members)):
        slot = (hashes[members[i]] * factor) >> shift
        if slots[slot] != empty:
            for j in range(i):
                slots[(hashes[members[j]] * factor) >> shift] = empty
            return False
        slots[slot] = members[i]
    return True


@kernel
def build(hashes, members, starts, order, shift, empty, factors, slots):
    """Find a factor for every bucket; False if one has none.

    members[starts[b]:starts[b + 1]] are the strings of bucket b. order: buckets, large ones first. slots: 2 ** (64 -
    shift) of them, all `empty` before; the number of the string is written.
    """
    for bucket in order:
        own = members[starts[bucket] : starts[bucket + 1]]
        factor, tries = _OTHER, 0
        while not _settle(hashes, own, factor, _U64(shift), empty, slots):
            factor, tries = factor * _FACTOR + _OTHER | _U64(1), tries + 1
            if tries == TRIES:
                return False
        factors[bucket] = factor
    return True


@part
def _number(mixed, shift, factors, slots):
    """The only constant that a string with this hash can be equal to."""
    return _U64(slots[(mixed * factors[mixed & _U64(len(factors) - 1)]) >> shift])


@part
def _answer(head, tail, length, number, entries, missing):
    """The answer of a constant if it has these ends and this length."""
    entry = _U64(WORDS) * number
    whole = entries[entry + _U64(2)]
    differ = (entries[entry] ^ head) | (entries[entry + _U64(1)] ^ tail) | ((whole >> _U64(32)) ^ length)
    return missing if differ else np.uint32(whole)


@part
def _find(head, tail, length, seed, shift, factors, slots, entries, missing):
    number = _number(_hash_ends(head, tail, length, seed), shift, factors, slots)
    return _answer(head, tail, length, number, entries, missing)


@kernel
def find(data, offsets, seed, shift, factors, slots, entries, missing, found):
    """found[i] = answer of the constant that equals string i, or `missing`; returns the length of the longest string.

    Only strings of up to SHORT bytes are answered rightly, see `find_long`. Those so near the end of the data that eight
    bytes cannot be read are gone through last.
    """
    seed, shift, missing = _U64(seed), _U64(shift), np.uint32(missing)
    longest, fast = np.int64(0), len(found)
    while fast > 0 and offsets[fast - 1] > len(data) - 8:
        fast -= 1
    for i in range(fast):
        at = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - at
        longest = max(longest, length)
        short = min(length, 8)
        mask = _MASKS[_U64(short)]
        head, tail = _load64(data, at) & mask, _load64(data, at + length - short) & mask
        found[i] = _find(head, tail, _U64(length), seed, shift, factors, slots, entries, missing)
    for i in range(fast, len(found)):
        at = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - at
        longest = max(longest, length)
        head, tail = ends(data, at, length)
        found[i] = _find(head, tail, _U64(length), seed, shift, factors, slots, entries, missing)
    return longest


@kernel
def find_long(
    data, offsets, seed, shift, factors, slots, entries, missing, constants, constant_offsets, found
):
    """As `find`, for the strings of more than SHORT bytes alone."""
    seed, shift, missing = _U64(seed), _U64(shift), np.uint32(missing)
    for i in range(len(found)):
        at = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - at
        if length > SHORT:
            head, tail = ends(data, at, length)
            number = _number(hash_bytes(data, at, length, head, tail, seed), shift, factors, slots)
            answer = _answer(head, tail, _U64(length), number, entries, missing)
            if answer != missing:
                same = _same_middle(data, at, constants, np.int64(constant_offsets[number]), length)
                answer = answer if same else missing
            found[i] = answer
