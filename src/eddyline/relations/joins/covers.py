"""Which joins of a set cover which: candidates by pairs of tuples that satisfy each join, the rest by proofs.

Joins are compared if they have the same streams and share a key. Of each join one pair of tuples is found for each of its
branches; who misses one of them does not cover it. All joins are evaluated on all of these pairs at once: a subject is
evaluated once for each pair, and a condition is a few slices of its sorted values.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from eddyline.compile import Compiler
from eddyline.implication.facts.event_times import ELAPSED
from eddyline.model.arrays import Flags
from eddyline.model.expression import Call, Expression
from eddyline.model.join import NormalJoin, Source
from eddyline.model.predicate import And, Condition, Or, Predicate
from eddyline.model.regions import Regions
from eddyline.reference.evaluate import evaluate
from eddyline.relations.joins.pairs import CompiledJoin, JoinedPairs, JoinSide
from eddyline.relations.members import order_free
from eddyline.relations.question import Row, Terms

Progress = Callable[[int, int], None]  # joins that are done, of all


@dataclass(slots=True)
class JoinCovers:
    """What was found out, by the numbers of the joins.

    same        joins of one predicate; the first of them stands for all in `covered` and `unknown`
    covered     (i, j): every pair of tuples of i is one of j; both ways for joins that have the same pairs
    never       joins that have no pairs; they are in no other list
    unknown     (i, j, why it is not known whether j covers i); j is None for whether i is ever true
    """

    same: list[list[int]] = field(default_factory=list)
    covered: list[tuple[int, int]] = field(default_factory=list)
    never: list[int] = field(default_factory=list)
    unknown: list[tuple[int, int | None, str]] = field(default_factory=list)


def join_covers(
    joins: Mapping[int, CompiledJoin],
    compiler: Compiler,
    terms: Terms,
    found: JoinCovers,
    progress: Progress | None = None,
) -> None:
    """Find who covers whom among joins, which have numbers; joins of other streams, or by other keys, are not compared.

    `found` is filled as the search goes on, so that nothing is lost if it is interrupted.
    """
    done = 0
    for group in _by_streams(joins):
        members = _Members(group, joins, compiler, terms, found)
        places = members.sampled(range(len(members.sides)))
        found.same += [members.numbers[place] for place in places]
        for place in places:
            members.compare(place, places)
            done += len(members.numbers[place])
            if progress is not None:
                progress(done, len(joins))


def covers_of_join(
    own: int,
    joins: Mapping[int, CompiledJoin],
    compiler: Compiler,
    terms: Terms,
    *,
    covers_only: bool = False,
) -> JoinCovers:
    """The same for one of the joins alone: who covers it, and whom it covers.

    With `covers_only` that is asked only of those that cover it, so that of the others no pair has to be found.
    """
    found = JoinCovers()
    group = next(group for group in _by_streams(joins) if own in group)
    members = _Members([own, *(number for number in group if number != own)], joins, compiler, terms, found)
    first, *others = range(len(members.sides))
    if not members.sampled([first]):
        return found
    found.same += members.numbers
    for other in others:
        members.compare(other, [first])
    if covers_only:
        covering = {cover for _, cover in found.covered}
        others = [other for other in others if members.numbers[other][0] in covering]
    members.compare(first, members.sampled(others))
    return found


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
    """Joins of the same streams: the first of each predicate, and pairs of tuples that tell them apart."""

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
        self.sides: list[JoinSide] = []
        self.keys: list[frozenset[Expression]] = []
        self.numbers: list[list[int]] = []  # by place, those of all joins of one predicate
        places: dict[object, int] = {}
        for number in group:
            side = self.pairs.side(joins[number])
            place = places.setdefault(order_free(side.predicate), len(self.sides))
            if place == len(self.sides):
                self.sides.append(side)
                self.keys.append(keys_of(side.predicate))
                self.numbers.append([])
            self.numbers[place].append(number)
        self._owners = np.empty(0, np.int64)
        self._values = _Values([], self.pairs)

    def sampled(self, places: Iterable[int]) -> list[int]:
        """Find pairs of tuples that satisfy joins, by which others are compared with them; those that have one are given."""
        samples = [(place, row) for place in places for row in self._samples(place)]
        self._owners = np.array([place for place, _ in samples], np.int64)
        self._values = _Values([row for _, row in samples], self.pairs)
        return list(dict.fromkeys(self._owners.tolist()))

    def _samples(self, place: int) -> list[Row]:
        """A pair for each branch of a join; none if none is found, which is noted."""
        side = self.sides[place]
        rows = []
        for branch in side.predicate.parts if isinstance(side.predicate, Or) else (side.predicate,):
            answer = self.pairs.ask([replace(side, predicate=branch)], [], self.terms)
            if answer.row is not None:
                rows.append(answer.row)
        if not rows:
            answer = self.pairs.ask([side], [], self.terms)
            if answer.proof is not None:
                self.found.never += self.numbers[place]
            elif answer.row is None:
                self.found.unknown += [(number, None, str(answer.reason)) for number in self.numbers[place]]
            else:
                rows.append(answer.row)
        return rows

    def compare(self, cover: int, among: Sequence[int]) -> None:
        """Find which joins a join covers, of those that pairs were found for last."""
        side = self.sides[cover]
        missed = np.unique(self._owners[~self._values.holds(side.predicate)])
        for place in np.setdiff1d(among, missed).tolist():
            if place != cover and self.keys[place] & self.keys[cover]:
                answer = self.pairs.ask([self.sides[place]], [side], self.terms)
                pair = self.numbers[place][0], self.numbers[cover][0]
                if answer.proof is not None:
                    self.found.covered.append(pair)
                elif answer.reason is not None:
                    self.found.unknown.append((*pair, answer.reason))


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
