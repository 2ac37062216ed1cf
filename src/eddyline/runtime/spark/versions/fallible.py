"""The expressions in a version's conditions that can fail, and the queries that have them.

Tasks count the rows of each distinct expression once, by its place in `Fallible.expressions`, which every process finds
in the same order; the driver gives them to the queries.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from eddyline.functions.evaluate import fallible
from eddyline.model.codec import decode_expression, encode_expression
from eddyline.model.expression import Expression
from eddyline.model.predicate import conditions_of
from eddyline.model.query import NormalQuery

Integers = npt.NDArray[np.signedinteger[Any]]


class FallibleParts:
    """Finds what can fail in conditions; what was found of an expression is remembered."""

    def __init__(self) -> None:
        self._known: dict[Expression, tuple[Expression, ...]] = {}

    def of(self, query: NormalQuery) -> tuple[Expression, ...]:
        """The largest parts of a query's subjects that can fail, each once."""
        found: dict[Expression, None] = {}
        for condition in conditions_of(query.predicate):
            found.update(dict.fromkeys(self._inside(condition.subject)))
        return tuple(found)

    def _inside(self, subject: Expression) -> tuple[Expression, ...]:
        known = self._known.get(subject)
        if known is None:
            known = self._known[subject] = fallible(subject)
        return known


class Fallible:
    """Of the queries over one stream.

    texts: lists of expressions as `encode_parts` wrote them. lists: by query number the place of its list in there.
    """

    def __init__(self, stream: str, texts: Sequence[str], lists: Integers, standing: Integers) -> None:
        self._lists, self._standing = lists, standing
        self._parts = dict(_parts_of(stream, texts, np.unique(lists[standing]).tolist()))
        self.expressions = tuple(dict.fromkeys(part for parts in self._parts.values() for part in parts))

    def by_query(self, rows: Mapping[int, int]) -> Counter[int]:
        """Failures by query number, from the rows that failed by place in `expressions`."""
        failed = {self.expressions[place]: count for place, count in rows.items()}
        found: Counter[int] = Counter()
        for place, parts in self._parts.items():
            count = sum(failed.get(part, 0) for part in parts)
            if count:
                users = self._standing[self._lists[self._standing] == place]
                found.update(dict.fromkeys(users.tolist(), count))
        return found


def encode_parts(stream: str, parts: Iterable[Expression]) -> str:
    """Expressions over a stream as a text."""
    return json.dumps([stream, [encode_expression(part) for part in parts]])


def _parts_of(
    stream: str, texts: Sequence[str], places: Iterable[int]
) -> Iterator[tuple[int, tuple[Expression, ...]]]:
    for place in places:
        whose, parts = json.loads(texts[place])
        if whose == stream and parts:
            yield place, tuple([decode_expression(data) for data in parts])
