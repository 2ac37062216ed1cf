"""Boxes for tests: short ways to write them, random ones on a small grid, and the truth by looking at every cell."""

from __future__ import annotations

import random
from itertools import product

from bench.baselines.box_trees import RStarTree, RTree
from eddyline.implication.box_index import PrefixBitmaps
from eddyline.implication.boxes import Box, Interval, Predicate, interval

VALUES = 5
INDEXES = {"none": None, "bitmaps": PrefixBitmaps, "R-tree": RTree, "R*-tree": RStarTree}

Cell = tuple[float, ...]


def closed(*ends: tuple[float, float]) -> Box:
    """A box with closed ends, two for each dimension."""
    return Box.of(*[interval(low, high) for low, high in ends])


def predicate(*boxes: Box) -> Predicate:
    return Predicate.of(boxes)


def cells(dimensions: int) -> list[Cell]:
    """A point of every cell that ends at whole numbers 0 to 4 can tell apart: the numbers, and between and beyond them."""
    return list(product([n / 2 for n in range(-1, 2 * VALUES)], repeat=dimensions))


def holds(of: Predicate, point: Cell) -> bool:
    return any(
        all(_within(each, x) for each, x in zip(box.intervals, point, strict=True)) for box in of.boxes
    )


def _within(of: Interval, value: float) -> bool:
    (low, above), (high, included) = of
    return (low < value or (low == value and not above)) and (
        value < high or (value == high and included == 1)
    )


def implies(one: Predicate, other: Predicate, dimensions: int) -> bool:
    """By enumeration, with comparisons of values instead of cuts."""
    return all(holds(other, point) for point in cells(dimensions) if holds(one, point))


def random_predicate(rng: random.Random, dimensions: int, boxes: int) -> Predicate:
    """Open, closed and infinite ends, points, and dimensions that are not mentioned."""
    return Predicate.of([Box.of(*[_interval(rng) for _ in range(dimensions)]) for _ in range(boxes)])


def _interval(rng: random.Random) -> Interval:
    kind = rng.random()
    if kind < 0.15:
        return interval()
    low, high = sorted(rng.choices(range(VALUES), k=2))
    if low == high:
        return interval(low, high)
    options = {"open_low": rng.random() < 0.4, "open_high": rng.random() < 0.4}
    if kind < 0.3:
        return interval(low, open_low=options["open_low"])
    if kind < 0.45:
        return interval(high=high, open_high=options["open_high"])
    return interval(low, high, **options)
