"""Regular expressions as automata, run over a whole Arrow string buffer.

States of the deterministic automaton are sets of positions of `java_regex.automaton.Automaton`. As many as there is room
for are made beforehand; where a text leads beyond them, sets are computed character by character until one of them is a
known state again. Nothing is changed by a search, so threads share an automaton.

    state     0 DEAD: no match can come   1 MATCH: found   2 UNKNOWN: not made   3 the start   4 ...
    moves[state * width + class] = state * width; class `width - 1` is the end of the text

A pattern that is bound to the end of the text is read from there, backwards, and is dead or found after a few characters.

Before that, texts without some neighbouring bytes that every match has (`java_regex.required`) are sifted out, 64 bytes at a
time; that takes about an eighth of the time of the automaton, whose every step waits for the one before.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from eddyline.kernels.compiling import kernel, part

DEAD, MATCH, UNKNOWN, START = range(4)
HOME = START  # whoever uses the states may put another one into this place
SIFTED = 256  # rows that are sifted at a time: their texts are still in the cache when they are searched
PAUSE = 16  # times as many rows that are not sifted, once most were left over: so a try costs next to nothing
_BLOCK = 64  # bytes that are looked at together
_U64 = np.uint64
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@part
def _step(current, following, before, after, automaton):
    """Write the set after one more character; returns whether a match ends before it, and the edges looked at.

    automaton: the fields of `Automaton` from edge_starts to cautious. after: the class of the character, or of the end.
    """
    edge_starts, targets, edge_guards, accepts, members, guards, _, afters, restarts, _ = automaton
    is_end = after == members.shape[1]
    kind = afters[after]
    for word in range(len(following)):
        following[word] = 0
    looked = 0
    for word in range(len(current)):
        rest = current[word]
        position = word * 64
        while rest:
            if not rest & _U64(0xFF):
                rest >>= _U64(8)
                position += 8
                continue
            if rest & _U64(1):
                accept = accepts[position]
                if accept >= 0 and guards[accept, before, kind]:
                    return True, looked
                if not is_end:
                    looked += edge_starts[position + 1] - edge_starts[position]
                    for edge in range(edge_starts[position], edge_starts[position + 1]):
                        target = targets[edge]
                        if members[target, after] and guards[edge_guards[edge], before, kind]:
                            following[target >> 6] |= _U64(1) << _U64(target & 63)
            rest >>= _U64(1)
            position += 1
    if not is_end and restarts[0]:
        following[0] |= _U64(1)
    return False, looked


@part
def _is_empty(words):
    together = _U64(0)
    for word in words:
        together |= word
    return together == 0


@part
def _before(following, after, automaton):
    """What stands before a set, or 0 if nobody asks: sets that only differ in that are one state."""
    cautious = automaton[9]
    asked = _U64(0)
    for word in range(len(following)):
        asked |= following[word] & cautious[word]
    return automaton[6][after] if asked else np.int32(0)


@part
def _slot(sets, befores, slots, wanted, before):
    """Where the hash table has a state, or would have it."""
    mixed = _U64(before + 1) * _FACTOR
    for word in wanted:
        mixed = (mixed ^ word) * _FACTOR
        mixed ^= mixed >> _U64(29)
    mask = _U64(len(slots) - 1)
    slot = mixed & mask
    while slots[slot] >= 0:
        state = slots[slot]
        if befores[state] == before:
            same = True
            for word in range(len(wanted)):
                same &= sets[state, word] == wanted[word]
            if same:
                break
        slot = (slot + _U64(1)) & mask
    return slot


@kernel
def determinize(automaton, sets, befores, slots, moves, most_work):
    """Make states until there is no more room, or work; returns how many.

    sets[s], befores[s]: the positions of state s and what stands before it; slots: a hash table of states, -1
    where free, more than twice as many as states. Writes all of them, and moves.
    """
    classes = automaton[4].shape[1]
    width = classes + 1
    following = np.empty(sets.shape[1], np.uint64)
    sets[START, 0] = 1
    befores[START] = _before(sets[START], classes, automaton)
    slots[_slot(sets, befores, slots, sets[START], befores[START])] = START
    for after in range(width):
        moves[DEAD * width + after] = DEAD
        moves[MATCH * width + after] = MATCH * width
        moves[UNKNOWN * width + after] = UNKNOWN * width
    count = START + 1
    state = START
    while state < count:
        for after in range(width):
            matched, looked = _step(sets[state], following, befores[state], after, automaton)
            most_work -= looked + len(following)
            if matched:
                moves[state * width + after] = MATCH * width
                continue
            if after == classes or _is_empty(following):
                moves[state * width + after] = DEAD
                continue
            before = _before(following, after, automaton)
            slot = _slot(sets, befores, slots, following, before)
            if slots[slot] < 0:
                if count == len(sets) or most_work < 0:
                    moves[state * width + after] = UNKNOWN * width
                    continue
                for word in range(len(following)):
                    sets[count, word] = following[word]
                befores[count] = before
                slots[slot] = count
                count += 1
            found = slots[slot]
            moves[state * width + after] = found * width
        state += 1
    is_sure = np.empty(count, np.bool_)
    for state in range(count):
        is_sure[state] = True
        for after in range(width):
            is_sure[state] &= moves[state * width + after] == MATCH * width
    for move in range(START * width, count * width):
        if moves[move] >= START * width and is_sure[moves[move] // width]:
            moves[move] = MATCH * width  # found one character earlier
    return count


@intrinsic
def _load64(typing, data, at):
    """The eight bytes data[at:at + 8] as a number, wherever they lie."""
    signature = types.uint64(data, at)

    def generate(context, builder, signature, arguments):
        data, at = arguments
        array = context.make_array(signature.args[0])(context, builder, data)
        place = builder.bitcast(builder.gep(array.data, [at]), ir.IntType(64).as_pointer())
        return builder.load(place, align=1)

    return signature, generate


@part
def _skip(data, at, end, leaving):
    """A place up to which no byte leads on: the end, or one at most eight bytes before a byte that does.

    leaving: those bytes, each eight times in one number. A zero in the difference is a byte that was found.
    """
    ones, highs = _U64(0x0101010101010101), _U64(0x8080808080808080)
    first = at
    while at < end:
        if at + 8 > end:
            if end - 8 < first:
                break
            at = end - 8  # some bytes are looked at twice
        eight = _load64(data, at)
        found = _U64(0)
        for wanted in leaving:
            difference = eight ^ wanted
            found |= (difference - ones) & ~difference & highs
        if found:
            break
        at += 8
    return at


@part
def class_at(data, at, step, end, classes):
    """The code point and class of a character beyond ASCII, and where the next one is.

    data[at] is its first byte or, going backwards, its last one.
    """
    _, starts, numbers = classes
    lead = at
    if step < 0:
        while lead > end + 1 and data[lead] & 0xC0 == 0x80:
            lead -= 1
    length = 2 if data[lead] < 0xE0 else 3 if data[lead] < 0xF0 else 4
    point = np.int32(data[lead]) & (0x7F >> length)
    stop = min(lead + length, end) if step > 0 else at + 1
    for place in range(lead + 1, stop):
        point = (point << 6) | (np.int32(data[place]) & 0x3F)
    return point, _class_of(point, starts, numbers), (stop if step > 0 else lead - 1)


@part
def _class_of(point, starts, numbers):
    low, high = 0, len(starts)
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= point:
            low = middle
        else:
            high = middle
    return np.int64(numbers[low])


@part
def _beyond(data, at, step, end, state, classes, automaton, sets, befores, slots, width, scratch):
    """Go on from a state whose next one is not there; returns DEAD, MATCH or a state, and where the text goes on."""
    current, following = scratch[0], scratch[1]
    for word in range(len(current)):
        current[word] = sets[state, word]
    before = befores[state]
    while at != end:
        if data[at] < 128:
            after = np.int64(classes[0][data[at]])
            at += step
        else:
            _, after, at = class_at(data, at, step, end, classes)
        matched, _ = _step(current, following, before, after, automaton)
        if matched:
            return np.int64(MATCH), at
        if _is_empty(following):
            return np.int64(DEAD), at
        before = _before(following, after, automaton)
        found = slots[_slot(sets, befores, slots, following, before)]
        if found >= 0:
            return np.int64(found), at
        current, following = following, current
    matched, _ = _step(current, following, before, width - 1, automaton)
    return np.int64(MATCH if matched else DEAD), at


@part
def _step_in_words(current, before, kind, guards, follows, finals):
    """What follows the positions `current`, whatever it reads, and whether a match ends here; eight positions at a time."""
    reached, ending = _U64(0), _U64(0)
    for guard in range(len(finals)):
        if guards[guard, before, kind]:
            ending |= current & finals[guard]
            rest = current
            eight = 0
            while rest:
                reached |= follows[guard, eight, rest & _U64(0xFF)]
                rest >>= _U64(8)
                eight += 1
    return reached, ending != 0


@part
def _beyond_in_words(data, at, step, end, state, classes, automaton, words, sets, befores, slots, scratch):
    """The same as `_beyond` for an automaton that has `Words`, in a tenth of the time.

    To look for a known state takes longer than a step, so that is done at every eighth byte only.
    """
    _, _, _, _, _, guards, kinds_before, kinds_after, restarts, cautious = automaton
    follows, readers, finals = words
    restart, asking = _U64(restarts[0]), cautious[0]
    current, before = sets[state, 0], befores[state]
    while at != end:
        if data[at] < 128:
            after = np.int64(classes[0][data[at]])
            at += step
        else:
            _, after, at = class_at(data, at, step, end, classes)
        reached, is_match = _step_in_words(current, before, kinds_after[after], guards, follows, finals)
        if is_match:
            return np.int64(MATCH), at
        current = (reached & readers[after]) | restart
        if not current:
            return np.int64(DEAD), at
        before = kinds_before[after] if current & asking else np.int32(0)
        if not at & 7:
            scratch[0, 0] = current
            found = slots[_slot(sets, befores, slots, scratch[0], before)]
            if found >= 0:
                return np.int64(found), at
    _, is_match = _step_in_words(current, before, kinds_after[len(readers)], guards, follows, finals)
    return np.int64(MATCH if is_match else DEAD), at


@intrinsic
def _within(typing, data, at, mask, low, span):
    """The bytes data[at:at + 64] that are from `low` to `low + span`, without the bits that `mask` lacks: a bit for each.

    The caller sees to it that they are there. Written in vectors, since LLVM does not find them in a loop over bytes.
    """
    signature = types.uint64(data, at, mask, low, span)
    vector = ir.VectorType(ir.IntType(8), _BLOCK)

    def generate(context, builder, signature, arguments):
        data, at, *numbers = arguments
        array = context.make_array(signature.args[0])(context, builder, data)
        place = builder.bitcast(builder.gep(array.data, [at]), vector.as_pointer())
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), _BLOCK), None)
        mask, low, span = (
            builder.shuffle_vector(
                builder.insert_element(
                    ir.Constant(vector, ir.Undefined),
                    builder.trunc(number, ir.IntType(8)),
                    ir.Constant(ir.IntType(32), 0),
                ),
                ir.Constant(vector, ir.Undefined),
                zeros,
            )
            for number in numbers
        )
        shifted = builder.sub(builder.and_(builder.load(place, align=1), mask), low)
        return builder.bitcast(builder.icmp_unsigned("<=", shifted, span), ir.IntType(64))

    return signature, generate


@intrinsic
def _lowest_bit(typing, bits):
    """The number of the lowest bit that is set."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@part
