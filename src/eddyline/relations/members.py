"""The distinct predicates of a stream's queries: plain boxes, and *trees*, which are all others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from eddyline.model.catalog import Stream
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.query import BoundQuery, NormalQuery
from eddyline.relations.plain_boxes import Longs, plain_boxes
from eddyline.relations.question import Side
from eddyline.standing.version import Version

Pairs = list[tuple[int, int]]


def order_free(predicate: Predicate) -> object:
    """A key that predicates share which differ only in the order of their parts.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.regions import Regions
    >>> from eddyline.model.types import INT
    >>> a, b = (Condition(Column(name, INT), Regions.points([1])) for name in "ab")
    >>> order_free(And((a, b))) == order_free(And((b, a)))
    True
    """
    if isinstance(predicate, Condition):
        return predicate
    return isinstance(predicate, And), frozenset([order_free(part) for part in predicate.parts])


class Sides:
    """Queries of a version as the search and the reference see them, by dense id, each made when it is asked for."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self._sides: dict[int, Side] = {}
        self._normal: dict[int, NormalQuery] = {}

    def side(self, dense: int) -> Side:
        """A query for both."""
        found = self._sides.get(dense)
        if found is None:
            bound = self.version.compiler.bind(self.version.table.query(dense))
            assert isinstance(bound, BoundQuery), "joins are left out"
            found = self._sides[dense] = Side(bound, self.normal(dense))
        return found

    def normal(self, dense: int) -> NormalQuery:
        """A query for the search alone: most queries are never asked about by the reference."""
        found = self._normal.get(dense)
        if found is None:
            normal = self.version.compiler.compile(self.version.table.query(dense))
            assert isinstance(normal, NormalQuery), "joins are left out"
            found = self._normal[dense] = normal
        return found


class Members:
    """What is compared within a stream: the first query of each predicate, by *place*.

        place     0 .. boxes                     boxes .. size
        is        a plain box, by dense id       a tree, by dense id

    `numbers` are the dense ids by place, `shown` those of the first query of all that are found to be equal; `places` the places by dense id, -1 for queries that are no members. `same` are
    pairs of dense ids: a query, and the first one that has the same predicate.
    """

    def __init__(self, version: Version, stream: Stream, trees: Iterable[int], sides: Sides) -> None:
        self.stream = stream
        self.sides = sides
        boxes = plain_boxes(version, stream)
        leaders = boxes.ranges.leaders()
        later = np.flatnonzero(leaders != np.arange(len(leaders)))
        self.same: Pairs = list(
            zip(boxes.dense[later].tolist(), boxes.dense[leaders[later]].tolist(), strict=True)
        )
        self.boxes = boxes.chosen(np.flatnonzero(leaders == np.arange(len(leaders))))
        firsts: dict[object, int] = {}
        for dense in trees:
            first = firsts.setdefault(order_free(sides.normal(dense).predicate), dense)
            if first != dense:
                self.same.append((dense, first))
        self.trees = list(firsts.values())
        self.numbers: Longs = np.array([*self.boxes.dense.tolist(), *self.trees], np.int64)
        self.shown: Longs = self.numbers.copy()
        self.places: Longs = np.full(version.table.size, -1, np.int64)
        self.places[self.numbers] = np.arange(len(self.numbers))

    def show_first(self, leaders: Longs) -> None:
        """Let members be shown as the first query of all that are equal to them; `leaders` has a member for each of them."""
        np.minimum.at(self.shown, leaders, self.numbers)

    def same_queries(self, leaders: Longs) -> tuple[Longs, Longs]:
        """Queries that are not the first of their kind, and the first of it."""
        later, first = np.array(self.same, np.int64).reshape(-1, 2).T
        query = np.concatenate([later, self.numbers])
        shown = self.shown[leaders[np.concatenate([self.places[first], np.arange(self.size)])]]
        return query[query != shown], shown[query != shown]

    @property
    def size(self) -> int:
        """How many members there are."""
        return len(self.numbers)

    def side(self, place: int) -> Side:
        """A member as the search and the reference see it."""
        return self.sides.side(int(self.numbers[place]))

    def normal(self, place: int) -> NormalQuery:
        """A member as the search sees it."""
        return self.sides.normal(int(self.numbers[place]))


def members_by_stream(version: Version) -> list[Members]:
    """The members of all streams of a compiled version; joins are none."""
    table = version.table
    is_box = np.zeros(table.size, np.bool_)
    for stream in version.compiler.streams:
        is_box[plain_boxes(version, stream).dense] = True
    is_join = np.zeros(table.size, np.bool_)
    is_join[table.alive_joins] = True
    sides = Sides(version)
    trees: dict[str, list[int]] = {}
    for dense in table.alive.tolist():
        if not is_box[dense] and not is_join[dense]:
            trees.setdefault(sides.normal(dense).stream, []).append(dense)
    return [
        Members(version, stream, trees.get(stream.name, ()), sides) for stream in version.compiler.streams
    ]
