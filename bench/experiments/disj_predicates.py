"""Random predicates as in DISJ: bounds from a few values between 0 and 100, uniform for streams, normal for queries.

The paper does not say how two bounds make an interval, nor how far the normal distribution spreads, and its times depend on
both. Here an interval has one bound in each half of the range, and those of queries lie around 25 and 75 with a standard
deviation of 5. Of what we tried this comes closest to what the paper prints: a stream of table 7 lets 66% pass and HCR 3.4 points
more, 933 and 660 of 1,200 pairs match (`disj_table_7.py`, `disj_pairs.py`). With bounds anywhere a stream lets 43% pass.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.implication.boxes import Box, Interval, Predicate, interval

SPREAD: Final = 5.0
Draw = Callable[[Sequence[int], float], int]  # one of some values, given where their middle lies


@dataclass(frozen=True)
class Shape:
    """The sizes of an experiment, with the paper's defaults. If infinite, each box bounds a random choice of dimensions."""

    dimensions: int = 6
    query_boxes: int = 2
    stream_boxes: int = 20
    infinite: bool = False
    query_values: int = 21
    stream_values: int = 21
    spread: float = SPREAD
    bounds_anywhere: bool = False


def streams(shape: Shape, count: int, seed: int = 1) -> list[Predicate]:
    """Predicates of streams, with uniform bounds."""
    rng = random.Random(f"streams {seed}")
    make = _Boxes(rng, shape, shape.stream_values, lambda values, _: rng.choice(values))
    return [make.predicate(shape.stream_boxes) for _ in range(count)]


def queries(shape: Shape, count: int, seed: int = 1) -> list[Predicate]:
    """Predicates of queries, with normal bounds; a value that is drawn beyond an end becomes the end."""
    rng = random.Random(f"queries {seed}")

    def normal(values: Sequence[int], middle: float) -> int:
        drawn = rng.gauss(middle, shape.spread)
        return min(values, key=lambda value: abs(value - drawn))

    make = _Boxes(rng, shape, shape.query_values, normal)
    return [make.predicate(shape.query_boxes) for _ in range(count)]


class _Boxes:
    def __init__(self, rng: random.Random, shape: Shape, values: int, draw: Draw) -> None:
        self._rng = rng
        self._shape = shape
        self._values = [round(100 * n / (values - 1)) for n in range(values)]
        self._draw = draw

    def predicate(self, boxes: int) -> Predicate:
        return Predicate.of([self._box() for _ in range(boxes)])

    def _box(self) -> Box:
        """At least one dimension is bounded: a box without any would be the whole space."""
        every = range(self._shape.dimensions)
        bounded = self._rng.sample(every, self._rng.randint(1, len(every))) if self._shape.infinite else every
        return Box.of(*[self._interval() if n in bounded else interval() for n in every])

    def _interval(self) -> Interval:
        low, high = self._bounds()
        while low == high:
            low, high = self._bounds()
        return interval(low, high)

    def _bounds(self) -> list[int]:
        if self._shape.bounds_anywhere:
            return sorted([self._draw(self._values, 50), self._draw(self._values, 50)])
        lower = [value for value in self._values if value <= 50]
        upper = [value for value in self._values if value >= 50]
        return [self._draw(lower, 25), self._draw(upper, 75)]