def _next_run(data, at, end, length, tests):
    """Where in data[at:end] the next run begins that passes all tests, or `end`.

    length: of the run. tests: the fields of four `required.Test`. Blocks reach up to 64 bytes beyond `end`.
    """
    test_0, test_1, test_2, test_3 = tests
    last = end - length  # where a run may begin
    while at <= last:
        bits = (
            _within(data, at + test_0[0], test_0[1], test_0[2], test_0[3])
            & _within(data, at + test_1[0], test_1[1], test_1[2], test_1[3])
            & _within(data, at + test_2[0], test_2[1], test_2[2], test_2[3])
            & _within(data, at + test_3[0], test_3[1], test_3[2], test_3[3])
        )
        beyond = at + _BLOCK - 1 - last
        if beyond > 0:
            bits &= ~_U64(0) >> _U64(beyond)
        if bits:
            return at + _lowest_bit(bits)
        at += _BLOCK
    return end


@kernel
def sift(data, offsets, rows, length, tests, begins, left, starts):
    """Write to `left` the numbers i of those rows[i] whose texts have a run that passes all tests; returns how many.

    Write to starts[j] where the search in the text of left[j] may begin: at the run, if every match `begins` with it. The
    last texts, where a block would reach beyond all of them, are always left, as are many more after some of which
    nearly all were.
    """
    count = before = pause = 0
    for i in range(len(rows)):
        if i % SIFTED == 0:
            pause = PAUSE if 4 * (count - before) > 3 * SIFTED and not pause else max(pause - 1, 0)
            before = count
        start, end = np.int64(offsets[rows[i]]), np.int64(offsets[rows[i] + 1])
        at = start
        if not pause and end + _BLOCK <= len(data):
            at = _next_run(data, start, end, length, tests)
            if at == end:
                continue
            while at != end and data[at] & 0xC0 == 0x80:  # tests may pass within a character
                at += 1
        left[count] = i
        starts[count] = at if begins else start
        count += 1
    return count


