"""`pairs`, `ranges`, `one side`: window joins of quotes and trades, many of them over the same two streams.

pairs        5,000 symbols, Zipf-distributed in tuples and queries alike, as in `alerts`; a query asks for one of them, and for
             prices above one that about 0.1% of its quotes, and of its trades, have
pairs even   the same, every symbol being asked for equally often: hot symbols then give fewer results
ranges       prices of both within a range: about ten queries concern a quote, and ten a trade
one side     the same for quotes alone: every trade concerns every query
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline import Stream

SYMBOLS: Final = 5_000
BATCHES: Final = 10  # of a window
STEPS: Final = 10  # different event times of a batch
FAN_OUT: Final = 10  # trades of a quote's symbol within the window, where symbols are equally frequent
SECOND: Final = 1_000_000
CHANCE: Final = 0.001
CONCERNED: Final = 10  # queries that concern a tuple of `ranges`
SCHEMA: Final = pa.schema([("ts", pa.timestamp("us")), ("symbol", pa.string()), ("price", pa.float64())])
STREAMS: Final = tuple(
    Stream(name, SCHEMA, event_time="ts", lateness="0 seconds", ahead="36500 days")
    for name in ("quotes", "trades")
)
_ALIASES: Final = ("q", "t")


@dataclass(frozen=True)
class JoinWorkload:
    """Seeded joins and batches. A batch is of one second, and `batch(number)` gives the same quotes and trades in every call.

    rules       the joins as rows, for peers that join with them: query, symbol (if they name one), and for each side that has a
                condition the price that it has to be above (if they name a symbol), or the least and the highest price
    """

    name: str
    rules: pa.Table
    batch: Callable[[int], tuple[pa.RecordBatch, pa.RecordBatch]]

    @property
    def queries(self) -> int:
        """How many joins there are."""
        return self.rules.num_rows

    @property
    def is_by_symbol(self) -> bool:
        """Whether each join names a symbol."""
        return "symbol" in self.rules.column_names

    def has_side(self, side: int) -> bool:
        """Whether joins have a condition on quotes (0) or trades (1)."""
        return f"low_{side}" in self.rules.column_names

    def rule(self, alias: str, side: int) -> str:
        """The condition of rules `r` on the tuples of a side; empty if there is none."""
        if not self.has_side(side):
            return ""
        if self.is_by_symbol:
            return f"{alias}.symbol = r.symbol AND {alias}.price > r.low_{side}"
        return f"{alias}.price >= r.low_{side} AND {alias}.price <= r.high_{side}"

    @cached_property
    def sides(self) -> list[tuple[str | None, str | None]]:
        """For each join the conditions on quotes and on trades, over plain columns; None if there is none."""
        return [(self._side(rule, 0), self._side(rule, 1)) for rule in self.rules.to_pylist()]

    def _side(self, rule: dict[str, object], side: int) -> str | None:
        if not self.has_side(side):
            return None
        if self.is_by_symbol:
            return f"symbol = '{rule['symbol']}' AND price > {rule[f'low_{side}']}"
        return f"price BETWEEN {rule[f'low_{side}']} AND {rule[f'high_{side}']}"

    @cached_property
    def texts(self) -> dict[str, str]:
        """SQL by query id; the id is the join's number."""
        return {str(number): self._text(number) for number in range(self.queries)}

    def tables(self, batches: int) -> dict[str, pa.Table]:
        """So many batches as whole tables, by stream."""
        sides = zip(*(self.batch(number) for number in range(batches)), strict=True)
        return {
            stream.name: pa.Table.from_batches(side).combine_chunks()
            for stream, side in zip(STREAMS, sides, strict=True)
        }

    def _text(self, number: int) -> str:
        conditions = [
            side.replace("symbol", f"{alias}.symbol").replace("price", f"{alias}.price")
            for alias, side in zip(_ALIASES, self.sides[number], strict=True)
            if side is not None
        ]
        return (
            "SELECT q.symbol, q.price AS bid, t.price FROM quotes q JOIN trades t ON q.symbol = t.symbol "
            f"AND t.ts BETWEEN q.ts - INTERVAL {BATCHES - 1} SECONDS AND q.ts + INTERVAL {BATCHES - 1} SECONDS "
            f"WHERE {' AND '.join(conditions)}"
        )


def workload(name: str, queries: int, rows: int = 10_000, *, seed: int = 11) -> JoinWorkload:
    """One of the workloads, with so many rows a batch and side."""
    rng = np.random.default_rng(seed + 1000)
    is_by_symbol = name.startswith("pairs")
    shares = _shares(SYMBOLS if is_by_symbol else rows * BATCHES // FAN_OUT, zipf=is_by_symbol)
    names = pa.array([f"{chr(65 + i % 26)}{i}" for i in range(len(shares))])
    rules: dict[str, object] = {"query": np.arange(queries, dtype=np.int32)}
    if is_by_symbol:
        drawn = rng.random(queries)
        symbols = np.searchsorted(shares, drawn) if name == "pairs" else (drawn * SYMBOLS).astype(np.int64)
        rules["symbol"] = names.take(pa.array(symbols))
    for side in (0,) if name == "one side" else (0, 1):
        if is_by_symbol:
            rules[f"low_{side}"] = 1 - CHANCE * (0.5 + rng.random(queries))
        else:
            chance = min(1.0, CONCERNED / queries)
            low = rng.random(queries) * (1 - chance)
            rules |= {f"low_{side}": low, f"high_{side}": low + chance}

    def batch(number: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        drawn = np.random.default_rng((seed, number))
        return _batch(drawn, number, rows, shares, names), _batch(drawn, number, rows, shares, names)

    return JoinWorkload(name, pa.table(rules), batch)


def at_time(batch: pa.RecordBatch, number: int) -> pa.RecordBatch:
    """The same tuples, as those of another batch."""
    return batch.set_column(0, "ts", _times(number, batch.num_rows))


def _shares(symbols: int, *, zipf: bool) -> np.ndarray:
    """How often symbols up to each one come, all together."""
    weights = 1 / np.arange(1, symbols + 1) if zipf else np.ones(symbols)
    return np.cumsum(weights) / weights.sum()


def _times(number: int, rows: int) -> pa.Array:
    times = number * SECOND + np.arange(rows) * STEPS // rows * (SECOND // STEPS // 2)
    return pa.array(times, pa.timestamp("us"))


def _batch(
    rng: np.random.Generator, number: int, rows: int, shares: np.ndarray, names: pa.Array
) -> pa.RecordBatch:
    symbols = names.take(pa.array(np.searchsorted(shares, rng.random(rows))))
    return pa.record_batch([_times(number, rows), symbols, pa.array(rng.random(rows))], schema=SCHEMA)
