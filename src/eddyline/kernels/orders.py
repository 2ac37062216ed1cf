"""What orders do to a sample, tuple by tuple: visits along a sequence, what a subject more would leave, sets of subjects.

    met, (tuples, subjects, words)       the qrb that each tuple meets at each subject
    every, (words)                       the GRB before the first visit: a one for every query
    qubs, (subjects, words)              the queries that use each subject

Samples are small and looked at often, so that it is the calls that cost: numpy's take ten times as long.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.compiling import kernel, part
from eddyline.kernels.vectors import population


@kernel
def walk(
    met,
    every,
    qubs,
    immediate,
    completed,
    order,
    starts,
    arrows,
    regions,
    costs,
    grb,
    geb,
    made,
    ended,
    spent,
):
    """Every tuple along a sequence, from each region to where its micro-arrow leads, else to the next of `order`.

    completed: whether a way ends where no subject that is left can make a query false.
    starts: per subject the first of its regions in `arrows`, which is empty or has a subject, or -1, for each of them.
    regions: (subjects, tuples). costs: of a visit to each subject. grb (words), geb (subjects, zeros): scratch.
    Writes per tuple the visits made, the visit at which its way ended (0: it never did) and the sum of costs; returns how
    many tuples were dropped.
    """
    count, words, dropped = len(order), len(every), 0
    for row in range(len(met)):
        grb[:] = every
        visits, following, subject, cost = 0, 0, order[0], 0.0
        while True:
            geb[subject] = row + 1
            visits += 1
            cost += costs[subject]
            left = np.uint64(0)
            for word in range(words):
                grb[word] &= met[row, subject, word]
                left |= grb[word]
            if left == 0 and (immediate or visits == count):
                dropped += 1
                ended[row] = visits
                break
            if completed and not _is_open(grb, qubs, geb, row + 1):
                ended[row] = visits
                break
            if visits == count:
                ended[row] = 0
                break
            to = arrows[starts[subject] + regions[subject, row]] if len(arrows) else -1
            if to < 0 or geb[to] == row + 1:
                while geb[order[following]] == row + 1:
                    following += 1
                to = order[following]
            subject = to
        made[row] = visits
        spent[row] = cost
    return dropped


@part
def _is_open(grb, qubs, geb, visited):
    """Whether a subject that is not visited yet is used by a query that is left."""
    for subject in range(len(qubs)):
        if geb[subject] != visited:
            for word in range(len(grb)):
                if grb[word] & qubs[subject, word]:
                    return True
    return False


@kernel
def grow(met, every, chosen, candidates, counted, grb, ones, alive):
    """What each candidate would leave after the subjects chosen so far.

    counted: (words), the queries whose ones count. Writes per candidate the ones of all GRBs and the tuples not dropped.
    """
    words = len(every)
    ones[:] = 0
    alive[:] = 0
    for row in range(len(met)):
        grb[:] = every
        left = np.uint64(1)
        for subject in chosen:
            left = np.uint64(0)
            for word in range(words):
                grb[word] &= met[row, subject, word]
                left |= grb[word]
            if left == 0:
                break
        if left == 0:
            continue
        for place in range(len(candidates)):
            left = np.uint64(0)
            for word in range(words):
                bits = grb[word] & met[row, candidates[place], word]
                left |= bits
                ones[place] += population(bits & counted[word])
            alive[place] += left != 0


@kernel
def cheapest(left, costs, total, last):
    """The cheapest order of each set of subjects, from the tuples that are left after each: its cost and its last subject.

    left, total, last: (sets). Where costs are negative it is the dearest.
    """
    total[0] = 0.0
    for chosen in range(1, len(left)):
        total[chosen] = np.inf
        for subject in range(len(costs)):
            if chosen >> subject & 1:
                before = chosen ^ (1 << subject)
                cost = total[before] + left[before] * costs[subject]
                if cost < total[chosen]:
                    total[chosen], last[chosen] = cost, subject


@kernel
def survivors(met, every, undecided, stack, path, left):
    """How many tuples are left after each set of subjects; subject i is bit i of a set's number.

    undecided: the queries that count after each set, (sets, words), or after all, (1, words). stack: (subjects + 1, words), path: (subjects + 1), scratch.
    Adds to left, (sets), for all sets but the empty one. What a set ends no larger one brings back, so that sets are
    grown only as long as something is left.
    """
    subjects, words = met.shape[1], len(every)
    for row in range(len(met)):
        stack[0] = every
        depth, subject, chosen = 0, 0, 0
        while True:
            if subject == subjects:
                if depth == 0:
                    break
                depth -= 1
                subject = path[depth]
                chosen ^= 1 << subject
                subject += 1
                continue
            grown = chosen | 1 << subject
            some = np.uint64(0)
            wanted = grown if len(undecided) > 1 else 0
            for word in range(words):
                bits = stack[depth, word] & met[row, subject, word]
                stack[depth + 1, word] = bits
                some |= bits & undecided[wanted, word]
            if some:
                left[grown] += 1
                path[depth] = subject
                chosen = grown
                depth += 1
            subject += 1
