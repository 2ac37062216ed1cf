"""Many small numbers sorted, by one digit after the other, the lowest first; counted; and found where they are sorted."""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.kernels.compiling import kernel

DIGIT: Final = 11  # bits; the places of so many values stay in the nearest cache


@kernel
def sort_digits(keys, spare, bits):
    """Sort keys from 0 to 2**bits - 1, with `spare`, which is as long, as scratch; returns the one that has them sorted."""
    places = np.empty(1 << DIGIT, np.int64)
    one, other = keys, spare
    for shift in range(0, bits, DIGIT):
        places[:] = 0
        for i in range(len(one)):
            places[(one[i] >> shift) & ((1 << DIGIT) - 1)] += 1
        total = 0
        for digit in range(len(places)):
            places[digit], total = total, total + places[digit]
        for i in range(len(one)):
            digit = (one[i] >> shift) & ((1 << DIGIT) - 1)
            other[places[digit]] = one[i]
            places[digit] += 1
        one, other = other, one
    return one


@kernel
def add_numbers(numbers, totals):
    """totals[number] += 1 for each of the numbers."""
    for i in range(len(numbers)):
        totals[numbers[i]] += 1


@kernel
def run_starts(sorted_numbers, starts):
    """starts[n] = how many of the sorted numbers are below n, for every place of `starts`.

    The step to the next start is guessed from the last one: where runs are long, few numbers are looked at.
    """
    at, count = 0, len(sorted_numbers)
    for number in range(len(starts)):
        step = 1
        while at + step <= count and sorted_numbers[at + step - 1] < number:
            at += step
            step *= 2
        while step:
            if at + step <= count and sorted_numbers[at + step - 1] < number:
                at += step
            step //= 2
        starts[number] = at
