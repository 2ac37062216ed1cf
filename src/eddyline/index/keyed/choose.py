"""Which executor serves which query.

A query is found by key where each of its alternatives (`terms.py`) names few values of subjects with many constants and
asks only for ranges otherwise. A tuple then costs about 1 to 2.5 ns for each table of queries that are found in the same
way, and hardly more for those that it does not match; the sliced executor spends about 0.007 ns on every query and tuple
(measured on one AVX-512 core). So a key needs 2.5 / 0.007, about 360, different values to leave most queries out, and a
table about as many queries to be worth a look.

That holds beside queries that are sliced anyway. Where none would be left, no subject has to be located for them either,
which takes about 2 ns for a number and 10 for a text. Then tables pay from about 120 queries on, and from 23 if their keys
have texts (1,000 equalities of texts in four tables: 19 ns a tuple instead of 51; 100 alerts: 7 instead of 20).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, prod
from typing import Final

from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.index.keyed.ranges import ranges_worth_a_table
from eddyline.index.keyed.terms import MAX_TERMS, Term, pieces, terms_of
from eddyline.model import types as t
from eddyline.model.expression import Expression
from eddyline.model.pacing import paced
from eddyline.model.predicate import NEVER, Predicate
from eddyline.model.regions import Regions

ALONE: Final = 3  # times fewer values and queries are enough if every query is found by key,
ALONE_TEXT: Final = 16  # and times fewer where the key has texts
MAX_POINTS: Final = 16
MIN_VALUES: Final = 16  # a subject with fewer constants joins a key only where the key is too weak without it
MAX_COMBINATIONS: Final = 1 << 62  # of the values of a key, so that one number tells them apart
Asked = tuple[Expression, Regions]  # a condition: what is asked of a subject
Shape = tuple[tuple[Expression, ...], tuple[Expression, ...]]


@dataclass(frozen=True, slots=True)
class Access:
    """How one alternative of a query is found: the values that its key subjects have, and the ranges left to check.

    Without a key it is found by its only range (`ranges.py`). Subjects stand in one order in all accesses of a segment.
    """

    number: int
    keys: tuple[Asked, ...]
    checks: tuple[Asked, ...]

    @property
    def shape(self) -> Shape:
        """The subjects; accesses of the same shape share a table."""
        return tuple([subject for subject, _ in self.keys]), tuple([subject for subject, _ in self.checks])


def choose(
    predicates: Sequence[Predicate], settings: IndexSettings = DEFAULT_INDEX
) -> tuple[list[Access], list[int]]:
    """Accesses of the keyed queries, and the places of the sliced ones."""
    if settings.executor in ("sliced", "rowwise"):
        return [], list(range(len(predicates)))
    terms = [terms_of(predicate) or [] for predicate in paced(predicates)]
    subjects = _Subjects(terms)
    if settings.executor == "keyed":
        keyed = _keyed(terms, subjects, _Least(1, 1))
    else:
        most = settings.min_keys
        keyed = _keyed(terms, subjects, _Least(ceil(most / ALONE), ceil(most / ALONE_TEXT)), or_none=True)
        if any(number not in keyed and predicate != NEVER for number, predicate in enumerate(predicates)):
            keyed = _keyed(terms, subjects, _Least(most, most))
        left = [number for number in range(len(predicates)) if number not in keyed]
        for number, asked in ranges_worth_a_table(terms, left).items():
            keyed[number] = [Access(number, (), (part,)) for part in asked]
    sliced = [number for number in range(len(predicates)) if number not in keyed]
    return [access for accesses in keyed.values() for access in accesses], sliced


@dataclass(frozen=True, slots=True)
class _Least:
    """How many values a key needs, and how many queries a table: where the key is of numbers, and where it has texts."""

    numbers: int
    texts: int

    def of(self, subjects: Iterable[Expression]) -> int:
        """For a key of these subjects."""
        return self.texts if any(subject.type == t.STRING for subject in subjects) else self.numbers


def _keyed(
    terms: list[list[Term]], subjects: _Subjects, least: _Least, *, or_none: bool = False
) -> dict[int, list[Access]]:
    """The accesses of the queries that are worth a table, by number; of none, if so wanted, where one has no key."""
    if prod(subjects.values.values()) < least.of(subjects.values):
        return {}
    keyed = {}
    for number, alternatives in enumerate(paced(terms)):
        accesses = _accesses(number, alternatives, subjects, least)
        if accesses:
            keyed[number] = accesses
        elif alternatives and or_none:
            return {}
    _drop_rare_shapes(keyed, least)
    return keyed


class _Subjects:
    """All subjects in one order, and with how many different values each is compared in conditions that are keys."""

    def __init__(self, terms: Iterable[list[Term]]) -> None:
        self._places: dict[Expression, int] = {}
        constants: dict[Expression, set[object]] = {}
        for alternatives in paced(terms):
            for term in alternatives:
                for subject, regions in term.items():
                    self._places.setdefault(subject, len(self._places))
                    if is_key(regions):
                        constants.setdefault(subject, set()).update([value for value, _ in regions.cuts])
        self.values = {subject: len(found) for subject, found in constants.items()}

    def ordered(self, parts: Iterable[Asked]) -> tuple[Asked, ...]:
        """Conditions in the order of their subjects."""
        return tuple(sorted(parts, key=lambda part: self._places[part[0]]))


def _accesses(number: int, terms: list[Term], subjects: _Subjects, least: _Least) -> list[Access]:
    """How a query is found, one access for each alternative; none if it is not found by key."""
    found: list[Access] = []
    for term in terms:
        keys = _keys(term, subjects.values, least)
        if not keys:
            return []
        rest = [part for part in term.items() if part not in keys]
        if any(regions.null for _, regions in rest):
            return []
        for checks in _ranges(subjects.ordered(rest)):
            found.append(Access(number, subjects.ordered(keys), checks))
            if len(found) > MAX_TERMS:
                return []
    return found


def _keys(term: Term, values: dict[Expression, int], least: _Least) -> list[Asked]:
    """The conditions of a term that make its key, none if they tell too little apart.

    All that ask for a value of a subject with many take part: what the key decides need not be checked.
    """
    candidates = [part for part in term.items() if part[0] in values and is_key(part[1])]
    needed = least.of(subject for subject, _ in candidates)
    chosen: list[Asked] = []
    strength = combinations = points = 1
    for subject, regions in sorted(candidates, key=lambda part: -values[part[0]]):
        wanted = not chosen or strength < needed or values[subject] >= min(MIN_VALUES, needed)
        more = combinations * (values[subject] + 1), points * (len(regions.cuts) // 2)
        if wanted and more[0] <= MAX_COMBINATIONS and more[1] <= MAX_POINTS:
            chosen.append((subject, regions))
            strength *= values[subject]
            combinations, points = more
    return chosen if strength >= needed else []


def _ranges(parts: tuple[Asked, ...]) -> Iterator[tuple[Asked, ...]]:
    """Conditions as alternatives that are one range each."""
    if all(is_range(regions) for _, regions in parts):
        return iter([parts])
    split = [[(subject, piece) for piece in pieces(regions)] for subject, regions in parts]
    return product(*split)


def _drop_rare_shapes(keyed: dict[int, list[Access]], least: _Least) -> None:
    """Take out the queries that need a table which would serve too few of them."""
    shapes = {number: {access.shape for access in accesses} for number, accesses in paced(keyed.items())}
    served = Counter(shape for found in paced(shapes.values()) for shape in found)
    for number, found in paced(shapes.items()):
        if any(served[shape] < least.of(shape[0]) for shape in found):
            del keyed[number]


def is_key(regions: Regions) -> bool:
    """Whether a set consists of a few single values."""
    cuts = regions.cuts
    return (
        0 < len(cuts) <= 2 * MAX_POINTS
        and not (regions.inside or regions.null or regions.nan)
        and len(cuts) % 2 == 0
        and all(cuts[i][0] == cuts[i + 1][0] for i in range(0, len(cuts), 2))
    )


def is_range(regions: Regions) -> bool:
    """Whether a set is one range of values; NaN is above +inf, as Spark orders it."""
    ends = len(regions.cuts) + regions.inside
    return not regions.null and (ends < 2 or (ends == 2 and not regions.nan))
