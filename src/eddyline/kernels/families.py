"""Formulas that differ in one constant: for each row the place in the sorted constants where their truth changes.

    price * c > open,  c = 0.95  0.96  0.97  0.98          price 100, open 96.5: false false true true, place 2

Rounding keeps order, so a product with c, or a sum with it, never goes down as c goes up (or never up, where the factor is
negative), and neither does the truth of its comparison. Found by halving, with the formula itself as the test: exact.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from eddyline.kernels.compiling import kernel
from eddyline.kernels.formulas import BLOCK, LESS, LESS_EQUAL, compute, truth

LAST: Final = 0xFFFF  # the greatest id


@njit(inline="always")
def _combine(product, x, constant):
    return x * constant if product else x + constant


@njit(inline="always")
def _halve(product, operation, xs, ys, constants, places, size):
    """places[i] = the first constant c where `(x with c) operation y` differs from what it is for very low ones."""
    count = len(constants)
    step = 1
    while 2 * step <= count:
        step *= 2
    for i in range(size):
        places[i] = 0
    while step:
        for i in range(size):
            probe = places[i] + step - 1
            holds = truth(operation, _combine(product, xs[i], constants[min(probe, count - 1)]), ys[i])
            before = (probe < count) & (holds != (product & (xs[i] < 0.0)))
            places[i] += step if before else 0
        step //= 2


@njit(inline="always")
def _write(product, flip, xs, places, count, size, out):
    """Places as ids: what holds for the constants from a place on counts up from 0, what holds below it up to LAST."""
    for i in range(size):
        from_place_on = (product & (xs[i] < 0.0)) != flip
        out[i] = np.uint16(places[i] + (0 if from_place_on else LAST - count))


@kernel
def place_families(
    leaves, code, code_constants, code_starts, families, constants, starts, registers, places, rows, ids
):
    """ids[first + f, i] = the place of row i in family f as an id, see `_write`; the families' rows of ids are the last.

    leaves[l, i]: the value of leaf l, which is in register l. Instructions code_starts[f] .. code_starts[f + 1] - 1
    compute what family f needs. families[f]: 1 for a product and 0 for a sum with the constant, 1 if x is to be negated,
    the comparison of that with y, 1 if its truth is to be negated, the registers of x and of y. constants[starts[f] ..
    starts[f + 1] - 1]: ascending. registers, places: workspace, BLOCK numbers each; the last register is for x negated.
    """
    top = len(ids) - len(families)
    negated = len(registers) - 1
    for first in range(0, rows, BLOCK):
        size = min(BLOCK, rows - first)
        for leaf in range(len(leaves)):
            for i in range(size):
                registers[leaf, i] = leaves[leaf, first + i]
        for f in range(len(families)):
            for k in range(code_starts[f], code_starts[f + 1]):
                compute(code, k, code_constants, registers, size)
            product, operation, flip = families[f, 0] != 0, families[f, 2], families[f, 3] != 0
            xs, ys, own = (
                registers[families[f, 4]],
                registers[families[f, 5]],
                constants[starts[f] : starts[f + 1]],
            )
            if families[f, 1]:
                for i in range(size):
                    registers[negated, i] = -xs[i]
                xs = registers[negated]
            if product and operation == LESS:
                _halve(True, LESS, xs, ys, own, places, size)
            elif product:
                _halve(True, LESS_EQUAL, xs, ys, own, places, size)
            elif operation == LESS:
                _halve(False, LESS, xs, ys, own, places, size)
            else:
                _halve(False, LESS_EQUAL, xs, ys, own, places, size)
            _write(product, flip, xs, places, len(own), size, ids[top + f, first : first + size])
