"""Which joins of a set cover which: candidates by pairs of tuples that satisfy each join, the rest by proofs.

Joins are compared if they have the same streams and share a key. Of each join one pair of tuples is found for each of its
branches; who misses one of them does not cover it. All joins are evaluated on all of these pairs at once: a subject is
evaluated once for each pair, and a condition is a few slices of its sorted values.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from eddyline.compile import Compiler
from eddyline.implication.facts.event_times import ELAPSED
from eddyline.model.arrays import Flags
from eddyline.model.expression import Call, Expression
from eddyline.model.join import BoundJoin, NormalJoin, Source
from eddyline.model.predicate import And, Condition, Or, Predicate
from eddyline.model.query import Query
from eddyline.model.regions import Regions
from eddyline.reference.evaluate import evaluate
from eddyline.relations.joins.pairs import JoinedPairs, JoinSide, bound_join
from eddyline.relations.members import order_free
from eddyline.relations.question import Row, Terms

Progress = Callable[[int, int], None]  # joins that are done, of all


@dataclass(frozen=True, slots=True)
class CompiledJoin:
    """A join of a set: in normal form, and bound for the reference."""

    normal: NormalJoin
    bound: BoundJoin

    @staticmethod
    def of(compiler: Compiler, query: Query) -> CompiledJoin:
        """A query that is known to be a join."""
        normal = compiler.compile(query)
        assert isinstance(normal, NormalJoin), "only joins are asked for"
        return CompiledJoin(normal, bound_join(compiler, query))


@dataclass(slots=True)
class JoinCovers:
    """What was found out, by the numbers of the joins.

    covered     (i, j): every pair of tuples of i is one of j; both ways for joins that have the same pairs
    never       joins that have no pairs; they are in no other list
    unknown     (i, j, why it is not known whether j covers i); j is None for whether i is ever true
    """

    covered: list[tuple[int, int]] = field(default_factory=list)
    never: list[int] = field(default_factory=list)
    unknown: list[tuple[int, int | None, str]] = field(default_factory=list)


def join_covers(
    joins: Mapping[int, CompiledJoin],
    compiler: Compiler,
    terms: Terms | None = None,
    progress: Progress | None = None,
    about: int | None = None,
) -> JoinCovers:
    """Who covers whom among joins, which have numbers; joins of other streams, or by other keys, are not compared.

    If it is `about` one of them, others are compared with that one alone.
    """
    found = JoinCovers()
    done = 0
    for group in _by_streams(joins):
        if about is not None and about not in group:
            continue
        members = _Members(
            group, {number: joins[number] for number in group}, compiler, terms or Terms(), found
        )
        own = None if about is None else members.place_of(about)
        for place in range(len(members.numbers)):
            members.compare(place, None if own is None or place == own else [own])
            done += 1
            if progress is not None:
                progress(done, len(joins))
    return found


def join_key(join: NormalJoin, compiler: Compiler) -> object:
    """A key that joins share which differ only in the order of their streams and conditions, in aliases and SELECT lists."""
    pairs = JoinedPairs.of(_usual_sources(join), compiler)
    return pairs.sources, order_free(pairs.predicate(join))


def _usual_sources(join: NormalJoin) -> tuple[Source, Source]:
    """The streams of a join by their names; one that is joined with itself has another name in the second place."""
    first, second = sorted(source.stream for source in join.sources)
    return Source(first, first), Source(second if first != second else f"other {second}", second)


def _by_streams(joins: Mapping[int, CompiledJoin]) -> Iterable[list[int]]:
    groups: dict[tuple[Source, Source], list[int]] = {}
    for number, join in joins.items():
        groups.setdefault(_usual_sources(join.normal), []).append(number)
    return groups.values()


class _Members:
    """Joins of the same streams: the first of each predicate, and the pairs of tuples that tell them apart."""

    def __init__(
        self,
        group: Sequence[int],
        joins: Mapping[int, CompiledJoin],
        compiler: Compiler,
        terms: Terms,
        found: JoinCovers,
    ) -> None:
        self.pairs = JoinedPairs.of(_usual_sources(joins[group[0]].normal), compiler)
        self.terms = terms
        self.found = found
        self.numbers: list[int] = []
        self.sides: list[JoinSide] = []
        self.keys: list[frozenset[Expression]] = []
        self.same: list[list[int]] = []  # by place, the numbers of all joins of one predicate
        firsts: dict[object, int] = {}
        samples: list[tuple[int, Row]] = []
        for number in group:
            side = self.pairs.side(joins[number].bound, joins[number].normal)
            key = order_free(side.predicate)
            if key in firsts:
                self.same[firsts[key]].append(number)
                continue
            rows = self._samples(number, side)
            if not rows:
                continue
            place = firsts[key] = len(self.numbers)
            self.numbers.append(number)
            self.sides.append(side)
            self.keys.append(keys_of(side.predicate))
            self.same.append([number])
            samples += [(place, row) for row in rows]
        self._owners = np.array([place for place, _ in samples], np.int64)
        self._values = _Values([row for _, row in samples], self.pairs)

    def _samples(self, number: int, side: JoinSide) -> list[Row]:
        """Pairs of tuples that satisfy a join; none if none is found, which is noted."""
        rows = []
        for branch in side.predicate.parts if isinstance(side.predicate, Or) else (side.predicate,):
            answer = self.pairs.ask([JoinSide(side.bound, branch, side.swapped)], [], self.terms)
            if answer.row is not None:
                rows.append(answer.row)
        if not rows:
            answer = self.pairs.ask([side], [], self.terms)
            if answer.proof is not None:
                self.found.never.append(number)
            elif answer.row is None:
                self.found.unknown.append((number, None, str(answer.reason)))
            else:
                rows.append(answer.row)
        return rows

    def place_of(self, number: int) -> int:
        """The place of a join; -1 if it has none, for want of a pair that satisfies it."""
        return next((place for place, numbers in enumerate(self.same) if number in numbers), -1)

    def compare(self, cover: int, among: Sequence[int] | None = None) -> None:
        """Find all that a join covers, among the joins of some places or all."""
        side = self.sides[cover]
        missed = np.unique(self._owners[~self._values.holds(side.predicate)])
        candidates = np.setdiff1d(np.arange(len(self.numbers)) if among is None else among, missed)
        for place in candidates.tolist():
            if place == cover:
                self._note(cover, cover)
            elif self.keys[place] & self.keys[cover]:
                answer = self.pairs.ask([self.sides[place]], [side], self.terms)
                if answer.proof is not None:
                    self._note(place, cover)
                elif answer.reason is not None:
                    self.found.unknown.append((self.numbers[place], self.numbers[cover], answer.reason))

    def _note(self, place: int, cover: int) -> None:
        self.found.covered += [
            (one, other) for one in self.same[place] for other in self.same[cover] if one != other
        ]


def keys_of(predicate: Predicate) -> frozenset[Expression]:
    """The equalities of a join, whichever branch they belong to."""
    pending, found = [predicate], set()
    while pending:
        current = pending.pop()
        if not isinstance(current, Condition):
            pending += current.parts
        elif isinstance(current.subject, Call) and current.subject.function in ("eq", "null_safe_eq"):
            found.add(current.subject)
    return frozenset(found)


class _Values:
    """Pairs of tuples, and what subjects are for each: conditions are decided for all of them at once."""

    def __init__(self, rows: Sequence[Row], pairs: JoinedPairs) -> None:
        self.rows = rows
        self.pairs = pairs
        self._sorted: dict[Expression, _Sorted] = {}

    def holds(self, predicate: Predicate) -> Flags:
        """For which pairs a predicate is true."""
        if isinstance(predicate, Condition):
            return self._of(predicate.subject).inside(predicate.regions)
        every = isinstance(predicate, And)
        start = np.full(len(self.rows), every)
        return reduce(np.logical_and if every else np.logical_or, map(self.holds, predicate.parts), start)

    def _of(self, subject: Expression) -> _Sorted:
        found = self._sorted.get(subject)
        if found is None:
            found = self._sorted[subject] = _Sorted([self._value(subject, row) for row in self.rows])
        return found

    def _value(self, subject: Expression, row: Row) -> Any:
        if isinstance(subject, Call) and subject.function == ELAPSED:
            first, second = self.pairs.times.columns
            return row[second.name] - row[first.name]
        return evaluate(subject, row, time_zone=self.pairs.time_zone)


class _Sorted:
    """Values in their order, so that an interval is a slice."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._null = np.array([value is None for value in values], np.bool_)
        self._nan = np.array([value is not None and value != value for value in values], np.bool_)
        plain = np.flatnonzero(~(self._null | self._nan)).tolist()
        nested = any(isinstance(values[place], list | tuple | dict) for place in plain)
        self._places = np.array(plain if nested else sorted(plain, key=values.__getitem__), np.int64)
        self._values = [] if nested else [values[place] for place in self._places]

    def inside(self, regions: Regions) -> Flags:
        """Which values lie in regions; of arrays and their like only NULL is told apart."""
        found = np.zeros(len(self._null), np.bool_)
        for lower, upper in regions.intervals():
            start = (
                0 if lower is None else (bisect_right if lower[1] else bisect_left)(self._values, lower[0])
            )
            end = (
                len(self._places)
                if upper is None
                else (bisect_right if upper[1] else bisect_left)(self._values, upper[0])
            )
            found[self._places[start:end]] = True
        if regions.null:
            found |= self._null
        if regions.nan:
            found |= self._nan
        return found
