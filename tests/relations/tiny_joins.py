"""Small streams whose every pair of rows can be tried, and random joins of them: the judge of relations between joins."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline import Compiler, Query, Stream
from eddyline.errors import QueryError
from eddyline.model.join import Source
from eddyline.reference import Push, join
from eddyline.relations.joins.pairs import CompiledJoin, JoinedPairs, JoinSide

WINDOW: Final = 1  # of joins that name none


def stream(name: str, times: pa.DataType) -> Stream:
    schema = pa.schema([("k", pa.int8()), ("v", pa.int32()), ("s", pa.string()), ("n", times)])
    return Stream(name, schema, event_time="n", lateness=100)


ONE: Final = stream("one", pa.int64())
TWO: Final = stream("two", pa.int8())
# Between and beyond the constants of conditions, as far as windows tell times apart.
VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "k": (None, 0, 1),
    "v": (None, 0, 1, 2),
    "s": ("a", "b"),
    "n": (None, 0, 1, 2, 4),
}
ROWS: Final = [dict(zip(VALUES, row, strict=True)) for row in product(*VALUES.values())][::2]

_KEYS: Final = (
    "{a}.k = {b}.k",
    "{a}.k = {b}.k",
    "{a}.k <=> {b}.k",
    "{a}.v = {b}.v",
    "{a}.k = {b}.v",
    "{a}.v + 1 = {b}.v",
    "{a}.s = {b}.s",
)
_BOUNDS: Final = (
    ("{b}.n BETWEEN {a}.n - 1 AND {a}.n + 1",),
    ("{b}.n BETWEEN {a}.n AND {a}.n + 2",),
    ("{b}.n - {a}.n >= 0", "{a}.n + 2 >= {b}.n"),
    ("{b}.n >= {a}.n", "{b}.n - 1 < {a}.n + 1"),
    ("{b}.n = {a}.n",),
    ("{b}.n = {a}.n + 1",),
    ("{b}.n - {a}.n BETWEEN -2 AND 3",),
    ("abs({b}.n - {a}.n) < 9", "{b}.n BETWEEN {a}.n - 4 AND {a}.n + 4"),
    ("{b}.n > {a}.n", "{b}.n < {a}.n"),
    (),
)
_OTHERS: Final = (
    "{a}.v > 0",
    "{a}.v >= 1",
    "{b}.v = 1",
    "{a}.k = 1",
    "{b}.k = 1",
    "{a}.k IN (0, 1)",
    "{b}.v IS NOT NULL",
    "{a}.s < 'b'",
    "{a}.s <= {b}.s",
    "{a}.n > 0",
    "{b}.n > 0",
    "{b}.n < 2",
    "{a}.v < {b}.v",
    "{a}.v <= {b}.v",
    "{a}.v <> {b}.v",
    "{b}.n <> {a}.n",
    "{b}.n - {a}.n <> 1",
    "({a}.v = 1 OR {b}.v = 2)",
    "({a}.v = 1 OR {b}.n = {a}.n)",
    "NOT ({a}.k = 0 AND {b}.v > 0)",
    "({a}.s = 'a' OR {a}.v < {b}.v)",
)


@dataclass(frozen=True)
class TinyJoins:
    """Joins of two tiny streams, or of one with itself."""

    streams: tuple[Stream, Stream]

    def pairs(self) -> JoinedPairs:
        first, second = (Source(alias, each.name) for alias, each in zip("ab", self.streams, strict=True))
        return JoinedPairs.of((first, second), self.compiler())

    def compiler(self) -> Compiler:
        return Compiler({each.name: each for each in self.streams}.values(), join_window=WINDOW)

    def joins(self, rng: random.Random, count: int) -> list[str]:
        """So many joins that are not refused: each alternative of an OR has to have a window."""
        found: list[str] = []
        while len(found) < count:
            text = self._draw(rng)
            try:
                self.compiler().compile(Query("q", text))
            except QueryError:
                continue
            found.append(text)
        return found

    def _draw(self, rng: random.Random) -> str:
        """A join, under its usual names or others, in either order of the streams."""
        parts = {rng.choice(_KEYS): None for _ in range(rng.choice((1, 1, 2)))}
        parts |= dict.fromkeys(rng.choice(_BOUNDS))
        parts |= {rng.choice(_OTHERS): None for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))}
        conditions = rng.sample(list(parts), len(parts))
        names = rng.choice(("ab", "ab", "qt", "ba"))
        texts = [part.format(a=names[0], b=names[1]) for part in conditions]
        first, second = (f"{each.name} {name}" for each, name in zip(self.streams, names, strict=True))
        if self.streams[0] != self.streams[1] and rng.random() < 0.3:
            first, second = second, first
        cut = rng.randint(1, len(texts))
        where = f" WHERE {' AND '.join(texts[cut:])}" if texts[cut:] else ""
        return f"SELECT 1 AS one FROM {first} JOIN {second} ON {' AND '.join(texts[:cut])}{where}"

    def sides(self, texts: list[str]) -> list[JoinSide]:
        compiler, pairs = self.compiler(), self.pairs()
        queries = [Query(f"q{number}", text) for number, text in enumerate(texts)]
        return [pairs.side(CompiledJoin.of(compiler, query)) for query in queries]

    def truths(self, texts: list[str], sides: list[JoinSide]) -> list[npt.NDArray[np.bool_]]:
        """For each join, which pairs of rows the reference joins: by the position of the pairs' first and second source."""
        found = [np.zeros((len(ROWS), len(ROWS)), np.bool_) for _ in texts]
        pushes = [
            Push(each.name, pa.RecordBatch.from_pylist(ROWS, each.schema))
            for each in dict.fromkeys(self.streams)
        ]
        joins = {f"q{number}": text for number, text in enumerate(texts)}
        result = join(
            joins, pushes, streams=list(dict.fromkeys(self.streams)), complete=True, join_window=WINDOW
        )
        for pair in result.pairs:
            number = int(pair.query[1:])
            place = (pair.second, pair.first) if sides[number].swapped else (pair.first, pair.second)
            found[number][place] = True
        return found


JOINS: Final = {"two streams": TinyJoins((ONE, TWO)), "itself": TinyJoins((ONE, ONE))}
