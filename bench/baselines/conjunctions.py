"""What every index here takes and gives: conjunctions of comparisons of numbers, and a bitmap of queries for each tuple.

An index is asked attribute by attribute and answers with the predicates that hold; a query matches when as many have
been named as it has. So a query may compare one attribute several times, and the cost follows the predicates that hold.

    q0: a > 3 AND a < 9 AND b = 1     needed 3        a = 5: + +     b = 1: +     3 of 3: matches
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workloads.predicates import Compare

Conjunction = tuple[Compare, ...]
OPERATORS: Final = ("=", "<>", "<", "<=", ">", ">=")
EQUAL, UNEQUAL, LESS, AT_MOST, GREATER, AT_LEAST = range(6)


class Index(Protocol):
    """Built from queries; gives bitmaps (rows, words), query j at bit j % 64 of word j // 64, or all pairs."""

    def masks(self, batch: pa.RecordBatch) -> np.ndarray: ...

    def match(self, batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class Predicates:
    """All predicates as arrays: attribute, operator (place in OPERATORS), constant, query; `needed`: how many a query has."""

    attributes: tuple[str, ...]
    attribute: np.ndarray
    operator: np.ndarray
    constant: np.ndarray
    query: np.ndarray
    needed: np.ndarray

    @property
    def words(self) -> int:
        """Words of a bitmap over the queries."""
        return max(1, -(-len(self.needed) // 64))

    def of(self, attribute: int, *operators: int) -> tuple[np.ndarray, np.ndarray]:
        """Constants and queries of an attribute's predicates with one of the operators, by ascending constant."""
        chosen = np.flatnonzero((self.attribute == attribute) & np.isin(self.operator, operators))
        chosen = chosen[np.argsort(self.constant[chosen], kind="stable")]
        return self.constant[chosen], self.query[chosen]


def flatten(queries: Sequence[Conjunction]) -> Predicates:
    """The predicates of all queries, in their order."""
    parts = [(part, number) for number, query in enumerate(queries) for part in query]
    for part, _ in parts:
        if part.operator not in OPERATORS or isinstance(part.value, str):
            raise ValueError(f"only numbers are compared here, by one of {', '.join(OPERATORS)}: {part}")
    attributes = tuple(dict.fromkeys(part.column for part, _ in parts))
    return Predicates(
        attributes,
        np.array([attributes.index(part.column) for part, _ in parts], np.int64),
        np.array([OPERATORS.index(part.operator) for part, _ in parts], np.int64),
        np.array([part.value for part, _ in parts], np.float64),
        np.array([number for _, number in parts], np.int64),
        np.array([len(query) for query in queries], np.int64),
    )


def values_of(batch: pa.RecordBatch, attributes: Sequence[str]) -> np.ndarray:
    """The columns as doubles, (attributes, rows), NaN for NULL: it makes every comparison false but `<>`."""
    out = np.empty((len(attributes), batch.num_rows))
    for place, name in enumerate(attributes):
        column = batch.column(name)
        if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
            raise ValueError(f'column "{name}" has NaN, which these indexes do not know')
        out[place] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return out


def always(needed: np.ndarray, words: int) -> np.ndarray:
    """The bitmap of queries without predicates, which every tuple matches."""
    flags = np.zeros(words * 64, np.uint8)
    flags[: len(needed)] = needed == 0
    return np.packbits(flags, bitorder="little").view(np.uint64)


def pairs_of(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and queries of all ones, by row, then query."""
    flags = np.unpackbits(np.ascontiguousarray(masks).view(np.uint8), axis=1, bitorder="little")
    rows, queries = np.nonzero(flags)
    return rows, queries


class Counting:
    """Base of the indexes that name predicates: bitmaps by counting, in a kernel that subclasses give."""

    def __init__(self, queries: Sequence[Conjunction]) -> None:
        self.predicates = flatten(queries)
        self._always = always(self.predicates.needed, self.predicates.words)

    def masks(self, batch: pa.RecordBatch) -> np.ndarray:
        """The queries of each tuple, as bitmaps."""
        values = values_of(batch, self.predicates.attributes)
        found = np.tile(self._always, (batch.num_rows, 1))
        hits = np.zeros(len(self.predicates.needed), np.int64)
        touched = np.empty(len(self.predicates.query) + 1, np.int64)
        self._fill(values, self.predicates.needed, hits, touched, found)
        return found

    def match(self, batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
        """Rows and queries of all pairs."""
        return pairs_of(self.masks(batch))

    def _fill(self, *arrays: Any) -> None:
        raise NotImplementedError
