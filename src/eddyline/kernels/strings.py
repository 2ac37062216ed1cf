"""Strings to the numbers of equal constants: a hash table that holds the ends of short strings in its slots.

    constant     'product 017'        length <= 8: head = tail = the bytes, zeros behind
    slot         head  'product '     length <= 16: head and tail overlap or meet, and with the length say it all
                 tail  'duct 017'     longer: what lies between is compared with the constant itself
                 length << 32 | number + 1          (0: the slot is empty)

Two loads of eight bytes, one multiplication each and one slot of 32 bytes are all that most values need.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

BATCH = 256  # strings whose hashes are worked out before the slots are looked at

_U64 = np.uint64
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_FACTOR, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_NUMBER = np.uint64(0xFFFFFFFF)
_SLOT, _TAIL, _WHOLE = np.uint64(4), np.uint64(1), np.uint64(2)  # words; a slot never crosses a cache line


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


@njit(cache=True, nogil=True)
def _mix(head, tail, length):
    mixed = (head ^ length) * _FACTOR + tail * _OTHER
    return (mixed ^ (mixed >> _U64(32))) * _FACTOR


@njit(cache=True, nogil=True)
def _hash(data, at, length, head, tail):
    mixed = _mix(head, tail, _U64(length))
    for i in range(8, length - 8, 8):
        mixed = ((mixed ^ (mixed >> _U64(29))) + _load64(data, at + i)) * _FACTOR
    return mixed


@njit(cache=True, nogil=True)
def _short(data, at, length):
    """A string of at most eight bytes as a number, wherever it lies."""
    word = _U64(0)
    for i in range(length):
        word |= _U64(data[at + i]) << _U64(8 * i)
    return word


@njit(cache=True, nogil=True)
def _ends(data, at, length):
    """The first and the last eight bytes of a string; both are all of it if it is shorter."""
    if length > 8:
        return _load64(data, at), _load64(data, at + length - 8)
    word = _short(data, at, length)
    return word, word


@njit(cache=True, nogil=True)
def _same_middle(data, at, other, other_at, length):
    """Whether two strings of one length, equal in their first and last eight bytes, are equal."""
    difference = _U64(0)
    for i in range(8, length - 8, 8):
        difference |= _load64(data, at + i) ^ _load64(other, other_at + i)
    return difference == _U64(0)


@njit(cache=True, nogil=True)
def build(data, offsets, shift, slots):
    """Put distinct strings into slots (all zero before), of which there are 2 ** (64 - shift)."""
    mask = _U64(len(slots)) // _SLOT - _U64(1)
    for number in range(len(offsets) - 1):
        at = np.int64(offsets[number])
        length = np.int64(offsets[number + 1]) - at
        head, tail = _ends(data, at, length)
        slot = _hash(data, at, length, head, tail) >> _U64(shift)
        while slots[_SLOT * slot + _WHOLE]:
            slot = (slot + _U64(1)) & mask
        slots[_SLOT * slot], slots[_SLOT * slot + _TAIL] = head, tail
        slots[_SLOT * slot + _WHOLE] = _U64(length) << _U64(32) | _U64(number + 1)


@njit(cache=True, nogil=True)
def _search(data, at, length, head, tail, place, slots, constants, constant_offsets):
    """The number of the constant that equals a string with these ends, or -1; `place` is the first slot's."""
    mask = _U64(len(slots)) - _U64(1)
    whole = slots[place + _WHOLE]
    while whole != _U64(0):
        if slots[place] == head and slots[place + _TAIL] == tail and whole >> _U64(32) == _U64(length):
            number = np.int64(whole & _NUMBER) - 1
            if length <= 16 or _same_middle(data, at, constants, np.int64(constant_offsets[number]), length):
                return number
        place = (place + _SLOT) & mask
        whole = slots[place + _WHOLE]
    return np.int64(-1)


@njit(cache=True, nogil=True)
def _find_fast(data, offsets, begin, end, shift, slots, step, before, missing, found, ends, places, again):
    for i in range(begin, end):
        at = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - at
        short = min(length, 8)
        mask = _ALL >> ((_U64(64) - _U64(8) * _U64(short)) & _U64(63)) if length else _U64(0)
        head, tail = _load64(data, at) & mask, _load64(data, at + length - short) & mask
        j = _U64(i - begin)
        ends[0, j], ends[1, j] = head, tail
        places[j] = _SLOT * (_mix(head, tail, _U64(length)) >> _U64(shift))
    repeats = _U64(0)
    for i in range(begin, end):
        length = _U64(offsets[i + 1] - offsets[i])
        j = _U64(i - begin)
        place = places[j]
        whole = slots[place + _WHOLE]
        same = (
            (slots[place] == ends[0, j])
            & (slots[place + _TAIL] == ends[1, j])
            & (whole >> _U64(32) == length)
        )
        taken = whole != _U64(0)  # an empty slot looks like the empty string
        found[i] = step * np.int64(whole & _NUMBER) + before if same & taken else missing
        again[repeats] = i
        repeats += _U64((taken & (not same)) | (length > _U64(16)))
    return np.int64(repeats)


@njit(cache=True, nogil=True)
def find(data, offsets, shift, slots, constants, constant_offsets, step, first, missing, found):
    """found[i] = step * (number of the constant that equals string i) + first, or `missing`.

    Strings so near the end of the data that eight bytes cannot be read, those whose slot is taken by another one, and
    long ones are looked at again one by one; all others go through without a branch that depends on them.
    """
    ends, places, again = (
        np.empty((2, BATCH), np.uint64),
        np.empty(BATCH, np.uint64),
        np.empty(BATCH, np.int64),
    )
    count = len(found)
    fast = count
    while fast > 0 and offsets[fast - 1] > len(data) - 8:
        fast -= 1
    for begin in range(0, fast, BATCH):
        end = min(begin + BATCH, fast)
        repeats = _find_fast(
            data, offsets, begin, end, shift, slots, step, first - step, missing, found, ends, places, again
        )
        for r in range(repeats):
            i = again[r]
            at = np.int64(offsets[i])
            j = i - begin
            length = np.int64(offsets[i + 1]) - at
            place = (
                places[j]
                if length <= 16
                else _SLOT * (_hash(data, at, length, ends[0, j], ends[1, j]) >> _U64(shift))
            )
            number = _search(
                data, at, length, ends[0, j], ends[1, j], place, slots, constants, constant_offsets
            )
            found[i] = step * number + first if number >= 0 else missing
    for i in range(fast, count):
        at = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - at
        head, tail = _ends(data, at, length)
        place = _SLOT * (_hash(data, at, length, head, tail) >> _U64(shift))
        number = _search(data, at, length, head, tail, place, slots, constants, constant_offsets)
        found[i] = step * number + first if number >= 0 else missing
