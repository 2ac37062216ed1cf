"""Selective access: queries found by the values of one or more subjects, the rest of their conditions compared as bounds.

    symbol = 'ACME' AND price > 10 AND price < 12 AND volume >= 500

    key (symbol)   entries, by their first bound       columns of bounds
    'ACME'         [10+ 500 -12] [11+ 90 -20] ...      price at least, volume at least, price at most

All alternatives of queries with the same key and check subjects share one table. A check is a range of ordinals
(`ordinals.py`), and each end of it a *bound* that the tuple must reach: "at most 12" is "~price at least ~12", so all
comparisons go one way, and a column in which no entry has a bound is left out. Entries of a key ascend by the first
column; of the second the least of every eight entries is kept, of every eight such minima again, and so on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt

from eddyline.index.cutting import Cutting, cut
from eddyline.index.keyed.choose import Access, Asked, Shape
from eddyline.index.keyed.ordinals import GREATEST, LEAST, Ordinals, bounds, has_ordinals
from eddyline.index.keyed.terms import is_apart
from eddyline.kernels.keyed import FAN
from eddyline.model.expression import Expression
from eddyline.model.pacing import paced
from eddyline.model.regions import Regions

Numbers = npt.NDArray[np.int32]
Column = tuple[int, bool]  # a check subject, and whether it is bounded from above


@dataclass(frozen=True)
class KeyedTable:
    """Alternatives of queries with the same subjects; keys and checks are places in the index' lists of them.

    Key k has the entries from starts[k] to starts[k + 1]; the last key stands for all values that no query names. With
    one key subject, k is the place of the value among its constants; with several, the place of the combination in
    `packed`: their places as digits of one number, see `strides`; without any, all entries belong to key 0. bounds holds columns one after another, each with FAN
    more than there are entries, so that groups may be read beyond the end; leasts[k] the least first and second bound
    of a key. results[i] is the query number of entry i.
    """

    keys: tuple[int, ...]
    checks: tuple[int, ...]
    columns: tuple[Column, ...]
    packed: npt.NDArray[np.uint64]
    starts: Numbers
    results: Numbers
    bounds: Ordinals
    leasts: Ordinals
    minima: Ordinals

    @cached_property
    def longest(self) -> int:
        """Most entries of one key."""
        return int(np.diff(self.starts).max(initial=0))

    @cached_property
    def levels(self) -> Ordinals:
        """Where each level of minima starts, and the end."""
        sizes, size = [0], len(self.results)
        while size > FAN:
            size = -(-size // FAN)
            sizes.append(size)
        return np.cumsum(sizes)

    @property
    def bytes(self) -> int:
        """Memory of the table."""
        arrays = (self.packed, self.starts, self.results, self.bounds, self.leasts, self.minima)
        return sum(array.nbytes for array in arrays)


@dataclass(frozen=True, slots=True)
class KeyedIndex:
    """All keyed queries of a segment: the subjects of keys and of checks, and one table for each combination of them.

    `repeated` are the slots of queries that one tuple may find twice.
    """

    keys: tuple[Cutting, ...]
    checks: tuple[Cutting, ...]
    tables: tuple[KeyedTable, ...]
    repeated: Numbers

    @property
    def cuttings(self) -> tuple[Cutting, ...]:
        """All subjects."""
        return self.keys + self.checks

    @property
    def subjects(self) -> list[Expression]:
        """What keys and checks speak about."""
        return [cutting.subject for cutting in self.cuttings]

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        return sum(table.bytes for table in self.tables) + sum(cutting.bytes for cutting in self.cuttings)


def strides(sizes: Sequence[int]) -> list[int]:
    """By what places among `sizes` constants are multiplied to be digits of one number; a size itself is a digit too.

    >>> strides([9, 99, 5])
    [600, 6, 1]
    """
    return [prod(size + 1 for size in sizes[place + 1 :]) for place in range(len(sizes))]


def build_keyed(accesses: Sequence[Access], numbers: Sequence[int]) -> KeyedIndex:
    """Compile keyed queries; an access belongs to query numbers[access.number]."""
    shapes: dict[Shape, list[Access]] = {}
    for access in paced(accesses):
        shapes.setdefault(access.shape, []).append(access)
    keys = {s: cut(s, found) for s, found in _sets(part for a in paced(accesses) for part in a.keys).items()}
    checks = {  # ordinals are compared as they are: no constants to be found among
        s: cut(s, [] if has_ordinals(s.type) else found)
        for s, found in _sets(part for a in paced(accesses) for part in a.checks).items()
    }
    tables = []
    for (key_subjects, check_subjects), found in shapes.items():
        results = np.array([numbers[access.number] for access in paced(found)], np.int32)
        columns, rows = _columns(check_subjects, checks, found)
        places, owner = _places([keys[subject] for subject in key_subjects], found)
        table = build_table(
            [list(keys).index(subject) for subject in key_subjects],
            [list(checks).index(subject) for subject in check_subjects],
            [len(keys[subject].constants) for subject in key_subjects],
            columns,
            places,
            rows[:, owner],
            results[owner],
        )
        tables.append(table)
    repeated = np.array([numbers[number] for number in _repeated(accesses)], np.int32)
    return KeyedIndex(tuple(keys.values()), tuple(checks.values()), tuple(tables), repeated)


def _sets(parts: Iterable[Asked]) -> dict[Expression, list[Regions]]:
    sets: dict[Expression, list[Regions]] = {}
    for subject, regions in parts:
        sets.setdefault(subject, []).append(regions)
    return sets


def _repeated(accesses: Sequence[Access]) -> list[int]:
    """Queries with two alternatives that one tuple may satisfy."""
    alternatives: dict[int, list[dict[Expression, Regions]]] = {}
    for access in paced(accesses):
        alternatives.setdefault(access.number, []).append(dict(access.keys + access.checks))
    return [
        number
        for number, terms in paced(alternatives.items())
        if not all(is_apart(one, other) for one, other in combinations(terms, 2))
    ]


def _columns(
    subjects: tuple[Expression, ...], checks: dict[Expression, Cutting], accesses: list[Access]
) -> tuple[list[Column], Ordinals]:
    """Both ends of every check, one row per end, worked out a subject at a time."""
    columns: list[Column] = []
    rows = np.empty((2 * len(subjects), len(accesses)), np.int64)
    for place, subject in enumerate(subjects):
        low, high = bounds(checks[subject], [access.checks[place][1] for access in paced(accesses)])
        rows[2 * place], rows[2 * place + 1] = low, ~high
        columns += [(list(checks).index(subject), False), (list(checks).index(subject), True)]
    return columns, rows


def _places(
    cuttings: list[Cutting], accesses: list[Access]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The combinations of key values that accesses name, as places among constants (subjects, entries), and whose they are."""
    owner = np.arange(len(accesses))
    found = np.empty((0, len(accesses)), np.int64)
    for subject, cutting in enumerate(cuttings):
        points = [access.keys[subject][1].cuts[0::2] for access in paced(accesses)]
        places = cutting.ids_of([point for several in points for point in several]) // 2
        counts = np.array([len(several) for several in points])
        firsts = np.cumsum(counts) - counts
        times = counts[owner]
        nth = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        owner = np.repeat(owner, times)
        found = np.vstack([np.repeat(found, times, axis=1), places[firsts[owner] + nth]])
    return found, owner