@kernel
def search(data, offsets, rows, starts, step, classes, width, moves, first, stays, leaving, beyond, found):
    """Write found[i] = 1 if the text of row rows[i], data[offsets[row]:offsets[row + 1]], has a match, else 0.

    step: 1 if texts are read forwards, -1 if backwards. classes: the fields of `Classes.table`. first: where to begin in
    `moves`. State HOME is one that texts tend to stay in: stays[byte] says at which bytes, which are skipped; leaving are
    the others, if they are few and texts are read forwards, in the form of `_skip`. Being the least of all states but
    those that end a search, HOME is noticed by the same comparison. Numbers are unsigned since numba takes an index that
    might be negative for one from the end, and looks.

    starts: where in its text the search in each row begins; empty if at the first character. beyond: what takes part where
    states were not made: the fields of `Automaton`, `Words`, sets, befores, slots. None if all were made; numba then
    compiles a kernel without that part, whose inner loop is a fifth quicker since it has more registers.
    """
    ascii_classes = classes[0]
    width = _U64(width)
    home = _U64(HOME) * width
    move = _U64(step)
    for i in range(len(rows)):
        at, end = _U64(offsets[rows[i]]), _U64(offsets[rows[i] + 1])
        if len(starts):
            at = _U64(starts[i])
        if step < 0:
            at, end = end - _U64(1), at - _U64(1)
        state = _U64(first)
        while at != end:
            if state == home:
                if len(leaving):
                    at = _U64(_skip(data, np.int64(at), np.int64(end), leaving))
                while at != end and stays[data[at]]:
                    at += move
                if at == end:
                    break
            previous, begin = state, at
            if data[at] < 128:
                state = _U64(moves[state + _U64(ascii_classes[data[at]])])
                at += move
                while state > home and at != end and data[at] < 128:
                    previous, begin = state, at
                    state = _U64(moves[state + _U64(ascii_classes[data[at]])])
                    at += move
            else:
                _, after, place = class_at(data, np.int64(at), step, np.int64(end), classes)
                at, state = _U64(place), _U64(moves[state + _U64(after)])
            if beyond is None:
                if state < home:
                    break
            elif state < home:
                if state != _U64(UNKNOWN) * width:
                    break
                automaton, words, sets, befores, slots, scratch = beyond
                if len(words[0]):
                    known, place = _beyond_in_words(
                        data, np.int64(begin), step, np.int64(end), np.int64(previous // width), classes,
                        automaton, words, sets, befores, slots, scratch,
                    )  # fmt: skip
                else:
                    known, place = _beyond(
                        data, np.int64(begin), step, np.int64(end), np.int64(previous // width), classes,
                        automaton, sets, befores, slots, np.int64(width), scratch,
                    )  # fmt: skip
                at, state = _U64(place), _U64(known) * width
                if state < home:
                    break
        if state >= home:
            state = _U64(moves[state + width - _U64(1)])
        found[i] = state == _U64(MATCH) * width
