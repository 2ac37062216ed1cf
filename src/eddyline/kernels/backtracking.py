"""Regular expressions tried out path by path, as Java does, with a budget of steps.

A program is rows of numbers: an operation and up to five operands. What a path has changed stands on one stack together
with the paths not yet tried, so that coming back to one of those undoes the changes made since.

    stack entry    (program counter, place, least place)    a path not yet tried
                   (-1 - register, old value, 0)             a change to undo
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.automata import class_at
from eddyline.kernels.compiling import kernel, part

(
    READ,  # set: one character of it
    GUARD,  # guard: the surroundings satisfy it
    LAST_LINE_END,
    SAME,  # register: what the group in the two registers from there on has matched
    SPLIT,  # first, second: two paths
    JUMP,  # target
    STORE,  # register, other: the place; and what the other register has stored
    ENTER,  # register: begins a repetition, its turns and the place of the last one in two registers
    REPEAT,  # register, least, most, target, is lazy: another turn at target, or on
    RUN,  # set, least, most, is possessive: a repetition of one character
    OPEN,  # register, end of the look, 0 if it is an atomic group; the height of the stack and the place in two registers
    CLOSE,  # register, is look: no path that was opened since is tried any more
    AVOID,  # register, target: begins a negative look; if it finds nothing, on at target
    FOUND,  # register: ends a negative look that has found something
    BACK,  # characters: so many back
    ACCEPT,
) = range(16)

NONE, SOME, TOO_LONG, NO_ROOM = range(4)


@part
def _decode(data, at, end, classes, points, numbers):
    """Write the code points and classes of one text; returns how many."""
    ascii_classes = classes[0]
    count = 0
    while at < end:
        if data[at] < 128:
            points[count] = data[at]
            numbers[count] = ascii_classes[data[at]]
            at += 1
        else:
            points[count], numbers[count], at = class_at(data, at, 1, end, classes)
        count += 1
    return count


@part
def _is_last_line_end(points, at, count):
    if at == count:
        return True
    point = points[at]
    if at == count - 2:
        return point == 13 and points[at + 1] == 10
    if at < count - 2:
        return False
    if point == 10:
        return at == 0 or points[at - 1] != 13
    return point == 13 or point == 0x85 or point == 0x2028 or point == 0x2029


@part
def _attempt(points, numbers, count, at, program, members, guards, afters, registers, stack, height, budget):
    """Try to match from one place on; returns an outcome and the steps that are left.

    stack: three numbers per entry, from `height` on. registers: -1 where nothing is stored yet.
    """
    counter = 0
    while True:
        if height + 3 > len(stack):
            return NO_ROOM, budget
        operation = program[counter, 0]
        first, second = program[counter, 1], program[counter, 2]
        counter += 1
        fails = False
        if operation == READ:
            budget -= 1
            fails = at >= count or not members[first, numbers[at]]
            at += 1
        elif operation == GUARD:
            budget -= 1
            before = members.shape[1] if at == 0 else np.int64(numbers[at - 1])
            after = members.shape[1] if at == count else np.int64(numbers[at])
            fails = not guards[first, afters[before], afters[after]]
        elif operation == LAST_LINE_END:
            budget -= 1
            fails = not _is_last_line_end(points, at, count)
        elif operation == SAME:
            budget -= 1
            begin, end = registers[first], registers[first + 1]
            fails = end < 0 or at + end - begin > count
            if not fails:
                for i in range(end - begin):
                    budget -= 1
                    if points[begin + i] != points[at + i]:
                        fails = True
                        break
                at += end - begin
        elif operation == SPLIT:
            stack[height, 0], stack[height, 1], stack[height, 2] = second, at, at
            height += 1
            counter = first
        elif operation == JUMP:
            counter = first
        elif operation == STORE:
            stack[height, 0], stack[height, 1] = -1 - first, registers[first]
            height += 1
            registers[first] = at
            if second >= 0:  # the end of a group: only now is its beginning known to others
                stack[height, 0], stack[height, 1] = -1 - (first - 1), registers[first - 1]
                height += 1
                registers[first - 1] = registers[second]
        elif operation == ENTER:
            stack[height, 0], stack[height, 1] = -1 - first, registers[first]
            stack[height + 1, 0], stack[height + 1, 1] = -1 - (first + 1), registers[first + 1]
            height += 2
            registers[first], registers[first + 1] = 0, -1
        elif operation == REPEAT:
            least, most, target, is_lazy = (
                second,
                program[counter - 1, 3],
                program[counter - 1, 4],
                program[counter - 1, 5],
            )
            turns = registers[first]
            again = registers[first + 1] < at and turns < most
            leave = not again or turns >= least
            if again:
                if leave:
                    stack[height, 0], stack[height, 1], stack[height, 2] = counter, at, at
                    if is_lazy:  # the turn itself is what is not tried yet
                        stack[height, 0], stack[height, 2] = counter - 1, -1 - turns
                    height += 1
                if not (leave and is_lazy):
                    budget -= 1
                    stack[height, 0], stack[height, 1] = -1 - first, turns
                    stack[height + 1, 0], stack[height + 1, 1] = -1 - (first + 1), registers[first + 1]
                    height += 2
                    registers[first], registers[first + 1] = turns + 1, at
                    counter = target
        elif operation == RUN:
            least, most, is_possessive = second, program[counter - 1, 3], program[counter - 1, 4]
            turns = 0
            while turns < most:
                budget -= 2
                if at + turns >= count or not members[first, numbers[at + turns]] or budget < 0:
                    break
                turns += 1
            fails = turns < least
            if not fails and turns > least and not is_possessive:
                stack[height, 0], stack[height, 1], stack[height, 2] = counter, at + turns - 1, at + least
                height += 1
            at += turns
        elif operation in (OPEN, AVOID):
            if second:  # without a step for each look, paths that fail there would cost nothing
                budget -= 1
            base = height
            stack[height, 0], stack[height, 1] = -1 - first, registers[first]
            stack[height + 1, 0], stack[height + 1, 1] = -1 - (first + 1), registers[first + 1]
            height += 2
            registers[first], registers[first + 1] = base, at
            if operation == AVOID:
                stack[height, 0], stack[height, 1], stack[height, 2] = second, at, at
                height += 1
        elif operation == CLOSE:
            kept = registers[first]
            for entry in range(kept, height):
                if stack[entry, 0] < 0:
                    stack[kept, 0], stack[kept, 1] = stack[entry, 0], stack[entry, 1]
                    kept += 1
            height = kept
            if second:
                at = registers[first + 1]
        elif operation == FOUND:
            base = registers[first]
            while height > base:
                height -= 1
                if stack[height, 0] < 0:
                    registers[-1 - stack[height, 0]] = stack[height, 1]
            fails = True
        elif operation == BACK:
            at -= first
            fails = at < 0
        else:
            return SOME, budget
        if budget < 0:
            return TOO_LONG, budget
        if fails:
            while height and stack[height - 1, 0] < 0:
                height -= 1
                registers[-1 - stack[height, 0]] = stack[height, 1]
            if not height:
                return NONE, budget
            height -= 1
            counter, at, least = stack[height, 0], stack[height, 1], stack[height, 2]
            if least < 0:  # a turn that a lazy repetition did not begin
                first = program[counter, 1]
                budget -= 1
                stack[height, 0], stack[height, 1] = -1 - first, registers[first]
                stack[height + 1, 0], stack[height + 1, 1] = -1 - (first + 1), registers[first + 1]
                height += 2
                registers[first], registers[first + 1] = -1 - least + 1, at
                counter = program[counter, 4]
            elif at > least:  # a run that can give back more
                stack[height, 1] = at - 1
                height += 1


@kernel
def search(
    data,
    offsets,
    rows,
    classes,
    program,
    members,
    guards,
    afters,
    registers,
    stack,
    points,
    numbers,
    budget,
    found,
):
    """Write the outcome for the text of each row rows[i] from the first with found[i] == NO_ROOM on.

    points, numbers: scratch for the longest text. Stops where the stack is too small; returns how many rows are done.
    """
    for i in range(len(rows)):
        if found[i] != NO_ROOM:
            continue
        count = _decode(
            data, np.int64(offsets[rows[i]]), np.int64(offsets[rows[i] + 1]), classes, points, numbers
        )
        left = np.int64(budget)
        outcome = NONE
        for start in range(count + 1):
            for register in range(len(registers)):
                registers[register] = -1
            outcome, left = _attempt(
                points, numbers, count, start, program, members, guards, afters, registers, stack, 0, left
            )
            if outcome != NONE:
                break
        found[i] = outcome
        if outcome == NO_ROOM:
            return False
    return True
