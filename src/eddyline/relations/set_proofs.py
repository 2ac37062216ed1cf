"""Proofs of what was found in a set, as text, for every finding at once.

That a plain box lies in another is seen by their ranges, which are read out of the compiled set: each range is put into
words once. All other proofs are searched for again, a pair at a time.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Final

from eddyline.index.keyed.ordinals import GREATEST, LEAST
from eddyline.kernels.ordinals import INFINITY
from eddyline.model import types as t
from eddyline.model.query import Query
from eddyline.model.regions import Cut, Regions
from eddyline.normalize.domain import Numbered, domain_of
from eddyline.normalize.explain import show_regions
from eddyline.normalize.floats import float_to_ordinal, ordinal_to_double, round_to_float
from eddyline.relations.pair import Pair
from eddyline.relations.plain_boxes import PlainBoxes, plain_boxes
from eddyline.relations.proof_text import LIES_IN
from eddyline.relations.question import Terms
from eddyline.relations.redundancies import Redundancies
from eddyline.relations.relation import Relation
from eddyline.standing.version import Version

EVERY_ROW: Final = "every row"


def proofs_of(found: Redundancies, version: Version, terms: Terms) -> list[str]:
    """Why each row of what was found in a set holds."""
    version = version.ready()
    boxes: dict[str, str] = {}
    for stream in version.compiler.streams:
        own = plain_boxes(version, stream)
        boxes |= dict(zip(version.table.named(own.dense).to_pylist(), _box_texts(own), strict=True))
    return [
        f"{boxes[query]}{LIES_IN}{boxes[other]}"
        if query in boxes and other in boxes
        else _searched(version, query, relation, other, terms)
        for query, relation, other in zip(*found.table.to_pydict().values(), strict=True)
    ]


def _searched(version: Version, query: str, relation: str, other: str | None, terms: Terms) -> str:
    one, same_or_other = _query(version, query), _query(version, other or query)
    pair = Pair.compiled(version.compiler, (one, same_or_other), budget=terms.budget)
    found = _asked(pair, relation)
    # the first line repeats what is claimed; a search that was cut short by a busy machine says so
    return "\n".join(line.strip() for line in str(found).split("\n")[1:]) if found else str(found)


def _query(version: Version, id: str) -> Query:
    dense = version.table.find(id)
    assert dense is not None, "what was found stands in the set"
    return version.table.query(dense)


def _asked(pair: Pair[object], relation: str) -> Relation:
    match relation:
        case "implied":
            return pair.implies()
        case "implies":
            return pair.swapped().implies()
        case "equivalent":
            return pair.equivalent()
        case _:
            return pair.never_true()


def _box_texts(boxes: PlainBoxes) -> list[str]:
    """What each box asks for."""
    kinds = list(boxes.stream.types.values())

    @cache
    def condition(column: int, low: int, high: int) -> str:
        if column in boxes.texts:
            regions = Regions.points([boxes.texts[column][low]])
        else:
            regions = _between(kinds[column], low, high)
        return (
            f"{boxes.names[column]} {'in' if regions.cuts else 'is'} {show_regions(regions, kinds[column])}"
        )

    ranges = boxes.ranges
    conditions = list(map(condition, ranges.columns.tolist(), ranges.lows.tolist(), ranges.highs.tolist()))
    firsts = ranges.firsts.tolist()
    return [" and ".join(conditions[first:end]) or EVERY_ROW for first, end in pairwise(firsts)]


def _between(kind: t.DataType, low: int, high: int) -> Regions:
    """The values from one ordinal to another, cut at values that are written shortly.

    >>> print(_between(t.INT, 4, GREATEST), _between(t.BOOLEAN, 1, 1))
    [4, +inf) {True}
    """
    is_fractional = t.is_fractional(kind)
    has_nan = is_fractional and high == GREATEST
    if is_fractional and low > INFINITY:
        return Regions(False, (), null=False, nan=has_nan)
    if kind == t.FLOAT:  # the ordinals are those of doubles
        low, high = _float_ordinal(low, 1), _float_ordinal(high, -1)
    domain = domain_of(kind)
    assert isinstance(domain, Numbered), "ranges are of types whose values are numbered"

    def cut(ordinal: int, outwards: int) -> Cut:
        """At the last value that belongs to the set, or at its neighbour that does not, if that is written shortly."""
        inside, outside = domain.value(ordinal), domain.value(ordinal + outwards) if is_fractional else None
        if is_fractional and low != high and len(repr(outside)) < len(repr(inside)):
            return outside, int(outwards < 0)
        return inside, int(outwards > 0)

    cuts = ([] if low == LEAST else [cut(low, -1)]) + ([] if high == GREATEST else [cut(high, 1)])
    return Regions(low == LEAST, tuple(cuts), null=False, nan=has_nan)


def _float_ordinal(ordinal: int, inwards: int) -> int:
    """The ordinal of the first float from that of a double on."""
    if ordinal in (LEAST, GREATEST):
        return ordinal
    double = ordinal_to_double(ordinal)
    nearest = round_to_float(double)
    return float_to_ordinal(nearest) + (inwards if (double - nearest) * inwards > 0 else 0)
