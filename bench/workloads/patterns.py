"""`patterns`: 24,000 LIKEs over 30 string columns, 12 in each of 2,000 queries.

Contains (55%), prefix (15%), suffix (15%) and general patterns with `%` and `_` inside (15%); literals have four
letters or more. A query is `(l AND l) OR (l AND l) OR ... ` with one NOT, each pair on two columns.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from bench.workloads.predicates import All, Any, Like, Not, Predicate
from bench.workloads.workload import Workload
from eddyline import Stream

COLUMNS: Final = 30
LIKES: Final = 12
VOCABULARY: Final = 4_000
_LETTERS: Final = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
_FREQUENCY: Final = np.arange(1, 27) ** -0.7 / (np.arange(1, 27) ** -0.7).sum()


def workload(queries: int = 2_000, *, seed: int = 5) -> Workload:
    """Texts of three to five words of a Zipf-distributed vocabulary, and patterns from its rarer half."""
    words = _vocabulary(np.random.default_rng(seed))
    rng = np.random.default_rng(seed + 1000)
    predicates = [_predicate(rng, words) for _ in range(queries)]
    names = [f"c{i}" for i in range(COLUMNS)]
    shares = np.cumsum(np.arange(1, VOCABULARY + 1) ** -0.8)

    def batch(rows: int) -> pa.RecordBatch:
        drawn = np.random.default_rng(seed + 1)
        return pa.record_batch([_texts(drawn, words, shares / shares[-1], rows) for _ in names], names)

    stream = Stream("texts", pa.schema([(name, pa.string()) for name in names]))
    return Workload("patterns", stream, queries, predicates.__getitem__, batch)


def _word(rng: np.random.Generator, low: int, high: int) -> str:
    return "".join(rng.choice(_LETTERS, int(rng.integers(low, high)), p=_FREQUENCY))


def _vocabulary(rng: np.random.Generator) -> list[str]:
    return [_word(rng, 3, 9) for _ in range(VOCABULARY)]


def _texts(rng: np.random.Generator, words: list[str], shares: np.ndarray, rows: int) -> pa.Array:
    places = np.searchsorted(shares, rng.random((rows, 5))).tolist()
    lengths = rng.integers(3, 6, rows).tolist()
    return pa.array([" ".join(words[p] for p in row[:n]) for row, n in zip(places, lengths, strict=True)])


def _pattern(rng: np.random.Generator, words: list[str]) -> str:
    literal = words[int(rng.integers(200, VOCABULARY))] if rng.random() < 0.5 else _word(rng, 4, 8)
    literal = literal if len(literal) >= 4 else literal + _word(rng, 3, 4)
    kind = rng.random()
    if kind < 0.55:
        return f"%{literal}%"
    if kind < 0.7:
        return f"{literal}%"
    return f"%{literal}" if kind < 0.85 else f"{literal}%{literal[0]}_{_word(rng, 1, 2)}%"


def _predicate(rng: np.random.Generator, words: list[str]) -> Predicate:
    columns = rng.integers(0, COLUMNS, LIKES).tolist()
    likes = [Like(f"c{column}", _pattern(rng, words)) for column in columns]
    single = likes[:4]
    pairs = [All((likes[i], Not(likes[i + 1]))) for i in range(4, LIKES, 2)]
    return Any((*single, *pairs))
