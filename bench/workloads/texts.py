"""Query texts for the way from SQL to normal form: few shapes with many constants, and many shapes."""

from __future__ import annotations

import random

import pyarrow as pa

from eddyline import Stream

QUOTES = Stream(
    "quotes",
    pa.schema(
        [
            ("symbol", pa.string()),
            ("price", pa.float64()),
            ("volume", pa.int64()),
            ("venue", pa.string()),
            ("bid", pa.decimal128(12, 2)),
            ("ask", pa.decimal128(12, 2)),
            ("size", pa.int32()),
            ("halted", pa.bool_()),
        ]
    ),
)

_SHAPES = (
    "SELECT * FROM quotes WHERE symbol = '{symbol}' AND price > {price} AND volume >= {volume}",
    "SELECT symbol, price FROM quotes WHERE symbol IN ('{symbol}', '{other}') AND price BETWEEN {low} AND {price}",
    "SELECT * FROM quotes WHERE (symbol = '{symbol}' OR symbol = '{other}') AND NOT (volume < {volume})",
    "SELECT symbol FROM quotes WHERE venue = '{venue}' AND size > {size} AND bid >= {low}",
    "SELECT * FROM quotes WHERE symbol LIKE '{venue}%' AND price * volume > {volume}",
)


def few_shapes(count: int, seed: int = 1) -> list[str]:
    """Queries of five shapes that differ in constants."""
    rng = random.Random(seed)
    return [
        _SHAPES[rng.randrange(len(_SHAPES))].format(
            symbol=f"S{rng.randrange(5000)}",
            other=f"S{rng.randrange(5000)}",
            venue=f"V{rng.randrange(50)}",
            price=f"{rng.uniform(100, 999):.2f}",
            low=f"{rng.uniform(10, 99):.2f}",
            volume=rng.randrange(1, 1_000_000),
            size=rng.randrange(1, 1000),
        )
        for _ in range(count)
    ]


def many_shapes(count: int, seed: int = 2) -> list[str]:
    """Queries that all have a shape of their own: other columns, operators, nesting and list lengths."""
    rng = random.Random(seed)
    found: dict[str, str] = {}
    while len(found) < count:
        text = "SELECT * FROM quotes WHERE " + _tree(rng, rng.randint(2, 6))
        found.setdefault("".join("#" if c.isdigit() else c for c in text), text)
    return list(found.values())


def _tree(rng: random.Random, atoms: int) -> str:
    if atoms == 1:
        text = _atom(rng)
        return f"NOT {text}" if rng.random() < 0.15 else text
    left = rng.randint(1, atoms - 1)
    word = "AND" if rng.random() < 0.6 else "OR"
    text = f"{_tree(rng, left)} {word} {_tree(rng, atoms - left)}"
    return f"({text})" if rng.random() < 0.4 else text


def _atom(rng: random.Random) -> str:
    kind = rng.randrange(7)
    number = rng.choice(("price", "volume", "size", "bid", "ask"))
    operator = rng.choice(("<", "<=", ">", ">=", "=", "<>"))
    if kind < 3:
        return f"{number} {operator} {rng.randrange(1000)}"
    if kind == 3:
        values = ", ".join(f"'S{rng.randrange(5000)}'" for _ in range(rng.randint(1, 8)))
        return f"{rng.choice(('symbol', 'venue'))} IN ({values})"
    if kind == 4:
        return f"{number} BETWEEN {rng.randrange(500)} AND {rng.randrange(500, 1000)}"
    if kind == 5:
        return f"{rng.choice(('symbol', 'venue', 'price', 'bid'))} IS {rng.choice(('', 'NOT '))}NULL"
    return f"{rng.choice(('lower', 'upper', 'trim'))}({rng.choice(('symbol', 'venue'))}) = 'v{rng.randrange(50)}'"
