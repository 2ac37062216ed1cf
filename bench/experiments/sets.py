"""The query sets of the papers (ASC-1, table 2; ASC-2, table 1); cover sets that a paper does not name are ours.

Queries come in families, as those of ASC-2's first figure do: a query that uses one attribute of the cover set prefers
the attributes of its family four to one. Of the uses of an attribute three in ten are bands of two predicates.
"""

from __future__ import annotations

from typing import Final

from bench.experiments.census import COLUMNS
from bench.experiments.query_sets import Spec

CENSUS: Final = tuple(COLUMNS.values())


def _families(queries: int, predicates: int, attributes: int, cover: int, **more: object) -> Spec:
    return Spec(queries, predicates, attributes, cover, bands=0.3, ranges=0.1, affinity=4.0, **more)  # type: ignore[arg-type]


def first(seed: int = 1) -> Spec:
    """Figures 6 and 9 of ASC-1; Q1 of ASC-2 (deviation 0.08)."""
    return _families(50, 204, 10, 3, deviation=0.08, seed=seed)


def on_census(seed: int = 1) -> Spec:
    """Figure 7 of ASC-1: two least cover sets."""
    return _families(30, 104, 7, 2, covers=2, values=CENSUS, seed=seed)


def pruned(attributes: int, seed: int = 1) -> Spec:
    """Figure 8 of ASC-1, which has 236 predicates on 20 attributes; as many an attribute with fewer."""
    return _families(40, round(236 * attributes / 20), attributes, 5, seed=seed)


def second(seed: int = 1) -> Spec:
    """Q2 of ASC-2 (deviation 0.2), on the census data."""
    return Spec(50, 173, 15, 3, bands=0.1, ranges=0.1, skew=2.0, deviation=0.2, values=CENSUS, seed=seed)


THIRD: Final = {6: (30, 78, 2), 7: (30, 81, 2), 8: (35, 98, 2), 10: (40, 138, 3), 15: (50, 173, 3)}
"""Q3 of ASC-2 by number of p-attributes: queries, predicates, least cover set."""


def third(attributes: int, seed: int = 1) -> Spec:
    """Q3 of ASC-2."""
    queries, predicates, cover = THIRD[attributes]
    return _families(queries, predicates, attributes, cover, seed=seed)


def fourth(ranges: float, seed: int = 1) -> Spec:
    """Q4 of ASC-2: the more inequalities, the more the regions of an ASC differ in their ones."""
    return Spec(50, 362, 10, 2, covers=0, bands=0.0, ranges=ranges, strict=True, seed=seed)
