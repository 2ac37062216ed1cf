"""What one query has to do with the queries of a set, whether it stands among them or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.compile import Compiler
from eddyline.model.join import NormalJoin
from eddyline.model.query import NormalQuery, Query
from eddyline.relations.covers import TreeCovers, covered_boxes, judged
from eddyline.relations.joins.covers import JoinCovers, covers_of_join, join_covers
from eddyline.relations.joins.pairs import CompiledJoin
from eddyline.relations.members import Sides
from eddyline.relations.pair import side
from eddyline.relations.plain_boxes import Longs, plain_boxes
from eddyline.relations.question import Side, Terms
from eddyline.relations.redundancies import Findings, Redundancies
from eddyline.standing.version import Version

BLOCK: Final = 65_536
MOST_SORTED: Final = 2_000
MOST_JOINS_SORTED: Final = 50  # they are compared one by one


def relations_to(
    version: Version, query: Query, terms: Terms | None = None, *, covers_only: bool = False
) -> Redundancies:
    """What a query would have to do with those of a set, leaving out the one that has its id.

    With `covers_only` only queries are listed that cover it or are equal to it: then those of the set that are no plain
    boxes need not be looked at one by one.
    """
    version = version.ready()
    normal = version.compiler.compile(query)
    if isinstance(normal, NormalJoin):
        return _joins_beside(version, query, terms or Terms(), covers_only)
    comparison = _Comparison(version, query, normal, terms or Terms())
    return comparison.result(covers_only)


def _joins_beside(version: Version, query: Query, terms: Terms, covers_only: bool) -> Redundancies:
    """The same for a join: each join of the same streams that shares a key is compared by itself."""
    table = version.table
    own, excluded = table.size, table.find(query.id)
    joins = {own: CompiledJoin.of(version.compiler, query)}
    for dense in table.alive_joins.tolist():
        if dense != excluded:
            joins[dense] = CompiledJoin.of(version.compiler, table.query(dense))
    found = covers_of_join(own, joins, version.compiler, terms, covers_only=covers_only)
    findings = Findings(_names(version, query.id))
    same = {numbers[0]: set(numbers) - {own} for numbers in found.same}
    alike = same.get(own, set())
    covering = alike.union(*(same[other] for one, other in found.covered if one == own))
    covered = alike.union(*(same[one] for one, other in found.covered if other == own))
    findings.add("never true", [own] * (own in found.never), [-1] * (own in found.never))
    for relation, others in (
        ("equivalent", sorted(covering & covered)),
        ("implied", _tightest_first(covering - covered, joins, version.compiler, terms)),
        ("implies", [] if covers_only else sorted(covered - covering)),
    ):
        findings.add(relation, [own] * len(others), others)
    findings.unknown = [(a, b, reason) for a, b, reason in found.unknown if b is not None]
    findings.uncompared = [a for a, b, _ in found.unknown if b is None and a == own]
    return findings.result()


def _tightest_first(
    covers: set[int], joins: Mapping[int, CompiledJoin], compiler: Compiler, terms: Terms
) -> list[int]:
    """Joins that cover another one, who is covered by most of the others first."""
    if len(covers) > MOST_JOINS_SORTED:
        return sorted(covers)
    found = JoinCovers()
    join_covers({number: joins[number] for number in sorted(covers)}, compiler, terms, found)
    same = {numbers[0]: numbers for numbers in found.same}
    wider = Counter(number for one, _ in found.covered for number in same[one])
    return sorted(covers, key=lambda number: (-wider[number], number))


def _names(version: Version, own: str) -> Callable[[Longs], pa.Array]:
    """The ids of dense ids; the one behind the last is a query's that is not in the set."""
    size = version.table.size

    def named(dense: Longs) -> pa.Array:
        is_own = dense == size
        if is_own.all():
            return pa.array([own] * len(dense), pa.string())
        known = version.table.named(np.where(is_own, dense[~is_own][0], dense))
        return pc.if_else(pa.array(is_own), own, known)

    return named


class _Beside:
    """The queries of a version by dense id, and behind them one more."""

    def __init__(self, version: Version, query: Query, normal: NormalQuery) -> None:
        self._own = version.table.size
        self._side = cache(lambda: side(version.compiler, query))
        self._normal = normal
        self._sides = Sides(version)

    def side(self, place: int) -> Side:
        """A query as the search and the reference see it."""
        return self._side() if place == self._own else self._sides.side(place)

    def normal(self, place: int) -> NormalQuery:
        """A query as the search sees it."""
        return self._normal if place == self._own else self._sides.normal(place)


