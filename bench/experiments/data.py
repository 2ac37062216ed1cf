"""The papers' data sets, made tuple by tuple from a seed: whole numbers 0..99, any piece of any length the same each time.

D1    uniform                                                     D2    bell-shaped: middle values are frequent
D3    a pulse: the first half of the tuples low, the second high        census    a stand-in, see `census`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

UNIT: Final = 1_000  # tuples that are drawn together
VALUES: Final = 100
Draw = Callable[[np.random.Generator, int, int], np.ndarray]


@dataclass(frozen=True)
class Data:
    """A data set of so many tuples; `draw(rng, first, count)` gives (attributes, count) values from tuple `first` on."""

    name: str
    attributes: int
    tuples: int
    values: tuple[int, ...]
    draw: Draw
    seed: int

    def piece(self, first: int, count: int) -> np.ndarray:
        """Some consecutive tuples, (attributes, count)."""
        units = range(first // UNIT, -(-(first + count) // UNIT))
        drawn = [self.draw(np.random.default_rng((self.seed, u)), u * UNIT, UNIT) for u in units]
        start = first - units[0] * UNIT if len(units) else 0
        whole = np.concatenate(drawn, axis=1) if drawn else np.empty((self.attributes, 0), np.int16)
        return whole[:, start : start + count]

    def spread(self, count: int) -> np.ndarray:
        """Tuples taken evenly from the whole data set, in pieces."""
        pieces = min(20, max(1, count // 50))
        each = count // pieces
        starts = [int(i * (self.tuples - each) / max(1, pieces - 1)) for i in range(pieces)]
        return np.concatenate([self.piece(start, each) for start in starts], axis=1)


def uniform(tuples: int, *, attributes: int = 20, values: int = VALUES, seed: int = 11) -> Data:
    """D1: every value is as frequent as every other."""

    def draw(rng: np.random.Generator, first: int, count: int) -> np.ndarray:
        return rng.integers(0, values, (attributes, count), dtype=np.int16)

    return Data("D1", attributes, tuples, (values,) * attributes, draw, seed)


def bell(tuples: int, *, attributes: int = 20, seed: int = 12) -> Data:
    """D2: like a normal distribution with mean 50 and deviation 12, cut to 0..99."""

    def draw(rng: np.random.Generator, first: int, count: int) -> np.ndarray:
        drawn = rng.normal(VALUES / 2, 12, (attributes, count))
        return np.clip(np.floor(drawn), 0, VALUES - 1).astype(np.int16)

    return Data("D2", attributes, tuples, (VALUES,) * attributes, draw, seed)


def pulse(tuples: int, *, attributes: int = 20, seed: int = 13) -> Data:
    """D3 of ASC-1: the first half of the stream has low values (below 30), the second half high ones (from 70 on)."""

    def draw(rng: np.random.Generator, first: int, count: int) -> np.ndarray:
        drawn = rng.integers(0, 30, (attributes, count), dtype=np.int16)
        high = np.arange(first, first + count) >= tuples // 2
        return np.where(high, VALUES - 1 - drawn, drawn).astype(np.int16)

    return Data("D3", attributes, tuples, (VALUES,) * attributes, draw, seed)


def alternating(one: Data, other: Data, span: int, tuples: int) -> Data:
    """Two data sets in turn, `span` tuples each (a multiple of 1,000)."""
    assert span % UNIT == 0, "a unit belongs to one of the two"

    def draw(rng: np.random.Generator, first: int, count: int) -> np.ndarray:
        return (one, other)[first // span % 2].draw(rng, first, count)

    name = f"{one.name} and {other.name} in turn"
    return Data(name, one.attributes, tuples, one.values, draw, one.seed + other.seed)
