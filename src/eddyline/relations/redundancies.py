"""What of a whole set is redundant: queries that are the same, implied by others, or never true.

The matcher finds who may cover a query: those that match its corners (`corners`). For plain boxes that is the answer; of the
other candidates each is decided by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.compile import Compiler
from eddyline.model.catalog import Stream
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.query import NormalQuery, Query
from eddyline.relations.corners import Row, plain_corners, sample_rows
from eddyline.relations.pair import side
from eddyline.relations.question import Side, Terms, ask
from eddyline.standing.version import Version

Progress = Callable[[str, int, int], None]
Longs = npt.NDArray[np.int64]

_NONE: Final = np.empty(0, np.int64)
KEPT: Final = 3  # covers of each query, the tightest ones
BLOCK: Final = 8_192  # queries whose corners are matched at a time


@dataclass(frozen=True, slots=True)
class Redundancies:
    """Relations between the queries of a set.

    `table` has a row for each finding: query, relation ("equivalent", "implied", "never true"), other. Of equal queries
    the later ones are listed, each with the first; of those that cover a query the three tightest. `more` counts the other
    covers, by query. `unknown` are the pairs that were not decided, with the reason; `uncompared` are queries of which no
    row was found, so that nobody knows whom to compare them with.
    """

    table: pa.Table
    more: Mapping[str, int] = field(default_factory=dict)
    unknown: Sequence[tuple[str, str, str]] = ()
    uncompared: Sequence[str] = ()

    def __len__(self) -> int:
        return int(self.table.num_rows)


def redundancies(
    version: Version, terms: Terms | None = None, progress: Progress | None = None
) -> Redundancies:
    """All that is redundant among the selection queries of a set; joins are left out."""
    version = version.ready()
    search = _Search(version, terms or Terms(), progress or (lambda *_: None))
    for stream in version.compiler.streams:
        search.stream(stream)
    return search.result()


def relations_of(version: Version, id: str, terms: Terms | None = None) -> Redundancies:
    """What one query of a set has to do with the others: "equivalent", "implied" by others, "implies" others."""
    version = version.ready()
    (dense,) = [number for number, query in version.table.queries() if query.id == id]
    search = _Search(version, terms or Terms(), lambda *_: None)
    normal = version.compiler.compile(version.table.query(dense))
    if isinstance(normal, NormalQuery):
        search.one(version.stream(normal.stream), dense)
    return search.result()


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


class _Members:
    """The distinct predicates of a stream's queries: `numbers` are the dense ids of the first query of each."""

    def __init__(self, compiler: Compiler, queries: Sequence[tuple[int, Query]], stream: Stream) -> None:
        self.stream = stream
        self.same: list[tuple[int, int]] = []
        self.numbers: list[int] = []
        self.normal: list[NormalQuery] = []
        self._compiler = compiler
        self._sides: dict[int, Side] = {}
        first: dict[object, int] = {}
        for dense, query in queries:
            normal = compiler.compile(query)
            if not isinstance(normal, NormalQuery) or normal.stream != stream.name:
                continue
            key = order_free(normal.predicate)
            place = first.setdefault(key, len(self.numbers))
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
        found = self._sides.get(place)
        if found is None:
            normal = self.normal[place]
            found = self._sides[place] = side(self._compiler, Query(normal.id, normal.sql))
        return found


