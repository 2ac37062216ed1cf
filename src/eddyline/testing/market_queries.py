"""Standing queries over the market of `market.py`, as traders and risk desks would write them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from eddyline.testing.market import VENUES, Listing, listings

OWNERS: Final = ("ann", "bob", "chen", "dora", "risk-desk", "news-desk")
TOPICS: Final = (
    "merger",
    "recall",
    "dividend",
    "strike",
    "inquiry",
    "estimates",
    "chief executive",
    "contract",
)


@dataclass(frozen=True, slots=True)
class Standing:
    """A query with what a registry keeps beside its text; the first tag is its family."""

    id: str
    sql: str
    tags: tuple[str, ...]
    owner: str


Family = Callable[[random.Random, Listing], str]


def breakout(dice: random.Random, one: Listing) -> str:
    """A price leaves its range upwards, in earnest."""
    limit = one.opening * dice.uniform(1.02, 1.12)
    return (
        f"SELECT at, symbol, price, volume FROM quotes "
        f"WHERE symbol = '{one.symbol}' AND price > {limit:.2f} AND volume >= {4 * one.volume}"
    )


def dip(dice: random.Random, one: Listing) -> str:
    """A price has fallen since the opening."""
    return (
        f"SELECT symbol, price, change FROM quotes "
        f"WHERE symbol = '{one.symbol}' AND change < -{dice.uniform(4, 12):.1f} "
        f"AND NOT (venue = 'XTKS' OR volume < {2 * one.volume})"
    )


def spike(dice: random.Random, one: Listing) -> str:
    """Many times the usual volume."""
    return (
        f"SELECT at, symbol, price, volume FROM quotes "
        f"WHERE symbol = '{one.symbol}' AND volume >= {dice.randint(8, 20) * one.volume}"
    )


def corridor(dice: random.Random, one: Listing) -> str:
    """A price comes into a narrow band."""
    low = one.opening * dice.uniform(0.92, 1.06)
    return (
        f"SELECT symbol, price, change FROM quotes "
        f"WHERE symbol = '{one.symbol}' AND price BETWEEN {low:.2f} AND {low * 1.003:.2f}"
    )


def watchlist(dice: random.Random, one: Listing) -> str:
    """News about somebody's positions."""
    names = sorted({one.symbol, *(other.symbol for other in dice.sample(listings(), dice.randint(3, 9)))})
    quoted = ", ".join(f"'{name}'" for name in names)
    return f"SELECT at, symbol, headline FROM quotes WHERE news AND symbol IN ({quoted})"


def headline(dice: random.Random, one: Listing) -> str:
    """A topic in the headlines of a sector."""
    return (
        f"SELECT at, symbol, headline FROM quotes "
        f"WHERE sector = '{one.sector}' AND headline LIKE '%{dice.choice(TOPICS)}%' AND price > {dice.randint(5, 150)}"
    )


def sector(dice: random.Random, one: Listing) -> str:
    """Large moves in a sector, in either direction."""
    far = dice.uniform(10, 16)
    return (
        f"SELECT symbol, price, change FROM quotes "
        f"WHERE sector = '{one.sector}' AND (change > {far:.1f} OR change < -{far:.1f}) "
        f"AND volume > {dice.randint(60, 150) * 100}"
    )


def pair(dice: random.Random, one: Listing) -> str:
    """Two symbols that should not part."""
    other = dice.choice(listings())
    up, down = one.opening * dice.uniform(1.05, 1.12), other.opening * dice.uniform(0.88, 0.95)
    return (
        f"SELECT symbol, price, change FROM quotes "
        f"WHERE (symbol = '{one.symbol}' AND price > {up:.2f}) OR (symbol = '{other.symbol}' AND price < {down:.2f})"
    )


def block(dice: random.Random, one: Listing) -> str:
    """A trade of much money at one venue."""
    return (
        f"SELECT symbol, venue, price * volume AS turnover FROM quotes "
        f"WHERE price * volume > {dice.randint(15, 60) * 100_000} AND venue = '{dice.choice(VENUES)}' "
        f"AND symbol LIKE '{one.symbol[:2]}%'"
    )


def late(dice: random.Random, one: Listing) -> str:
    """A trade reported late, or abroad, of a size that matters."""
    return (
        f"SELECT * FROM quotes WHERE symbol = '{one.symbol}' AND volume > {dice.randint(3, 9) * one.volume} "
        f"AND (venue IS NULL OR venue NOT IN ('XNYS', 'XNAS', 'XLON'))"
    )


FAMILIES: Final[dict[str, Family]] = {
    family.__name__: family
    for family in (breakout, dip, spike, corridor, watchlist, headline, sector, pair, block, late)
}
_WEIGHTS: Final = (22, 16, 16, 12, 10, 8, 4, 5, 4, 3)  # of the families, as common as they are


def standing(seed: int = 7) -> Iterator[Standing]:
    """Queries without end, the same for the same seed.

    >>> first = next(standing(seed=7))
    >>> first.id, first.tags, first.owner
    ('dip-ELNE', ('dip', 'metals'), 'ann')
    >>> first.sql[-80:]
    "WHERE symbol = 'ELNE' AND change < -7.2 AND NOT (venue = 'XTKS' OR volume < 600)"
    """
    dice = random.Random(seed)
    taken: dict[str, int] = {}
    names = list(FAMILIES)
    while True:
        family, one = dice.choices(names, _WEIGHTS)[0], dice.choice(listings())
        about = one.sector if family in ("sector", "headline") else one.symbol
        id = f"{family}-{about}"
        taken[id] = taken.get(id, 0) + 1
        sql = FAMILIES[family](dice, one)
        yield Standing(
            id if taken[id] == 1 else f"{id}-{taken[id]}", sql, (family, one.sector), dice.choice(OWNERS)
        )


def some_standing(count: int, seed: int = 7) -> list[Standing]:
    """The first so many of `standing`."""
    return list(islice(standing(seed), count))
