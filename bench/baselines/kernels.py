"""The searches of all baselines, tuple by tuple; in one file, since numba's cache does not notice a changed callee elsewhere.

Every kernel ends with the same arguments: values (attributes, rows), NaN for NULL; needed, per query its number of
predicates; hits and touched, scratch; found (rows, words), in which the bits of matching queries are set.
"""

from __future__ import annotations

import numpy as np
from numba import njit

EMPTY = np.inf  # a slot of a hash table without a constant
BELOW, ABOVE = 1, 2  # a subtree has predicates that may hold for values below (above) its constants


@njit(inline="always")
def _mark(query, needed, hits, touched, count, found, row):
    """One predicate of a query holds; sets its bit when it was the last one missing. Gives the number of touched queries."""
    if hits[query] == 0:
        touched[count] = query
        count += 1
    hits[query] += 1
    if hits[query] == needed[query]:
        found[row, query >> 6] |= np.uint64(1) << np.uint64(query & 63)
    return count


@njit(inline="always")
def _forget(hits, touched, count):
    """Zero for the next tuple, at the cost of what this one touched."""
    for i in range(count):
        hits[touched[i]] = 0


@njit(inline="always")
def _holds(value, operator, constant):
    """Whether a comparison is true, operators numbered as in `conjunctions.OPERATORS`; never for NaN."""
    if value == constant:
        return operator == 0 or operator == 3 or operator == 5
    if value < constant:
        return operator == 1 or operator == 2 or operator == 3
    return value > constant and (operator == 1 or operator == 4 or operator == 5)


@njit(cache=True, nogil=True)
def walk_list(following, attribute, operator, constant, query, values, needed, hits, touched, found):
    """Linked list: every predicate is compared; following: the next one, -1 at the end."""
    for row in range(values.shape[1]):
        count = 0
        node = 0 if len(following) else -1
        while node >= 0:
            if _holds(values[attribute[node], row], operator[node], constant[node]):
                count = _mark(query[node], needed, hits, touched, count, found, row)
            node = following[node]
        _forget(hits, touched, count)


@njit(cache=True, nogil=True)
def search_trees(
    starts, roots, keys, left, right, flags, firsts, queries, values, needed, hits, touched, found
):
    """Red-black trees: lists of queries by node and operator are firsts[6 * node + operator], children count from starts."""
    stack = np.empty(256, np.int64)
    for row in range(values.shape[1]):
        count = 0
        for attribute in range(values.shape[0]):
            value = values[attribute, row]
            if np.isnan(value) or roots[attribute] < 0:
                continue
            base = starts[attribute]
            stack[0] = roots[attribute]
            depth = 1
            while depth:
                depth -= 1
                node = base + stack[depth]
                key = keys[node]
                for operator in range(6):
                    if _holds(value, operator, key):
                        for i in range(firsts[6 * node + operator], firsts[6 * node + operator + 1]):
                            count = _mark(queries[i], needed, hits, touched, count, found, row)
                lower, upper = left[node], right[node]
                if lower >= 0 and (value < key or flags[base + lower] & ABOVE):
                    stack[depth] = lower
                    depth += 1
                if upper >= 0 and (value > key or flags[base + upper] & BELOW):
                    stack[depth] = upper
                    depth += 1
        _forget(hits, touched, count)


@njit(cache=True, nogil=True)
def probe_filters(greater, less, equal, unequal, values, needed, hits, touched, found):
    """Grouped filters, each (starts, constants, left, right, firsts, queries) as in `tables.Joined`."""
    stack = np.empty(128, np.int64)
    for row in range(values.shape[1]):
        count = 0
        for attribute in range(values.shape[0]):
            value = values[attribute, row]
            if np.isnan(value):
                continue
            state = (needed, hits, touched, found, row)
            count = _walk_tree(greater, attribute, value, 1.0, stack, count, state)
            count = _walk_tree(less, attribute, value, -1.0, stack, count, state)
            place = _slot(equal, attribute, value)
            if place >= 0:
                for i in range(equal[4][place], equal[4][place + 1]):
                    count = _mark(equal[5][i], needed, hits, touched, count, found, row)
            for place in range(unequal[0][attribute], unequal[0][attribute + 1]):
                if unequal[1][place] != value:
                    for i in range(unequal[4][place], unequal[4][place + 1]):
                        count = _mark(unequal[5][i], needed, hits, touched, count, found, row)
        _forget(hits, touched, count)


@njit(cache=True, nogil=True)
def _walk_tree(tree, attribute, value, sign, stack, count, state):
    """Predicates in order of the tree, as long as value > constant (sign -1: value < constant)."""
    starts, constants, left, right, firsts, queries = tree
    needed, hits, touched, found, row = state
    base = starts[attribute]
    node = 0 if starts[attribute + 1] > base else -1
    depth = 0
    while node >= 0 or depth:
        while node >= 0:
            stack[depth] = node
            depth += 1
            node = left[base + node]
        depth -= 1
        node = stack[depth]
        if sign * value <= sign * constants[base + node]:
            break
        for i in range(firsts[base + node], firsts[base + node + 1]):
            count = _mark(queries[i], needed, hits, touched, count, found, row)
        node = right[base + node]
    return count


@njit(cache=True, nogil=True)
def place_of(value, size):
    """The first slot that is tried for a value in a hash table of `size` slots, a power of two."""
    whole = np.int64(value * 1024.0)  # constants that differ behind the point differ here too, mostly
    return (whole * np.int64(2654435761) >> np.int64(12)) & (size - 1)


@njit(cache=True, nogil=True)
def _slot(table, attribute, value):
    """Where the queries of a value stand; -1 if nowhere."""
    base, size = table[0][attribute], table[0][attribute + 1] - table[0][attribute]
    if size == 0:
        return -1
    place = place_of(value, size)
    while table[1][base + place] != EMPTY:
        if table[1][base + place] == value:
            return base + place
        place = (place + 1) & (size - 1)
    return -1
