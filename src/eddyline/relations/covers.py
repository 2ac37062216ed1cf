"""Who covers whom in a set: candidates by the matcher, which gets corners as rows; the rest by proofs."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from eddyline.compile import Compiler
from eddyline.model.catalog import Stream
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.query import NormalQuery, Query
from eddyline.relations.corner_batches import batch_of, fits
from eddyline.relations.corners import Row, plain_corners, sample_rows
from eddyline.relations.pair import side
from eddyline.relations.question import Side, Terms, ask
from eddyline.standing.version import Version

Progress = Callable[[str, int, int], None]
Longs = npt.NDArray[np.int64]

BLOCK = 8_192  # queries whose corners are matched at a time


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


class Members:
    """The distinct predicates of a stream's queries: `numbers` are the dense ids of the first query of each.

    `same` are pairs of dense ids: a query, and the first one that has the same predicate.
    """

    def __init__(self, compiler: Compiler, stream: Stream) -> None:
        self.stream = stream
        self.same: list[tuple[int, int]] = []
        self.numbers: list[int] = []
        self.normal: list[NormalQuery] = []
        self._compiler = compiler
        self._sides: dict[int, Side] = {}
        self._first: dict[object, int] = {}

    def add(self, dense: int, normal: NormalQuery) -> None:
        """Take in a query, in the order of registration."""
        place = self._first.setdefault(order_free(normal.predicate), len(self.numbers))
        if place < len(self.numbers):
            self.same.append((dense, self.numbers[place]))
        else:
            self.numbers.append(dense)
            self.normal.append(normal)

    def places(self, version: Version) -> Longs:
        """The place of each query by its dense id; -1 for those that are not among the members."""
        places = np.full(version.table.size, -1, np.int64)
        places[self.numbers] = np.arange(len(self.numbers))
        return places

    def side(self, place: int) -> Side:
        """A member as the search and the reference see it."""
        found = self._sides.get(place)
        if found is None:
            normal = self.normal[place]
            found = self._sides[place] = side(self._compiler, Query(normal.id, normal.sql))
        return found


class Covers:
    """Who covers whom among the members, given by their places."""

    def __init__(
        self,
        members: Members,
        owners: Container[int],
        among: Version,
        places: Longs,
        terms: Terms,
        progress: Progress,
    ) -> None:
        """Covers of the `owners` are looked for `among` the queries of a version, whose places are given by dense id."""
        self.members = members
        self.among = among
        self.places = places
        self.terms = terms
        self.progress = progress
        self.never: list[int] = []
        self.uncompared: list[int] = []
        self.unknown: list[tuple[int, int, str]] = []
        self._plain: list[tuple[int, Row, Row]] = []
        self._sampled: list[tuple[int, list[Row]]] = []
        self._is_plain = np.zeros(len(members.numbers), np.bool_)
        for place, normal in enumerate(members.normal):
            corners = plain_corners(normal.predicate)
            self._is_plain[place] = corners is not None
            if place not in owners:
                continue
            if corners is not None and all(fits(row, members.stream) for row in corners):
                self._plain.append((place, *corners))
                continue
            rows = sample_rows(members.side(place), members.stream)
            fitting = [row for row in rows if fits(row, members.stream)]
            if fitting:
                self._sampled.append((place, fitting))
            elif ask(members.stream, [members.side(place)], [], terms).proof is not None:
                self.never.append(place)
            else:
                self.uncompared.append(place)

        self._has_corners = np.zeros(len(members.numbers), np.bool_)
        self._has_corners[[place for place, *_ in self._plain]] = True

    def pairs(self) -> Iterator[tuple[Longs, Longs]]:
        """Pairs of a member and one that covers it, in blocks; all pairs of a member are in one block."""
        done, total = 0, len(self._plain) + len(self._sampled)
        for start in range(0, len(self._plain), BLOCK):
            block = self._plain[start : start + BLOCK]
            places = np.array([place for place, *_ in block])
            low = self._keys([row for _, row, _ in block], places)
            high = self._keys([row for *_, row in block], places)
            yield self._decided(np.intersect1d(low, high, assume_unique=True))
            done += len(block)
            self.progress(self.members.stream.name, done, total)
        for start in range(0, len(self._sampled), BLOCK):
            sampled = self._sampled[start : start + BLOCK]
            owners = np.array([place for place, rows in sampled for _ in rows])
            keys, counts = np.unique(
                self._keys([row for _, rows in sampled for row in rows], owners), return_counts=True
            )
            wanted = np.zeros(len(self._is_plain), np.int64)
            wanted[[place for place, _ in sampled]] = [len(rows) for _, rows in sampled]
            yield self._decided(keys[counts == wanted[keys // len(wanted)]])
            done += len(sampled)
            self.progress(self.members.stream.name, done, total)

    def _keys(self, rows: Sequence[Row], owners: Longs) -> Longs:
        """Pairs of an owner of a row and a member that matches the row, each as one number, in order."""
        matches = self.among.match(batch_of(rows, self.members.stream), self.members.stream.name)
        row, dense = matches.pair_arrays()
        places = self.places[dense]
        found = places >= 0
        keys = owners[row[found]] * len(self._is_plain) + places[found]
        keys.sort()
        return keys

    def _decided(self, keys: Longs) -> tuple[Longs, Longs]:
        """The pairs, of those that may be, in which the other covers the one."""
        one, other = np.divmod(keys, len(self._is_plain))
        apart = one != other
        one, other = one[apart], other[apart]
        certain = self._has_corners[one] & self._is_plain[other]
        kept = certain.copy()
        for i in np.flatnonzero(~certain).tolist():
            kept[i] = self._implies(int(one[i]), int(other[i]))
        return one[kept], other[kept]

    def _implies(self, one: int, other: int) -> bool:
        members = self.members
        answer = ask(members.stream, [members.side(one)], [members.side(other)], self.terms)
        if answer.reason is not None:
            self.unknown.append((one, other, answer.reason))
        return answer.proof is not None