def build_table(
    keys: Sequence[int],
    checks: Sequence[int],
    sizes: Sequence[int],
    columns: Sequence[Column],
    places: npt.NDArray[np.int64],
    rows: Ordinals,
    results: Numbers,
) -> KeyedTable:
    """A table of entries.

    sizes: how many constants each key subject has. columns, rows: a row of bounds for each column. places: a row of key
    places for each key subject. results: the query number of each entry.
    """
    used = [
        place
        for place in np.argsort(-(rows > LEAST).sum(axis=1), kind="stable")
        if (rows[place] > LEAST).any()
    ]
    used = used * 2 if len(used) == 1 else used  # there is a second column, or none at all
    columns, rows = [columns[place] for place in used], rows[used]
    if not sizes:
        packed, numbers, count = np.empty(0, np.uint64), np.zeros(len(results), np.int64), 0
    elif len(sizes) == 1:
        packed, numbers, count = np.empty(0, np.uint64), places[0], sizes[0]
    else:
        digits = np.array(strides(sizes), np.uint64)[:, None]
        packed, numbers = np.unique((places.astype(np.uint64) * digits).sum(axis=0), return_inverse=True)
        count = len(packed)
    order = np.lexsort((rows[0], numbers)) if used else np.argsort(numbers, kind="stable")
    numbers, rows = numbers[order], rows[:, order]
    starts = np.searchsorted(numbers, np.arange(count + 2)).astype(np.int32)
    return KeyedTable(
        tuple(keys),
        tuple(checks),
        tuple(columns),
        packed,
        starts,
        results[order],
        np.pad(rows, ((0, 0), (0, FAN))).reshape(-1),
        _leasts(rows[:2], starts) if len(sizes) < 2 else np.empty(0, np.int64),
        _minima(rows[1]) if used else np.empty(0, np.int64),
    )


def _leasts(rows: Ordinals, starts: Numbers) -> Ordinals:
    """The least bounds of each key, GREATEST for keys without entries."""
    leasts = np.full((len(starts) - 1, len(rows)), GREATEST, np.int64)
    filled = np.flatnonzero(np.diff(starts))
    leasts[filled] = np.minimum.reduceat(rows, starts[filled], axis=1).T if len(filled) else GREATEST
    return leasts.reshape(-1)


def _minima(values: Ordinals) -> Ordinals:
    """The least of every FAN values, then the least of every FAN of these, until FAN or fewer are left."""
    levels = [np.empty(0, np.int64)]
    while len(values) > FAN:
        values = np.minimum.reduceat(values, np.arange(0, len(values), FAN))
        levels.append(values)
    return np.concatenate(levels)
