"""Conjunctions whose conditions hardly any other query shares: compared and ANDed in one go, without masks in between.

A mask pays when several queries use it. Measured on one AVX-512 core, for 64 tuples: 0.55 ns for a mask, once, and 0.14 ns
for each AND with it; 0.39 ns for a comparison inside of a conjunction, each time: masks would win from two uses on. With
results that go to memory beside, they do from one and a half on. What is shared may also be the edges of conditions
(`index/sliced/edges.py`): `a < 5`, `a >= 5` and `a = 5` are three conditions and two edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from eddyline.config import Direct as Wanted
from eddyline.index.cutting import Cutting
from eddyline.model.expression import Expression
from eddyline.model.pacing import paced
from eddyline.model.predicate import Condition, Predicate, conditions_of, conjunction

Int64 = npt.NDArray[np.int64]
Comparison = tuple[int, int, int]  # row of the subject, first id, last id less first id
MOST_CONDITIONS: Final = 6  # so many the kernels know
FEW_USES: Final = 1.5


@dataclass(frozen=True, slots=True)
class Direct:
    """Conjunctions by their number of conditions; group g has those of `sizes[g]` results from `firsts[g]` on.

    Its comparisons start at `offsets[g]`, `arities[g]` for each result: subject `rows[i]` of those with ids of one byte
    lies between `lows[i]` and `lows[i] + spans[i]`.
    """

    arities: Int64
    firsts: Int64
    sizes: Int64
    offsets: Int64
    rows: Int64
    lows: npt.NDArray[np.uint8]
    spans: npt.NDArray[np.uint8]


def choose_direct(
    predicates: Sequence[Predicate], rows: Mapping[Expression, tuple[int, Cutting]], wanted: Wanted
) -> dict[int, list[Comparison]]:
    """The comparisons of the predicates that are to go without masks; `rows` has the subjects with ids of one byte."""
    if wanted == "never":
        return {}
    uses = Counter(condition for predicate in paced(predicates) for condition in conditions_of(predicate))
    known = {condition: _comparison(condition, rows) for condition in uses}
    shares = _shares(uses, known)
    found: dict[int, list[Comparison]] = {}
    for number, predicate in enumerate(paced(predicates)):
        conditions = conjunction(predicate)
        if not conditions or len(conditions) > MOST_CONDITIONS:
            continue
        if wanted == "auto" and sum(shares[c] for c in conditions) * FEW_USES <= len(conditions):
            continue
        comparisons = [c for c in map(known.__getitem__, conditions) if c is not None]
        if len(comparisons) == len(conditions):
            found[number] = comparisons
    return found


def _shares(uses: Counter[Condition], known: Mapping[Condition, Comparison | None]) -> dict[Condition, float]:
    """How much of a mask one use of each condition has to pay for, by itself or by its edges, whichever is less."""
    edges: Counter[tuple[int, int]] = Counter()
    for condition, comparison in known.items():
        for edge in _edges(comparison):
            edges[edge] += uses[condition]
    return {
        c: min(1 / n, sum(1 / edges[edge] for edge in _edges(known[c])) or 1 / n) for c, n in uses.items()
    }


def _edges(comparison: Comparison | None) -> list[tuple[int, int]]:
    if comparison is None:
        return []
    row, low, span = comparison
    return [(row, low + span), (row, low - 1)] if low else [(row, span)]


def _comparison(condition: Condition, rows: Mapping[Expression, tuple[int, Cutting]]) -> Comparison | None:
    """A condition that is one range of ids of one byte."""
    if condition.subject not in rows:
        return None
    row, cutting = rows[condition.subject]
    ranges = cutting.ranges(condition.regions)
    return (row, ranges[0][0], ranges[0][1] - ranges[0][0]) if len(ranges) == 1 else None


def build_direct(chosen: Mapping[int, list[Comparison]], first: int) -> tuple[Direct, list[int]]:
    """The chosen predicates, whose results are consecutive from `first` on, and their order."""
    by_arity: dict[int, list[int]] = {}
    for number, comparisons in chosen.items():
        by_arity.setdefault(len(comparisons), []).append(number)
    groups: list[tuple[int, int, int, int]] = []
    order: list[int] = []
    flat: list[Comparison] = []
    for arity in sorted(by_arity):
        members = by_arity[arity]
        groups.append((arity, first + len(order), len(members), len(flat)))
        order += members
        flat += [comparison for number in members for comparison in chosen[number]]
    arities, firsts, sizes, offsets = np.array(groups, np.int64).reshape(-1, 4).T.copy()
    rows, lows, spans = np.array(flat, np.int64).reshape(-1, 3).T.copy()
    return Direct(arities, firsts, sizes, offsets, rows, lows.astype(np.uint8), spans.astype(np.uint8)), order
