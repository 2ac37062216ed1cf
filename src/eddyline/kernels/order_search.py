"""Orders found on a sample: grown subject by subject, and made cheaper by moving one subject at a time.

Arrays as in `kernels.orders`. A search takes thousands of small steps, so that all of it is in one call.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.compiling import kernel, part
from eddyline.kernels.vectors import population


@kernel
def greedy(met, every, qubs, costs, order, covered, grbs, ones, alive):
    """An order grown by what each subject ends for what its visit costs.

    Until a cover set is complete, queries not covered yet that fail; then tuples that are dropped. grbs: (tuples, words),
    covered: (words), ones and alive: (subjects), scratch. Writes order, (subjects).
    """
    subjects, words = len(order), len(every)
    for row in range(len(met)):
        grbs[row] = every
    covered[:] = 0
    for place in range(subjects):
        order[place] = place
    for place in range(subjects):
        is_open = _grown(met, qubs, order, place, covered, grbs, ones, alive)
        best, most = place, -1.0
        for other in range(place, subjects):
            ended = ones[order[other]] if is_open else alive[order[other]]
            if ended / costs[order[other]] > most:
                best, most = other, ended / costs[order[other]]
        order[place], order[best] = order[best], order[place]
        for word in range(words):
            covered[word] |= qubs[order[place], word]
            for row in range(len(met)):
                grbs[row, word] &= met[row, order[place], word]


@part
def _grown(met, qubs, order, place, covered, grbs, ones, alive):
    """For the subjects of order from a place on what they would end: ones at queries not covered, and tuples.

    Gives whether there are queries not covered.
    """
    words = len(covered)
    is_open = False
    for other in range(place, len(order)):
        ones[order[other]] = 0
        alive[order[other]] = 0
        for word in range(words):
            is_open |= (qubs[order[other], word] & ~covered[word]) != 0
    for row in range(len(met)):
        left = np.uint64(0)
        for word in range(words):
            left |= grbs[row, word]
        if left == 0:
            continue
        for other in range(place, len(order)):
            subject = order[other]
            left = np.uint64(0)
            for word in range(words):
                bits = grbs[row, word] & met[row, subject, word]
                left |= bits
                if is_open:
                    failed = (grbs[row, word] & ~bits) & ~covered[word]
                    if failed:
                        ones[subject] += population(failed)
            alive[subject] += left == 0
    return is_open


@kernel
def descend(met, every, qubs, completed, costs, rows, order, others, later, grb, without, after):
    """Move one subject at a time to where the order costs the least, until none can be moved.

    rows: the tuples that count. others: (subjects), later: (subjects, words), grb: (words), without and after: (subjects),
    scratch. Changes order; returns its cost.
    """
    count = len(order)
    cost, idle, turn = np.inf, 0, 0
    while idle < count:
        subject = order[turn % count]
        now = turn % count
        found = 0
        for place in range(count):
            if order[place] != subject:
                others[found] = order[place]
                found += 1
        _insertions(met, every, qubs, completed, rows, others, subject, later, grb, without, after)
        best, least = _cheapest_place(costs, others, subject, now, without, after)
        if best != now and least < cost:
            idle = 0
        else:
            best = now
            idle += 1
        if least < cost:
            cost = least
        others[count - 1] = subject
        for place in range(count):
            order[place] = subject if place == best else others[place - (place > best)]
        turn += 1
    return cost


@part
def _cheapest_place(costs, others, subject, now, without, after):
    """Where a subject is to be inserted, where it is now if no place is better, and what the order costs then."""
    count = len(others)
    total = costs[subject] * without[0]
    for place in range(count - 1):
        total += costs[others[place]] * after[place]
    best, least, here = 0, total, total
    for place in range(1, count):
        other = costs[others[place - 1]]
        total += costs[subject] * (without[place] - without[place - 1])
        total += other * (without[place - 1] - after[place - 1])
        if place == now:
            here = total
        if total < least:
            best, least = place, total
    return (now, here) if here <= least else (best, least)


@part
def _insertions(met, every, qubs, completed, rows, others, subject, later, grb, without, after):
    """How many tuples are left after 0, 1, 2, ... of the others, and how many of them after one subject more.

    The last of `others` is not one of them.
    """
    count, words = len(others), len(every)
    if completed:
        later[count - 1] = 0
        for place in range(count - 2, -1, -1):
            for word in range(words):
                later[place, word] = later[place + 1, word] | qubs[others[place], word]
    without[:] = 0
    after[:] = 0
    for row in rows:
        grb[:] = every
        is_left = True
        for place in range(count):
            if place:
                for word in range(words):
                    grb[word] &= met[row, others[place - 1], word]
                if not _some(grb, later, qubs, place, subject, completed):
                    break
            without[place] += 1
            if is_left:
                is_left = _some_after(grb, met, row, subject, later, place, completed)
                after[place] += is_left


@part
def _some(grb, later, qubs, place, subject, completed):
    """Whether a query is left, or, if only those not decided count, one that a subject still to come uses."""
    left = np.uint64(0)
    if completed:
        for word in range(len(grb)):
            left |= grb[word] & (later[place, word] | qubs[subject, word])
    else:
        for word in range(len(grb)):
            left |= grb[word]
    return left != 0


@part
def _some_after(grb, met, row, subject, later, place, completed):
    """The same after one subject more."""
    left = np.uint64(0)
    if completed:
        for word in range(len(grb)):
            left |= grb[word] & met[row, subject, word] & later[place, word]
    else:
        for word in range(len(grb)):
            left |= grb[word] & met[row, subject, word]
    return left != 0