class _Comparison:
    """One query beside those of a set; places are dense ids, and `own` is that of the query itself."""

    def __init__(self, version: Version, query: Query, normal: NormalQuery, terms: Terms) -> None:
        self.version = version
        self.query = query
        self.stream = version.stream(normal.stream)
        self.boxes = plain_boxes(version, self.stream)
        self.box = self.boxes.alone(normal.predicate)
        self.own = version.table.size
        self.excluded = version.table.find(query.id)
        self.trees = TreeCovers(self.stream, _Beside(version, query, normal), terms)
        self._normal = normal

    def result(self, covers_only: bool) -> Redundancies:
        """All relations, or only to those that cover the query."""
        covering = self._covering()
        covered = self._covered(covering if covers_only else None)
        findings = Findings(_names(self.version, self.query.id))
        same, wider, narrower = covering & covered, covering - covered, covered - covering
        if self.own in self.trees.never:
            findings.add("never true", [self.own], [-1])
        else:
            for relation, others in (
                ("equivalent", sorted(same)),
                ("implied", self._by_tightness(wider)),
                ("implies", sorted(narrower)),
            ):
                findings.add(relation, [self.own] * len(others), others)
            findings.uncompared = self.trees.uncompared
            findings.unknown = self.trees.unknown
        return findings.result()

    def _places(self, boxes_first: bool) -> Longs:
        """Places by dense id: boxes by their number and trees behind them, or all as they are; -1 for the query itself."""
        places = np.arange(self.own)
        if boxes_first:
            places += len(self.boxes.dense)
            places[self.boxes.dense] = np.arange(len(self.boxes.dense))
        if self.excluded is not None:
            places[self.excluded] = -1
        return places

    def _covering(self) -> set[int]:
        """Who covers the query."""
        if self.box is None:
            found = self.trees.candidates([self.own], self.version, self._places(False))
            return {other for _, others in found for other in others if self.trees.decide(self.own, other)}
        (block,) = covered_boxes(
            self.box, self.version, self._places(True), self.boxes.ranges, are_among=False
        )
        trees = (block.open_trees - len(self.boxes.dense)).tolist()
        proven = {tree for tree in trees if self.trees.decide(self.own, tree)}
        return {*self.boxes.dense[block.others].tolist(), *proven}

    def _covered(self, among: set[int] | None) -> set[int]:
        """Whom the query covers, among some or all others."""
        is_box = np.zeros(self.own, np.bool_)
        is_box[self.boxes.dense] = True
        if among is None:
            others = [
                dense for dense in self.version.of_stream(self.stream.name).tolist() if dense != self.excluded
            ]
            hidden = self.version.table.hidden
            others = others if hidden is None else [dense for dense in others if not hidden[dense]]
            trees = [dense for dense in others if not is_box[dense]]
            trees = [
                tree
                for tree, found in self.trees.candidates(trees, self._alone(), np.array([self.own]))
                if found
            ]
        else:
            trees = [dense for dense in among if not is_box[dense]]
        proven = {tree for tree in trees if self.trees.decide(tree, self.own)}
        return proven | self._covered_boxes(among)

    def _covered_boxes(self, among: set[int] | None) -> set[int]:
        chosen = np.arange(len(self.boxes.dense))
        if among is not None:
            chosen = np.flatnonzero(np.isin(self.boxes.dense, list(among)))
        chosen = chosen[self.boxes.dense[chosen] != (-1 if self.excluded is None else self.excluded)]
        if self.box is not None:
            starts = np.arange(len(chosen) + 1)
            nobody = np.full(len(chosen), -1)
            found = judged(
                starts,
                np.zeros(len(chosen), np.int64),
                chosen,
                nobody,
                self.boxes.ranges,
                np.zeros(1, np.int64),
                self.box.ranges,
            )
            return set(self.boxes.dense[chosen[np.diff(found.starts) > 0]].tolist())
        if among is None:
            chosen = self._matched(chosen)
        return {dense for dense in self.boxes.dense[chosen].tolist() if self.trees.decide(dense, self.own)}

    def _matched(self, chosen: Longs) -> Longs:
        """The boxes of which a row satisfies the query."""
        boxes, alone = self.boxes.chosen(chosen), self._alone()
        found = [
            first
            + alone.match(
                boxes.corners(first, min(first + BLOCK, len(chosen))), self.stream.name
            ).pair_arrays()[0]
            for first in range(0, len(chosen), BLOCK)
        ]
        places: Longs = np.concatenate([*found, np.empty(0, np.int64)])
        return chosen[places]

    def _alone(self) -> Version:
        """A set of the query alone."""
        empty = Version(0, self.version.compiler, self.version.settings)
        return empty.add([self.query], [self._normal]).ready()

    def _by_tightness(self, dense: set[int]) -> list[int]:
        """Those that cover the query, who is covered by most of the others first; trees last."""
        boxes = np.flatnonzero(np.isin(self.boxes.dense, list(dense)))
        trees = sorted(dense - set(self.boxes.dense[boxes].tolist()))
        size = len(boxes)
        if size > MOST_SORTED:
            return [*self.boxes.dense[boxes].tolist(), *trees]
        every = np.arange(size)
        ranges = self.boxes.ranges.chosen(boxes)
        found = judged(np.arange(size + 1) * size, np.tile(every, size), every, every, ranges, every, ranges)
        order = np.argsort(-np.diff(found.starts), kind="stable")
        return [*self.boxes.dense[boxes[order]].tolist(), *trees]
