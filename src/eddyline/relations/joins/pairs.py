"""Pairs of tuples of two streams, one of each source: what joins of these streams are asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from eddyline.compile import Compiler
from eddyline.implication.facts.event_times import ELAPSED, event_times_of
from eddyline.implication.goals import Goals
from eddyline.implication.search import Box
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.expression import Call, Expression, columns_of
from eddyline.model.join import BoundJoin, NormalJoin, Source, virtual_column, virtual_source
from eddyline.model.predicate import Predicate, conditions_of
from eddyline.model.query import Query
from eddyline.normalize.joins.explain import event_times
from eddyline.normalize.joins.linear import JoinedTimes
from eddyline.reference.join import satisfies_join
from eddyline.relations.joins.predicate import join_predicate
from eddyline.relations.joins.rows import joined_rows
from eddyline.relations.question import Answer, Question, Row, Terms, answer, goals_of
from eddyline.relations.readable_rows import readable, row_text
from eddyline.sql.render import joined_name, render_joined


@dataclass(frozen=True)
class CompiledJoin:
    """A join in normal form; it is bound for the reference where that is asked, for which its text is read again."""

    compiler: Compiler
    query: Query
    normal: NormalJoin

    @staticmethod
    def of(compiler: Compiler, query: Query) -> CompiledJoin:
        """A query that is known to be a join."""
        normal = compiler.compile(query)
        assert isinstance(normal, NormalJoin), "only joins are asked for"
        return CompiledJoin(compiler, query, normal)

    @cached_property
    def bound(self) -> BoundJoin:
        """As the reference sees it."""
        bound = self.compiler.bind(self.query)
        assert isinstance(bound, BoundJoin), "its normal form is that of a join"
        return bound


@dataclass(frozen=True, slots=True)
class JoinSide:
    """A join with a predicate over pairs, for the search.

    `swapped` says that its first source is the second one of the pairs.
    """

    join: CompiledJoin
    predicate: Predicate
    swapped: bool


@dataclass(frozen=True)
class JoinedPairs:
    """Pairs of tuples; columns are called as those of the virtual source of these sources.

    A stream that is joined with itself is both sources: then the first one of a join is always the first one here.
    """

    sources: tuple[Source, Source]
    streams: Mapping[str, Stream]
    time_zone: str = "UTC"
    join_window: Length | None = None

    @staticmethod
    def of(sources: tuple[Source, Source], compiler: Compiler) -> JoinedPairs:
        """Pairs of the sources of a join."""
        streams = {stream.name: stream for stream in compiler.streams}
        return JoinedPairs(sources, streams, compiler.time_zone, compiler.join_window)

    @cached_property
    def times(self) -> JoinedTimes:
        """The event times of both tuples."""
        return JoinedTimes.of(self.sources, event_times(self.sources, self.streams), self.time_zone)

    @cached_property
    def stream(self) -> Stream:
        """The columns of both tuples, as one."""
        return virtual_source(self.sources, self.streams)

    def side(self, join: CompiledJoin) -> JoinSide:
        """A join of the same streams, in whatever order and under whatever names it has them."""
        swapped = self._is_swapped(join.normal)
        first, second = self.sources
        own = (second, first) if swapped else (first, second)
        return JoinSide(join, join_predicate(join.normal, own, self.times, swapped=swapped), swapped)

    def _is_swapped(self, normal: NormalJoin) -> bool:
        own, names = ([source.stream for source in sources] for sources in (normal.sources, self.sources))
        assert sorted(own) == sorted(names), "joins of other streams were refused"
        return own != names

    def ask(self, wanted: Sequence[JoinSide], unwanted: Sequence[JoinSide], terms: Terms) -> Answer:
        """Whether a pair can satisfy all joins that are wanted and none that are unwanted."""
        goals = goals_of([side.predicate for side in wanted], [side.predicate for side in unwanted])

        def shows(row: Row) -> bool:
            met = all(self.satisfies(side, row) for side in wanted)
            return met and not any(self.satisfies(side, row) for side in unwanted)

        known = replace(terms, facts=(*terms.facts, event_times_of(self.times)))
        return answer(Question(goals, self.time_zone, self._rows, shows), known)

    def satisfies(self, side: JoinSide, row: Row) -> bool:
        """Whether the reference joins a pair, if that is all the data there is."""
        first, second = self.by_source(row)
        if side.swapped:
            first, second = second, first
        return satisfies_join(
            side.join.bound, first, second, streams=self.streams, join_window=self.join_window
        )

    def by_source(self, row: Row) -> tuple[dict[str, Any], dict[str, Any]]:
        """The two tuples of a pair, each with its stream's own names."""
        first, second = (
            {name: row[virtual_column(source.alias, name)] for name in self.streams[source.stream].types}
            for source in self.sources
        )
        return first, second

    def readable(self, row: Row) -> dict[str, Any]:
        """A pair as people want it: a row for each alias."""
        return {
            source.alias: readable(part, self.streams[source.stream])
            for source, part in zip(self.sources, self.by_source(row), strict=True)
        }

    def text(self, row: Row, sides: Iterable[JoinSide]) -> str:
        """What the joins read of a pair."""
        conditions = [condition for side in sides for condition in conditions_of(side.predicate)]
        reads = {name for condition in conditions for name in columns_of(condition.subject)}
        return f"pair {row_text(row, self.stream, reads)}"

    def render(self, expression: Expression) -> str:
        """An expression over pairs as people write it."""
        if isinstance(expression, Call) and expression.function == ELAPSED:
            return " - ".join(joined_name(column.name) for column in reversed(self.times.columns))
        return render_joined(expression)

    def _rows(self, goals: Goals, box: Box) -> Iterable[Row]:
        return joined_rows(self.stream, self.times, goals, box)
