"""`alerts`: one symbol, a price and a volume bound: many queries, few of them concern a tuple.

5,000 symbols, Zipf-distributed in tuples and queries alike; about 0.1% of a symbol's tuples match a query.
`shape="or"`: two such alternatives on different symbols. `columns=30`: the tuples carry 27 more columns.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Final, Literal

import numpy as np
import pyarrow as pa

from bench.workloads.predicates import All, Any, Compare, Predicate
from bench.workloads.workload import Workload
from eddyline import Stream

SYMBOLS: Final = 5_000
CHANCE: Final = 0.001
_SHARES: Final = np.cumsum(1 / np.arange(1, SYMBOLS + 1)) / (1 / np.arange(1, SYMBOLS + 1)).sum()
_NAMES: Final = np.array([f"{chr(65 + i % 26)}{chr(65 + i // 26 % 26)}{i}" for i in range(SYMBOLS)])
_QUANTILES: Final = np.array([NormalDist().inv_cdf((i + 0.5) / 4000) for i in range(4000)])
_USUAL: Final = np.exp(np.random.default_rng(7).normal(4, 1, SYMBOLS))  # each symbol's usual price


def workload(
    queries: int, *, shape: Literal["and", "or"] = "and", columns: int = 3, seed: int = 2
) -> Workload:
    """Queries `symbol = s AND price > low [AND price < high] AND volume >= least`."""
    alternatives = 2 if shape == "or" else 1
    symbols, low, high, least = _bounds(queries * alternatives, np.random.default_rng(seed + 1000))
    if shape == "or":
        symbols[1::2] = np.where(symbols[1::2] == symbols[::2], (symbols[1::2] + 1) % SYMBOLS, symbols[1::2])

    def term(i: int) -> All:
        parts = [Compare("symbol", "=", str(_NAMES[symbols[i]])), Compare("price", ">", float(low[i]))]
        if np.isfinite(high[i]):
            parts.append(Compare("price", "<", float(high[i])))
        return All((*parts, Compare("volume", ">=", int(least[i]))))

    def predicate(number: int) -> Predicate:
        return term(number) if shape == "and" else Any((term(2 * number), term(2 * number + 1)))

    numbers = np.arange(len(symbols), dtype=np.int32) // alternatives
    rules = pa.table({"query": numbers, "symbol": _NAMES[symbols], "low": low, "high": high, "least": least})
    name = "alerts" + (" or" if shape == "or" else "") + (" wide" if columns > 3 else "")
    return Workload(
        name,
        _stream(columns),
        queries,
        predicate,
        lambda rows: _batch(rows, columns, seed),
        {"alerts": rules},
    )


def _bounds(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    symbols = np.searchsorted(_SHARES, rng.random(count))
    price_tail = 10 ** (-1 - 1.5 * rng.random(count))
    volume_tail = np.minimum(0.95, CHANCE / price_tail)
    low = np.round(_USUAL[symbols] * np.exp(0.02 * _quantile(price_tail)), 2)
    least = np.exp(7 + 1.2 * _quantile(volume_tail)).astype(np.int64)
    high = np.where(rng.random(count) < 0.3, np.round(low * 1.05, 2), np.inf)
    return symbols, low, high, least


def _quantile(tail: np.ndarray) -> np.ndarray:
    return _QUANTILES[np.clip(((1 - tail) * 4000).astype(int), 0, 3999)]


def _stream(columns: int) -> Stream:
    fields = [("symbol", pa.string()), ("price", pa.float64()), ("volume", pa.int64())]
    return Stream("quotes", pa.schema(fields + [(f"x{i}", pa.float64()) for i in range(columns - 3)]))


def _batch(rows: int, columns: int, seed: int) -> pa.RecordBatch:
    rng = np.random.default_rng(seed)
    symbols = np.searchsorted(_SHARES, rng.random(rows)).astype(np.int32)
    names = pa.DictionaryArray.from_arrays(pa.array(symbols), pa.array(_NAMES.tolist())).cast(pa.string())
    price = np.round(_USUAL[symbols] * np.exp(0.02 * rng.normal(0, 1, rows)), 2)
    volume = np.exp(rng.normal(7, 1.2, rows)).astype(np.int64)
    more = [pa.array(rng.random(rows)) for _ in range(columns - 3)]
    return pa.record_batch([names, pa.array(price), pa.array(volume), *more], schema=_stream(columns).schema)
