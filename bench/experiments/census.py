"""A stand-in for the US Census 1990 data of both papers, which is not shipped here: made up, and only like it in kind.

Like the real ones the columns are small codes of very different range, most of them skewed to a few values, and they
hang together: a person is drawn from one of six kinds (child, student, worker, ...), which prefer other codes.
The names are those of columns of the real data; the frequencies are invented.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bench.experiments.data import Data

COLUMNS: Final = {
    "age": 91, "class": 9, "hours": 100, "income": 60, "industry": 80, "marital": 5, "means": 12, "occup": 90,
    "poverty": 50, "relation": 14, "school": 4, "travel": 100, "weeks": 53, "yearsch": 18, "birthplace": 70,
}  # fmt: skip
KINDS: Final = 6


def census(tuples: int, *, seed: int = 14) -> Data:
    """15 columns of skewed codes that depend on the kind of person."""
    tables = _tables(np.random.default_rng(seed))
    shares = np.array([0.26, 0.12, 0.3, 0.12, 0.05, 0.15])

    def draw(rng: np.random.Generator, first: int, count: int) -> np.ndarray:
        kind = rng.choice(KINDS, count, p=shares)
        out = np.empty((len(tables), count), np.int16)
        for column, cumulative in enumerate(tables):
            chance = rng.random(count)
            out[column] = (chance[:, None] >= cumulative[kind]).sum(axis=1)
        return out

    return Data("census-like", len(COLUMNS), tuples, tuple(COLUMNS.values()), draw, seed)


def _tables(rng: np.random.Generator) -> list[np.ndarray]:
    """Per column the cumulative shares of its codes, one row for each kind of person.

    Each kind has a favourite stretch of the codes and, as with "not applicable", often the code 0.
    """
    tables = []
    for codes in COLUMNS.values():
        centres = rng.uniform(0, codes, KINDS)
        widths = codes * rng.uniform(0.04, 0.2, KINDS) + 0.5
        places = np.arange(codes)
        weights = np.exp(-0.5 * ((places - centres[:, None]) / widths[:, None]) ** 2) + 0.02 / codes
        weights /= weights.sum(axis=1, keepdims=True)
        zero = rng.choice([0.0, 0.1, 0.7], KINDS)
        weights *= (1 - zero)[:, None]
        weights[:, 0] += zero
        tables.append(np.cumsum(weights, axis=1)[:, :-1])
    return tables