class _Search:
    def __init__(self, version: Version, terms: Terms, progress: Progress) -> None:
        self.version = version
        self.terms = terms
        self.progress = progress
        self.queries = list(version.table.queries())
        self.findings: list[tuple[int, str, int | None]] = []
        self.more: dict[int, int] = {}
        self.unknown: list[tuple[int, int, str]] = []
        self.uncompared: list[int] = []

    def result(self) -> Redundancies:
        names = {dense: query.id for dense, query in self.queries}
        findings = sorted(self.findings, key=lambda finding: finding[0])
        table = pa.table(
            {
                "query": pa.array([names[one] for one, _, _ in findings], pa.string()),
                "relation": pa.array([relation for _, relation, _ in findings], pa.string()),
                "other": pa.array(
                    [None if other is None else names[other] for *_, other in findings], pa.string()
                ),
            }
        )
        return Redundancies(
            table,
            {names[dense]: count for dense, count in self.more.items()},
            [(names[one], names[other], reason) for one, other, reason in self.unknown],
            [names[dense] for dense in self.uncompared],
        )

    def stream(self, stream: Stream) -> None:
        members = _Members(self.version.compiler, self.queries, stream)
        self.findings += [(dense, "equivalent", first) for dense, first in members.same]
        if not members.numbers:
            return
        numbers = members.numbers
        everybody = range(len(numbers))
        places = members.places(self.version)
        covers = _Covers(members, everybody, self.version, places, self.terms, self.progress)
        blocks = list(covers.pairs())
        self._note(covers, numbers)
        one, other = (
            (np.concatenate(part) for part in zip(*blocks, strict=True)) if blocks else (_NONE, _NONE)
        )
        self._keep(one, other, numbers)

    def one(self, stream: Stream, dense: int) -> None:
        """The findings about one query, in both directions; all of them are kept."""
        members = _Members(self.version.compiler, self.queries, stream)
        first = dict(members.same).get(dense, dense)
        same = {first, *(later for later, earlier in members.same if earlier == first)} - {dense}
        place = members.numbers.index(first)
        others = [other for other in range(len(members.numbers)) if other != place]
        alone = Version(0, self.version.compiler, self.version.settings).add(
            [Query("alone", members.normal[place].sql)], [members.normal[place]]
        )
        wider = _Covers(
            members, [place], self.version, members.places(self.version), self.terms, self.progress
        )
        narrower = _Covers(members, others, alone.ready(), np.array([place]), self.terms, self.progress)
        covering = {int(other) for _, others in wider.pairs() for other in others}
        covered = {int(one) for ones, _ in narrower.pairs() for one in ones}
        same |= {members.numbers[other] for other in covering & covered}
        self._note(wider, members.numbers)
        self._note(narrower, members.numbers)
        self.findings += [(dense, "equivalent", other) for other in sorted(same)]
        self.findings += [(dense, "implied", members.numbers[other]) for other in sorted(covering - covered)]
        self.findings += [(dense, "implies", members.numbers[other]) for other in sorted(covered - covering)]

    def _note(self, covers: _Covers, numbers: Sequence[int]) -> None:
        """What was found out beside pairs."""
        self.findings += [(numbers[place], "never true", None) for place in covers.never]
        self.unknown += [(numbers[one], numbers[other], reason) for one, other, reason in covers.unknown]
        self.uncompared += [numbers[place] for place in covers.uncompared]

    def _keep(self, one: Longs, other: Longs, numbers: Sequence[int]) -> None:
        """The tightest covers of each query: who is covered by many itself is small."""
        later = _mutual(one, other, len(numbers)) & (one > other)
        first = np.arange(len(numbers))
        np.minimum.at(first, one[later], other[later])
        self.findings += [
            (numbers[a], "equivalent", numbers[first[a]]) for a in np.unique(one[later]).tolist()
        ]
        leads = first == np.arange(len(numbers))
        among = leads[one] & leads[other]
        one, other = one[among], other[among]
        counts = np.bincount(one, minlength=len(numbers))
        order = np.lexsort((other, -counts[other], one))
        one, other = one[order], other[order]
        starts = np.flatnonzero(np.diff(one, prepend=-1))
        rank = np.arange(len(one)) - np.repeat(starts, np.diff(starts, append=len(one)))
        kept = rank < KEPT
        self.findings += [
            (numbers[a], "implied", numbers[b]) for a, b in zip(one[kept], other[kept], strict=True)
        ]
        for place, count in zip(one[starts].tolist(), np.diff(starts, append=len(one)).tolist(), strict=True):
            if count > KEPT:
                self.more[numbers[place]] = count - KEPT


class _Covers:
    """Who covers whom among the members, given by their places."""

    def __init__(
        self,
        members: _Members,
        owners: Sequence[int],
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
            if corners is not None:
                self._plain.append((place, *corners))
                continue
            rows = list(sample_rows(members.side(place), members.stream))
            if rows:
                self._sampled.append((place, rows))
            elif ask(members.stream, [members.side(place)], [], terms).proof is not None:
                self.never.append(place)
            else:
                self.uncompared.append(place)

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
        matches = self.among.match(_batch(rows, self.members.stream), self.members.stream.name)
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
        certain = self._is_plain[one] & self._is_plain[other]
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


def _mutual(one: Longs, other: Longs, size: int) -> npt.NDArray[np.bool_]:
    """Which of the pairs are there the other way round, too."""
    return np.isin(one * size + other, other * size + one)


def _batch(rows: Sequence[Mapping[str, Any]], stream: Stream) -> pa.RecordBatch:
    arrays = [
        pa.array([row.get(name) for row in rows], stream.schema.field(name).type, from_pandas=False)
        for name in stream.types
    ]
    return pa.record_batch(arrays, names=list(stream.types))
