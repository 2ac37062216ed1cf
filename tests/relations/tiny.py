"""Small streams whose every row can be tried, and random predicates over them: the judge of relations.

A predicate is evaluated once over all rows; then any pair of predicates is decided by looking at two arrays.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline import Compiler, Query, Stream
from eddyline.reference.match import satisfies
from eddyline.relations.pair import side
from eddyline.relations.question import Side


@dataclass(frozen=True)
class TinyStream:
    """A stream with the values that are tried for each column; `complete` if no predicate tells others apart."""

    stream: Stream
    values: dict[str, Sequence[Any]]
    atom: Callable[[random.Random], str]
    complete: bool

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        return [dict(zip(self.values, row, strict=True)) for row in product(*self.values.values())]

    def condition(self, rng: random.Random, size: int = 3) -> str:
        """A random condition of at most about 2**size atoms."""
        if size == 0 or rng.random() < 0.25:
            return f"NOT ({self.atom(rng)})" if rng.random() < 0.2 else self.atom(rng)
        parts = [self.condition(rng, size - 1) for _ in range(rng.choice((2, 2, 3)))]
        text = rng.choice((" AND ", " OR ")).join(f"({part})" for part in parts)
        return f"NOT ({text})" if rng.random() < 0.15 else text

    def side(self, condition: str) -> Side:
        text = f"SELECT * FROM {self.stream.name} WHERE {condition}"
        return side(Compiler([self.stream]), Query("q", text))

    def truth(self, query: Side) -> npt.NDArray[np.bool_]:
        """For which rows the reference finds the predicate true."""
        return np.array([satisfies(query.bound, row) for row in self.rows])


def _of(*choices: str) -> Callable[[random.Random], str]:
    return lambda rng: rng.choice(choices)


COMPARISONS = ("<", "<=", "=", "<>", ">=", ">", "<=>")


def _plain(columns: dict[str, Sequence[str]]) -> Callable[[random.Random], str]:
    """Conditions of a column and constants."""

    def atom(rng: random.Random) -> str:
        column = rng.choice(list(columns))
        constants = columns[column]
        form = rng.random()
        if form < 0.6:
            return f"{column} {rng.choice(COMPARISONS)} {rng.choice(constants)}"
        if form < 0.7:
            return f"{column} IS {rng.choice(('', 'NOT '))}NULL"
        if form < 0.85:
            return f"{column} BETWEEN {rng.choice(constants)} AND {rng.choice(constants)}"
        chosen = ", ".join(rng.choice((*constants, "NULL")) for _ in range(rng.randint(1, 4)))
        return f"{column} {rng.choice(('', 'NOT '))}IN ({chosen})"

    return atom


def _mixed(*makers: Callable[[random.Random], str]) -> Callable[[random.Random], str]:
    return lambda rng: rng.choice(makers)(rng)


def _arithmetic(rng: random.Random) -> str:
    term = rng.choice(
        (
            "a + 1",
            "a - 5",
            "-a",
            "abs(a)",
            "2 * a",
            "a % 3",
            "a + b",
            "a * b",
            "coalesce(a, 3)",
            "CAST(a AS INT)",
        )
    )
    return f"{term} {rng.choice(COMPARISONS)} {rng.choice(('-128', '-1', '0', '1', '3', '126', '127'))}"


def _two(one: str, other: str) -> Callable[[random.Random], str]:
    def atom(rng: random.Random) -> str:
        left, right = rng.choice(((one, other), (other, one), (one, one)))
        return f"{left} {rng.choice(COMPARISONS)} {right}"

    return atom


def _patterns(rng: random.Random) -> str:
    subject = rng.choice(("s", "s", "s", "t", "lower(s)", "upper(t)"))
    pattern = "".join(rng.choice("ab%_%") for _ in range(rng.randint(1, 4)))
    text = "".join(rng.choice("ab") for _ in range(rng.randint(1, 2)))
    return rng.choice(
        (
            f"{subject} LIKE '{pattern}'",
            f"startswith({subject}, '{text}')",
            f"endswith({subject}, '{text}')",
            f"contains({subject}, '{text}')",
            f"{subject} RLIKE '{rng.choice(('a', 'ab', '^a', 'b$', 'a+b', '[ab]b', 'a|b', 'ba?'))}'",
            f"length({subject}) {rng.choice(COMPARISONS)} {rng.randint(0, 3)}",
            f"{subject} {rng.choice(COMPARISONS)} '{text}'",
        )
    )


_TINY = (None, -128, -127, -6, -5, -4, -2, -1, 0, 1, 2, 3, 4, 5, 63, 64, 126, 127)
_FLOATS = (None, -math.inf, -1.5, -1.0, -0.0, 0.0, math.nextafter(0, 1), 1.0, 1.25, 1.5, math.inf, math.nan)
_TEXTS = (
    None,
    "",
    *"abAB",
    *("".join(two) for two in product("abA", repeat=2)),
    "aab",
    "aba",
    "abb",
    "bab",
    "b\0",
)
_WHOLE = [str(value) for value in (-128, -127, -5, -1, 0, 1, 3, 5, 63, 126, 127, 200)]

STREAMS = {
    "columns": TinyStream(
        Stream("s", pa.schema([("a", pa.int8()), ("x", pa.float64()), ("s", pa.string())])),
        {
            "a": (None, -128, -1, 0, 1, 2, 127),  # the constants and what lies between
            "x": (None, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, math.inf, math.nan),
            "s": (None, "", "\0", "a", "a\0", "b", "b\0"),
        },
        _plain(
            {
                "a": ["-128", "0", "1", "127"],
                "x": ["-1D", "0D", "-0D", "1D", "double('NaN')", "double('inf')"],
                "s": ["''", "'a'", "'b'"],
            }
        ),
        complete=True,
    ),
    "one tinyint": TinyStream(
        Stream("s", pa.schema([("a", pa.int8())])),
        {"a": (None, *range(-128, 128))},
        _mixed(_plain({"a": _WHOLE}), lambda rng: _arithmetic(rng).replace("b", "a").replace("aas", "abs")),
        complete=True,
    ),
    "two tinyints": TinyStream(
        Stream("s", pa.schema([("a", pa.int8()), ("b", pa.int8())])),
        {"a": _TINY, "b": _TINY},
        _mixed(_plain({"a": _WHOLE, "b": _WHOLE}), _two("a", "b"), _arithmetic),
        complete=False,
    ),
    "two doubles": TinyStream(
        Stream("s", pa.schema([("x", pa.float64()), ("y", pa.float64())])),
        {"x": _FLOATS, "y": _FLOATS},
        _mixed(
            _plain({"x": ["-1D", "0D", "1D", "1.5D", "double('NaN')"], "y": ["0D", "1D"]}), _two("x", "y")
        ),
        complete=False,
    ),
    "texts": TinyStream(
        Stream("s", pa.schema([("s", pa.string()), ("t", pa.string())])),
        {"s": _TEXTS, "t": _TEXTS},
        _mixed(
            _patterns, _patterns, _plain({"s": ["'a'", "'ab'", "'b'"], "t": ["'a'", "'b'"]}), _two("s", "t")
        ),
        complete=False,
    ),
    "other types": TinyStream(
        Stream("s", pa.schema([("d", pa.date32()), ("n", pa.decimal128(2, 1)), ("f", pa.bool_())])),
        {
            "d": (None, -(2**31), -1, 0, 1, 2**31 - 1),
            "n": (None, *(Decimal(n).scaleb(-1) for n in (-99, -1, 0, 1, 2, 14, 15, 16, 98, 99))),
            "f": (None, False, True),
        },
        _mixed(
            _plain(
                {
                    "d": ["DATE'1970-01-01'", "DATE'1970-01-02'"],
                    "n": ["0.1", "1.5", "9.9", "0.15"],
                    "f": ["true"],
                }
            ),
            _of(
                "n + 1 > 2",
                "if(f, n, 0) > 1",
                "coalesce(f, true)",
                "n > 1 OR f",
                "year(d) = 1970",
                "CAST(n AS INT) = 1",
            ),
        ),
        complete=False,
    ),
}
