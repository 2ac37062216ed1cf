"""Random predicates as DISJ makes them: bounds from a few values between 0 and 100, uniform for streams, normal for queries.

The paper does not say how far the normal distribution spreads. Ours has its mean at 50 and a standard deviation of a sixth of
the range if nothing else is said, so that nearly all values lie in it; values beyond an end are drawn again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.implication.boxes import Box, Interval, Predicate, interval

SPREAD: Final = 100 / 6
Draw = Callable[[], int]


@dataclass(frozen=True)
class Shape:
    """The sizes of an experiment; the paper's defaults. With `infinite`, each box bounds a random choice of the dimensions."""

    dimensions: int = 6
    query_boxes: int = 2
    stream_boxes: int = 20
    infinite: bool = False
    query_values: int = 21
    stream_values: int = 21
    spread: float = SPREAD


def streams(shape: Shape, count: int, seed: int = 1) -> list[Predicate]:
    """Predicates of streams, with uniform bounds."""
    rng = random.Random(f"streams {seed}")
    values = _values(shape.stream_values)
    return [_predicate(rng, shape, shape.stream_boxes, lambda: rng.choice(values)) for _ in range(count)]


def queries(shape: Shape, count: int, seed: int = 1) -> list[Predicate]:
    """Predicates of queries, with normal bounds."""
    rng = random.Random(f"queries {seed}")
    values = _values(shape.query_values)

    def normal() -> int:
        while not 0 <= (drawn := rng.gauss(50, shape.spread)) <= 100:
            pass
        return min(values, key=lambda value: abs(value - drawn))

    return [_predicate(rng, shape, shape.query_boxes, normal) for _ in range(count)]


def _values(count: int) -> Sequence[int]:
    """Some values from 0 to 100, both included.

    >>> _values(6)
    [0, 20, 40, 60, 80, 100]
    """
    return [round(100 * n / (count - 1)) for n in range(count)]


def _predicate(rng: random.Random, shape: Shape, boxes: int, draw: Draw) -> Predicate:
    return Predicate.of([_box(rng, shape, draw) for _ in range(boxes)])


def _box(rng: random.Random, shape: Shape, draw: Draw) -> Box:
    """At least one dimension is bounded: a box without any would be the whole space."""
    bounded = set(range(shape.dimensions))
    if shape.infinite:
        bounded = set(rng.sample(range(shape.dimensions), rng.randint(1, shape.dimensions)))
    return Box.of(*[_interval(draw) if n in bounded else interval() for n in range(shape.dimensions)])


def _interval(draw: Draw) -> Interval:
    low, high = draw(), draw()
    while low == high:
        high = draw()
    return interval(min(low, high), max(low, high))
