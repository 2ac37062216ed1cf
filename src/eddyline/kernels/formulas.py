"""Comparisons of sums and products of doubles, many of them over the same columns, straight to region ids.

An instruction is (operation, target, left, right): registers are rows of the workspace, -1 stands for the instruction's
constant. The last instruction of a formula is a comparison, whose truth is written as the ids of the formula's subject.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from eddyline.kernels.compiling import kernel

ADD: Final = 0
SUBTRACT: Final = 1
MULTIPLY: Final = 2
EQUAL: Final = 3
LESS: Final = 4
LESS_EQUAL: Final = 5
BLOCK: Final = 512  # registers of so many rows stay in the nearest cache


@njit(inline="always")
def _number(operation, a, b):
    if operation == ADD:
        return a + b
    if operation == SUBTRACT:
        return a - b
    return a * b


@njit(inline="always")
def truth(operation, a, b):
    """Spark's order: NaN equals NaN and is above everything."""
    if operation == EQUAL:
        return (a == b) | ((a != a) & (b != b))
    if operation == LESS:
        return (a < b) | ((b != b) & (a == a))
    return (a <= b) | (b != b)


@njit(inline="always")
def _compute(operation, left, right, constant, registers, target, rows):
    """One instruction over a block; the operation is a constant where this is inlined, so the loops become vectors."""
    out = registers[target]
    if left < 0:
        b = registers[right]
        for i in range(rows):
            out[i] = _number(operation, constant, b[i])
    elif right < 0:
        a = registers[left]
        for i in range(rows):
            out[i] = _number(operation, a[i], constant)
    else:
        a, b = registers[left], registers[right]
        for i in range(rows):
            out[i] = _number(operation, a[i], b[i])


@njit(inline="always")
def compute(code, k, constants, registers, rows):
    """Instruction k, which is no comparison, over a block."""
    operation, target, left, right = code[k, 0], code[k, 1], code[k, 2], code[k, 3]
    if operation == ADD:
        _compute(ADD, left, right, constants[k], registers, target, rows)
    elif operation == SUBTRACT:
        _compute(SUBTRACT, left, right, constants[k], registers, target, rows)
    else:
        _compute(MULTIPLY, left, right, constants[k], registers, target, rows)


@njit(inline="always")
def _decide(operation, left, right, constant, registers, out, false, true, rows):
    """out[i] = the id of the comparison's truth in row i of the block."""
    flip = false ^ true
    if left < 0:
        b = registers[right]
        for i in range(rows):
            out[i] = false ^ (flip * np.uint8(truth(operation, constant, b[i])))
    elif right < 0:
        a = registers[left]
        for i in range(rows):
            out[i] = false ^ (flip * np.uint8(truth(operation, a[i], constant)))
    else:
        a, b = registers[left], registers[right]
        for i in range(rows):
            out[i] = false ^ (flip * np.uint8(truth(operation, a[i], b[i])))


@kernel
def locate_formulas(leaves, code, constants, starts, places, truths, registers, rows, ids):
    """ids[places[f], i] = truths[f, 0 or 1] for formula f, instructions starts[f] .. starts[f + 1] - 1, and every row i.

    leaves[l, i]: the value of leaf l, which is in register l. registers: workspace, BLOCK numbers each.
    """
    for first in range(0, rows, BLOCK):
        size = min(BLOCK, rows - first)
        for leaf in range(len(leaves)):
            for i in range(size):
                registers[leaf, i] = leaves[leaf, first + i]
        for f in range(len(places)):
            last = starts[f + 1] - 1
            for k in range(starts[f], last):
                compute(code, k, constants, registers, size)
            operation, left, right = code[last, 0], code[last, 2], code[last, 3]
            false, true, out = truths[f, 0], truths[f, 1], ids[places[f], first : first + size]
            if operation == EQUAL:
                _decide(EQUAL, left, right, constants[last], registers, out, false, true, size)
            elif operation == LESS:
                _decide(LESS, left, right, constants[last], registers, out, false, true, size)
            else:
                _decide(LESS_EQUAL, left, right, constants[last], registers, out, false, true, size)


@kernel
def mark_formula_nulls(missing, needs, starts, places, nulls, rows, ids):
    """ids[places[f], i] = nulls[f] where a leaf needs[starts[f] .. starts[f + 1] - 1] of formula f is NULL in row i."""
    for f in range(len(places)):
        out = ids[places[f]]
        for k in range(starts[f], starts[f + 1]):
            gone = missing[needs[k]]
            for i in range(rows):
                if gone[i]:
                    out[i] = nulls[f]
