"""A market made of dice: symbols whose prices walk, volumes that burst, news with headlines; the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.model.catalog import Stream

QUOTES: Final = Stream(
    "quotes",
    pa.schema(
        [
            ("at", pa.timestamp("us", "UTC")),
            ("symbol", pa.string()),
            ("sector", pa.string()),
            ("venue", pa.string()),  # NULL for trades that are reported late
            ("price", pa.float64()),
            ("change", pa.float64()),  # in percent of the price at the opening
            ("volume", pa.int64()),
            ("news", pa.bool_()),
            ("headline", pa.string()),  # NULL where there is no news
        ]
    ),
    event_time="at",
)
SECTORS: Final = ("tech", "energy", "health", "banks", "retail", "metals", "media", "transport")
VENUES: Final = ("XNYS", "XNAS", "XLON", "XETR", "XTKS")
HEADLINES: Final = (
    "{} beats estimates and raises its outlook",
    "{} misses estimates, shares under pressure",
    "{} to be acquired: merger talks confirmed",
    "{} recalls a product after safety review",
    "{} faces an inquiry by the regulator",
    "{} names a new chief executive",
    "{} raises its dividend",
    "analysts cut {} to sell",
    "strike halts production at {}",
    "{} wins a contract with the government",
)
OPENING: Final = np.datetime64("2026-01-05T14:30:00", "us")
_SYLLABLES: Final = (
    "AX",
    "BO",
    "CR",
    "DU",
    "EL",
    "FI",
    "GO",
    "HY",
    "IN",
    "JU",
    "KA",
    "LO",
    "MI",
    "NE",
    "OR",
    "PA",
)
# how strongly a price is drawn back to its opening: without it a long run would drift away
_PULL: Final = 0.002

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Listing:
    """One traded symbol: its sector, its price and usual volume at the opening."""

    symbol: str
    sector: str
    opening: float
    volume: int


@cache
def listings(count: int = 256) -> tuple[Listing, ...]:
    """Symbols, which do not depend on the seed, so that queries can be written for them.

    >>> listings()[0]
    Listing(symbol='AXAX', sector='tech', opening=74.52, volume=300)
    """
    dice = np.random.default_rng(1)
    openings = np.exp(dice.normal(4.0, 0.9, count)).round(2).tolist()
    volumes = (100 * dice.integers(1, 40, count)).tolist()
    names = [a + b for a in _SYLLABLES for b in _SYLLABLES]
    return tuple(
        Listing(names[i % 256] + ("" if i < 256 else str(i // 256)), SECTORS[i % len(SECTORS)], p, v)
        for i, (p, v) in enumerate(zip(openings, volumes, strict=True))
    )


class Market:
    """Quotes without end, in the order of their time. Each symbol's price goes on where the last batch left it.

    >>> batch = next(Market(seed=7).batches(1_000))
    >>> batch.num_rows, batch.schema == QUOTES.schema
    (1000, True)
    >>> batch.equals(next(Market(seed=7).batches(1_000))), batch.equals(next(Market(seed=8).batches(1_000)))
    (True, False)
    """

    def __init__(self, seed: int = 7, *, symbols: int = 256, pace: int = 2_000) -> None:
        """`pace` is how many quotes there are in a second of the market's own clock."""
        self.listings = listings(symbols)
        self._dice = np.random.default_rng(seed)
        self._opening = np.log([listing.opening for listing in self.listings])
        self._level = self._opening.copy()
        self._volume = np.array([listing.volume for listing in self.listings], np.float64)
        self._unrest = np.exp(self._dice.normal(-7.4, 0.4, symbols))  # of one step of a price
        self._share = self._dice.dirichlet(np.full(symbols, 2.0))  # of all quotes
        self._clock = OPENING
        self._longest = 2 * 1_000_000 // pace  # microseconds between two quotes
        self._names = pa.array([listing.symbol for listing in self.listings])
        self._sectors = pa.array([listing.sector for listing in self.listings])
        self._headlines = pa.array([text.format(one.symbol) for text in HEADLINES for one in self.listings])

    def batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        """Batches of so many quotes, without end."""
        while True:
            yield self.batch(rows)

    def batch(self, rows: int) -> pa.RecordBatch:
        """The next so many quotes."""
        dice = self._dice
        who = dice.choice(len(self.listings), rows, p=self._share)
        shaken = dice.random(rows) < 0.0005
        steps = dice.normal(0, 1, rows) * self._unrest[who] * np.where(shaken, 12, 1)
        price = np.maximum(np.exp(self._walk(who, steps)), 0.01).round(2)
        news = shaken | (dice.random(rows) < 0.0005)
        opening = np.exp(self._opening[who])
        columns: dict[str, Any] = {
            "at": pa.array(self._times(rows), pa.timestamp("us", "UTC")),
            "symbol": self._names.take(pa.array(who)),
            "sector": self._sectors.take(pa.array(who)),
            "venue": self._venues(rows),
            "price": pa.array(price),
            "change": pa.array((100 * (price / opening - 1)).round(2)),
            "volume": pa.array(self._volumes(who, shaken)),
            "news": pa.array(news),
            "headline": self._texts(who, news),
        }
        return pa.RecordBatch.from_pydict(columns, schema=QUOTES.schema)

    def _walk(self, who: Places, steps: Numbers) -> Numbers:
        """Logarithms of prices: for each symbol the sum of its steps so far, from where it stood."""
        level = self._level - _PULL * (self._level - self._opening)
        order = np.argsort(who, kind="stable")
        sums = np.cumsum(steps[order])
        starts = np.searchsorted(who[order], np.arange(len(level)))
        before = np.concatenate(([0.0], sums))[starts]
        walked = np.empty(len(steps))
        walked[order] = sums - before[who[order]] + level[who[order]]
        self._level = level + np.bincount(who, weights=steps, minlength=len(level))
        return walked

    def _times(self, rows: int) -> npt.NDArray[np.datetime64]:
        gaps = self._dice.integers(0, self._longest + 1, rows)
        times: npt.NDArray[np.datetime64] = self._clock + np.cumsum(gaps).astype("timedelta64[us]")
        self._clock = times[-1] if rows else self._clock
        return times

    def _volumes(self, who: Places, shaken: npt.NDArray[np.bool_]) -> Places:
        bursts = np.where(shaken | (self._dice.random(len(who)) < 0.001), 15, 1)
        lots = self._volume[who] * np.exp(self._dice.normal(0, 0.6, len(who))) * bursts / 100
        return (100 * np.maximum(lots.round(), 1)).astype(np.int64)

    def _venues(self, rows: int) -> pa.Array:
        chosen = self._dice.choice(len(VENUES) + 1, rows, p=[0.4, 0.3, 0.12, 0.1, 0.06, 0.02])
        return pa.array(VENUES).take(pa.array(chosen, mask=chosen == len(VENUES)))

    def _texts(self, who: Places, news: npt.NDArray[np.bool_]) -> pa.Array:
        chosen = self._dice.integers(0, len(HEADLINES), len(who)) * len(self.listings) + who
        return self._headlines.take(pa.array(chosen, mask=~news))
