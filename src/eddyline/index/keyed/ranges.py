"""Queries that ask for a range of one subject, where few ranges hold a value: found by a table without a key.

    price BETWEEN 10 AND 12        all entries, by their lower end; of the upper ends the greatest of 8, 64, 512 ... are kept

Measured on one AVX-512 core: a tuple costs about 250 ns in such a table and 25 more for each query that it matches; where
masks are made and turned into pairs it costs 0.07 ns for each query of the set (10,000 queries of which a tuple matches ten:
430 and 910 ns; 100,000: 600 and 10,000).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from eddyline.index.cutting import cut
from eddyline.index.keyed.ordinals import bounds, has_ordinals
from eddyline.index.keyed.terms import Term, pieces
from eddyline.model.expression import Expression
from eddyline.model.pacing import paced
from eddyline.model.regions import Regions

# Nanoseconds.
LOOK: Final = 250.0
MATCH: Final = 25.0
MASK: Final = 0.07
FEWEST: Final = int(LOOK / MASK)  # fewer queries are never worth a table

Ranges = dict[int, list[tuple[Expression, Regions]]]  # by query, what its entries ask for


def ranges_worth_a_table(terms: Sequence[list[Term]], numbers: Iterable[int]) -> Ranges:
    """Those of some queries that are found by their ranges in less time than by masks; terms: alternatives of all queries."""
    found: dict[Expression, Ranges] = {}
    for number in paced(list(numbers)):
        asked = _ranges(terms[number])
        if asked:
            found.setdefault(asked[0][0], {})[number] = asked
    return {number: asked for ranges in found.values() if _pays(ranges) for number, asked in ranges.items()}


def _ranges(alternatives: list[Term]) -> list[tuple[Expression, Regions]]:
    """A query as ranges of one subject with both ends, none if it asks for something else."""
    if not alternatives or any(len(term) != 1 for term in alternatives):
        return []
    conditions = [condition for term in alternatives for condition in term.items()]
    subject = conditions[0][0]
    if not has_ordinals(subject.type) or any(each != subject or regions.null for each, regions in conditions):
        return []
    found = [(subject, piece) for _, regions in conditions for piece in pieces(regions)]
    return found if all(_has_both_ends(regions) for _, regions in found) else []


def _has_both_ends(regions: Regions) -> bool:
    return len(regions.cuts) == 2 and not regions.inside and not regions.nan


def _pays(ranges: Ranges) -> bool:
    """Whether a tuple is in so few ranges, if values lie as ends of ranges do, that looking for them takes less time."""
    if len(ranges) < FEWEST:
        return False
    asked = [part for parts in ranges.values() for part in parts]
    low, high = bounds(cut(asked[0][0], []), [regions for _, regions in asked])
    begun = np.searchsorted(np.sort(low), low, "right")
    ended = np.searchsorted(np.sort(high), low, "left")
    return LOOK + MATCH * float((begun - ended).mean()) < MASK * len(ranges)
