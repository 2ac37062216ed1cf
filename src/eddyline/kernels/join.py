"""Joins: keys of 64 bits, tuples clustered by key, and probes that intersect lineages by stamps.

A *segment* is tuples in the order of their keys' buckets; tuples of one key lie side by side, their lineages too:

    bucket            0   1   2   3            the highest bits of key * factor
    start             0   1   1   4   4        where its tuples begin
    keys, times, positions         [tuple]
    begins, ends                   [tuple]     where its lineage lies in `lists`: of equal lineages one may be enough
    lists             roles of all tuples

A probing tuple writes the number of its probe (its *mark*) into the stamps of the partners of its roles. Whoever of a stored
tuple's roles has a stamp of at least that mark is in both lineages. Partners of free roles, which every tuple satisfies, have
a stamp above all marks.

Where many tuples share a key, and few of them a role, a segment also has an index of its tuples by key and role.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.kernels.compiling import kernel, part
from eddyline.kernels.strings import ends as ends_of_text
from eddyline.kernels.strings import fold, hash_bytes

LONGEST_TEXT: Final = 7  # bytes that fit into a key beside their number
ALWAYS: Final = 2**31 - 1  # a stamp above all marks

_U64 = np.uint64
_TOP = np.uint64(1 << 63)
_NULL = np.uint64(0xA24BAED4963EE407)  # stands for NULL in hashes
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@kernel
def pack_texts(data, offsets, seed, keys):
    """keys[i] = string i itself if it is short, its length in the highest byte; of a longer one a hash, below 0."""
    seed = _U64(seed)
    for i in range(len(keys)):
        at = np.int64(offsets[i])
        length = np.int64(offsets[i + 1]) - at
        head, tail = ends_of_text(data, at, length)
        if length <= LONGEST_TEXT:
            keys[i] = np.int64(head | _U64(length) << _U64(56))
        else:
            keys[i] = np.int64(hash_bytes(data, at, length, head, tail, seed) | _TOP)


@kernel
def mix(codes, valid, seed, factor, hashes):
    """Take one more code of every row into its hash; rows that are not valid have NULL."""
    seed, factor = _U64(seed), _U64(factor)
    for i in range(len(hashes)):
        code = _U64(codes[i]) if valid[i] else _NULL
        hashes[i] = np.int64(fold(_U64(hashes[i]) + seed ^ code, factor))


@kernel
def judge_times(times, valid, limit, highest, lateness, least, latest, kept, counts):
    """kept[i] = whether a tuple is joined; counts: those that are not, by reason. Returns the highest time of those that are.

    valid       which tuples have a time; empty: all
    limit       times are below it, and above -limit
    highest     time of earlier tuples; one that is more than `lateness` below that of those before it is late, unless that
                is below 0
    least       a time below this is late, too; latest: one above it is ahead
    counts      of tuples that are late, ahead, without a time, out of range
    """
    for i in range(len(times)):
        time = times[i]
        kept[i] = False
        if len(valid) and not valid[i]:
            counts[2] += 1
        elif time <= -limit or time >= limit:
            counts[3] += 1
        elif time > latest:
            counts[1] += 1
        elif (lateness >= 0 and time < highest - lateness) or time < least:
            counts[0] += 1
        else:
            kept[i] = True
            highest = max(highest, time)
    return highest


@kernel
def lists_of_stem(rows, roles, stem_of, stem, usable, all_usable, kept, begins, ends, lists):
    """Pick the rows that a SteM keeps, and their lineages; returns how many rows and how many entries were written.

    rows, roles: pairs, by row. usable: rows that have a time and a key. all_usable: whether a row is kept without any role.
    kept, begins, ends: one longer than there are rows, or pairs where a row is kept for its roles alone. lists: one longer
    than there are pairs.
    """
    found, filled, pair, row = 0, 0, 0, -1
    while all_usable or pair < len(rows):
        row = row + 1 if all_usable else rows[pair]
        if row == len(usable):
            break
        begin = filled
        while pair < len(rows) and rows[pair] == row:
            role = roles[pair]
            lists[filled] = role  # written first and counted then: without a branch that cannot be predicted
            filled += (stem_of[role] == stem) & usable[row]
            pair += 1
        kept[found], begins[found], ends[found] = row, begin, filled
        found += usable[row] & (all_usable | (filled > begin))
    return found, filled


@kernel
def cluster(
    keys,
    times,
    positions,
    begins,
    ends,
    lists,
    factor,
    shift,
    copy_lists,
    start,
    buckets,
    keys_out,
    times_out,
    positions_out,
    begins_out,
    ends_out,
    lists_out,
):
    """Put tuples in the order of their buckets, those of a bucket in the order in which they come.

    start: one longer than there are buckets, all 0 before. buckets: scratch, as long as there are tuples. copy_lists: whether
    lineages are laid in the same order too; otherwise they stay where they are.
    """
    factor, shift = _U64(factor), _U64(shift)
    for i in range(len(keys)):
        bucket = np.int32(_U64(keys[i]) * factor >> shift)
        buckets[i] = bucket
        start[bucket + 1] += 1
    for bucket in range(len(start) - 1):
        start[bucket + 1] += start[bucket]
    for i in range(len(keys)):
        place = start[buckets[i]]
        start[buckets[i]] = place + 1
        keys_out[place], times_out[place], positions_out[place] = keys[i], times[i], positions[i]
        begins_out[place], ends_out[place] = begins[i], ends[i]
    for bucket in range(len(start) - 1, 0, -1):  # each start has become the next one's
        start[bucket] = start[bucket - 1]
    start[0] = 0
    if copy_lists:
        filled = 0
        for place in range(len(keys)):
            begin = filled
            for entry in range(begins_out[place], ends_out[place]):
                lists_out[filled] = lists[entry]
                filled += 1
            begins_out[place], ends_out[place] = begin, filled


@kernel
def hash_lists(begins, ends, lists, hashes):
    """hashes[i] = a hash of the list of tuple i."""
    for i in range(len(begins)):
        mixed = _U64(ends[i] - begins[i])
        for entry in range(begins[i], ends[i]):
            mixed = fold(mixed + _NULL ^ _U64(lists[entry]), _FACTOR)
        hashes[i] = mixed


@kernel
def intern_lists(
    hashes, begins, ends, lists, table, distinct_begins, distinct_ends, lists_out, begins_out, ends_out
):
    """Write each distinct list once, and where that of every tuple lies; returns how many entries were written.

    table: all -1 before, its length a power of two above that of `begins`. distinct_*: scratch, as long as `begins`.
    """
    mask, distinct, filled = _U64(len(table) - 1), 0, 0
    for i in range(len(begins)):
        length = ends[i] - begins[i]
        place = hashes[i] & mask
        while table[place] >= 0 and not _same_list(
            lists, begins[i], lists_out, distinct_begins[table[place]], distinct_ends[table[place]], length
        ):
            place = (place + _U64(1)) & mask
        if table[place] < 0:
            table[place], distinct_begins[distinct] = distinct, filled
            for entry in range(begins[i], ends[i]):
                lists_out[filled] = lists[entry]
                filled += 1
            distinct_ends[distinct] = filled
            distinct += 1
        begins_out[i], ends_out[i] = distinct_begins[table[place]], distinct_ends[table[place]]
    return filled


@part
def _same_list(lists, at, others, begin, end, length):
    entry = 0 if end - begin == length else -1
    while 0 <= entry < length and lists[at + entry] == others[begin + entry]:
        entry += 1
    return entry == length


@kernel
def probe(
    keys,
    times,
    positions,
    begins,
    ends,
    lists,
    start,
    stored_keys,
    stored_times,
    stored_positions,
    stored_begins,
    stored_ends,
    stored_lists,
    partner,
    low,
    high,
    side,
    free,
    link,
    arrived,
    stamps,
    number,
    lowest,
    highest,
    inner_low,
    inner_high,
    latest,
    free_probing,
    free_stored,
    factor,
    shift,
    first,
    last,
    partner_first,
    partner_last,
    is_narrowed,
    is_same,
    base,
    fixed,
    appended,
    rows_out,
    positions_out,
    roles_out,
    at,
):
    """Pairs of a probing segment (the first six arrays) with a stored one (the next seven), until the output is full.

    partner .. stamps   by role. A role counts if it belongs to this link (number), the difference of the times is within its
                        own bounds, and the stored tuple came when it had arrived
    lowest, highest     widest bounds of a stored tuple's time less the probing one's
    inner_*, latest     bounds within those of all roles of this link, and when the last of them arrived: mostly these decide
                        for all roles of a pair, which need not be looked up then
    free_probing        some role's partner is free: tuples without any role probe, too
    free_stored         some role is free, which is in no lineage: it goes with every pair
    first, last         only pairs whose later tuple has such a position; partner_*: the same of the earlier one
    is_narrowed         whether these say anything of single pairs
    is_same             both segments are of the same new tuples: each pair comes once, from its tuple of side 0
    fixed, appended     the first so many of `appended` go with every pair; the rest is scratch
    at                  probing tuple, stored tuple (-1: the first one), pairs found, mark, room that the next pair needs;
                        to go on from, and written when the output is full

    Written for each pair and role: row of the later tuple less `base`, position of the earlier one, and the earlier one's
    role. Returns whether all was done.
    """
    factor, shift = _U64(factor), _U64(shift)
    i, place, found, mark = at[0], at[1], at[2], at[3]
    while i < len(keys):
        position = positions[i]
        is_outside = (position >= last) | ((position < first) & (not is_same))
        if is_outside | (not free_probing and begins[i] == ends[i]):
            i += 1
            continue
        key, time = keys[i], times[i]
        bucket = _U64(key) * factor >> shift
        stop = start[bucket + _U64(1)]
        place = np.int64(start[bucket]) if place < 0 else place
        is_marked, extra = False, fixed
        while place < stop:
            difference = stored_times[place] - time
            if (stored_keys[place] != key) | (difference < lowest) | (difference > highest):
                place += 1
                continue
            if is_narrowed:
                earlier, later = stored_positions[place], position
                if is_same and earlier > later:
                    earlier, later = later, earlier
                if later < first or later >= last or earlier < partner_first or earlier >= partner_last:
                    place += 1
                    continue
            if not is_marked:  # not before: a probe that meets no tuple marks nothing
                mark += 1
                is_marked = True
                for entry in range(begins[i], ends[i]):
                    stamps[partner[lists[entry]]] = mark
                if free_stored:
                    for entry in range(begins[i], ends[i]):
                        appended[extra] = partner[lists[entry]]
                        extra += free[appended[extra]] & (link[appended[extra]] == number)
            # Room for all candidates, as each is written before it is known whether it counts. The place is remembered
            # before anything of it is written, so that a caller who comes back with more room finds no pair twice.
            room = np.int64(stored_ends[place] - stored_begins[place]) + extra
            if found + room > len(roles_out):
                at[0], at[1], at[2], at[3], at[4] = i, place, found, mark, room
                return False
            end = found
            for entry in range(stored_begins[place], stored_ends[place]):
                role = stored_lists[entry]
                roles_out[end] = role
                end += stamps[np.uint32(role)] >= mark  # unsigned: numba need not look for negative indices
            for entry in range(extra):
                roles_out[end] = appended[entry]
                end += 1
            if end > found:
                other = stored_positions[place]
                if (inner_low <= difference) & (difference <= inner_high) & (latest <= other) & (not is_same):
                    for entry in range(found, end):
                        role = roles_out[entry]
                        roles_out[found], rows_out[found] = role, position - base
                        positions_out[found] = other
                        found += link[role] == number
                    place += 1
                    continue
                is_swapped = is_same and other > position
                for entry in range(found, end):
                    role = roles_out[entry]
                    counts = (link[role] == number) & (low[role] <= difference) & (difference <= high[role])
                    counts &= (arrived[role] <= other) & ((not is_same) | (side[role] == 1))
                    roles_out[found] = partner[role] if is_swapped else role
                    rows_out[found] = (other if is_swapped else position) - base
                    positions_out[found] = position if is_swapped else other
                    found += counts
            place += 1
        i += 1
        place = np.int64(-1)
    at[0], at[1], at[2], at[3] = i, place, found, mark
    return True


@part
def _role_bucket(key, role, factor, shift):
    return (_U64(key) ^ _U64(role) * _FACTOR) * factor >> shift


@kernel
def index_roles(keys, begins, ends, lists, factor, shift, start, tuples_out, roles_out):
    """Put every (tuple, role) in the order of the buckets of its key and role; start: as for `cluster`, all 0 before."""
    factor, shift = _U64(factor), _U64(shift)
    for i in range(len(keys)):
        for entry in range(begins[i], ends[i]):
            start[np.int64(_role_bucket(keys[i], lists[entry], factor, shift)) + 1] += 1
    for bucket in range(len(start) - 1):
        start[bucket + 1] += start[bucket]
    for i in range(len(keys)):
        for entry in range(begins[i], ends[i]):
            bucket = _role_bucket(keys[i], lists[entry], factor, shift)
            place = start[bucket]
            start[bucket] = place + 1
            tuples_out[place], roles_out[place] = i, lists[entry]
    for bucket in range(len(start) - 1, 0, -1):
        start[bucket] = start[bucket - 1]
    start[0] = 0


@kernel
def probe_by_role(
    keys,
    times,
    positions,
    begins,
    ends,
    lists,
    stored_keys,
    stored_times,
    stored_positions,
    start,
    tuples,
    roles,
    partner,
    low,
    high,
    side,
    link,
    arrived,
    number,
    factor,
    shift,
    first,
    last,
    partner_first,
    partner_last,
    is_same,
    base,
    rows_out,
    positions_out,
    roles_out,
    at,
):
    """As `probe`, by an index of keys and roles (start, tuples, roles): for links without free roles.

    What is looked at is what is found, however many tuples have the key. When the output is full, the probing tuple is begun
    anew the next time.
    """
    factor, shift = _U64(factor), _U64(shift)
    found = at[2]
    for i in range(at[0], len(keys)):
        position, key, before = positions[i], keys[i], found
        if (position >= last) | ((position < first) & (not is_same)):
            continue
        for entry in range(begins[i], ends[i]):
            role = partner[lists[entry]]
            if link[role] != number or (is_same and side[role] != 1):
                continue
            bucket = _role_bucket(key, role, factor, shift)
            for place in range(start[bucket], start[bucket + _U64(1)]):
                if roles[place] != role:
                    continue
                stored = tuples[place]
                difference, other = stored_times[stored] - times[i], stored_positions[stored]
                counts = (stored_keys[stored] == key) & (low[role] <= difference) & (difference <= high[role])
                is_swapped = is_same and other > position
                later, earlier = (other, position) if is_swapped else (position, other)
                counts &= (first <= later) & (later < last) & (arrived[role] <= other)
                counts &= (partner_first <= earlier) & (earlier < partner_last)
                if not counts:
                    continue
                if found == len(roles_out):
                    at[0], at[2], at[4] = i, before, 2 * (found - before) + 1
                    return False
                roles_out[found] = partner[role] if is_swapped else role
                rows_out[found], positions_out[found] = later - base, earlier
                found += 1
    at[0], at[2] = len(keys), found
    return True


@kernel
def pack_pairs(rows, positions, roles, query, side, least, position_bits, query_bits, packed):
    """packed[i] = row, position less `least`, query, and side of the later tuple, the first one highest."""
    for i in range(len(rows)):
        role = roles[i]
        word = np.int64(rows[i]) << position_bits | (positions[i] - least)
        packed[i] = (word << query_bits | np.int64(query[role])) << 1 | np.int64(1 - side[role])


@kernel
def unpack_pairs(packed, base, least, position_bits, query_bits, rows, queries, firsts, seconds):
    """Undo `pack_pairs`, the tuple of side 0 first; leaves out what equals the one before it, and returns how many are left."""
    found = 0
    for i in range(len(packed)):
        word = packed[i]
        is_second = word & 1
        row = word >> (position_bits + query_bits + 1)
        position = (word >> (query_bits + 1) & ((np.int64(1) << position_bits) - 1)) + least
        rows[found], queries[found] = row, word >> 1 & ((np.int64(1) << query_bits) - 1)
        firsts[found] = position if is_second else row + base
        seconds[found] = row + base if is_second else position
        found += i == 0 or word != packed[i - 1]
    return found


@kernel
def pairs_of_joins(rows, positions, roles, query, side, base, rows_out, queries, firsts, seconds):
    """Write what `unpack_pairs` does, pair by pair as they come; returns whether all are of first branches, and so differ."""
    is_first = True
    for i in range(len(rows)):
        role, row, position = roles[i], np.int64(rows[i]), positions[i]
        rows_out[i], queries[i] = row, query[role]
        is_second = side[role] == 0  # the stored tuple is of source 0
        firsts[i] = position if is_second else row + base
        seconds[i] = row + base if is_second else position
        is_first &= role - query[role] <= 2
    return is_first
