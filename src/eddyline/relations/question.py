"""A question about queries: can a row satisfy some of them and not others? Answered by a proof, a row, or a reason.

All relations are such questions: a implies b unless a row satisfies a and not b; a and b are disjoint unless a row
satisfies both; a is never true unless a row satisfies it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Final

from eddyline.implication.facts import FACTS, facts_about
from eddyline.implication.facts.subjects import Fact
from eddyline.implication.goals import Goal, Goals
from eddyline.implication.proof import Proof, proof_of
from eddyline.implication.search import Box, Budget, Outcome, search
from eddyline.model.catalog import Stream
from eddyline.model.expression import Call, Column, Expression, columns_of, externals_of
from eddyline.model.predicate import Predicate
from eddyline.model.query import BoundQuery, NormalQuery
from eddyline.normalize.explain import describe
from eddyline.reference.match import satisfies
from eddyline.relations.rows import rows_of

Row = Mapping[str, Any]

FIRST_GUESSES: Final = 8  # rows tried before facts; if these do not show it, the next ones seldom do


@dataclass(frozen=True, slots=True)
class Side:
    """A query as both worlds see it: bound for the reference evaluator, in normal form for the search."""

    bound: BoundQuery
    normal: NormalQuery

    @property
    def reads(self) -> frozenset[str]:
        """The columns that its condition names."""
        return columns_of(self.bound.predicate)


@dataclass(frozen=True, slots=True)
class Answer:
    """Exactly one of: the proof that no such row exists, such a row, the reason why neither was found."""

    proof: Proof | None = None
    row: Row | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which terms questions are answered: what is given of every row, which facts may be used, at which cost."""

    given: Sequence[Side] = ()
    budget: Budget = field(default_factory=Budget)
    facts: Sequence[Fact] = FACTS


@dataclass(frozen=True, slots=True)
class Question:
    """Goals that have to hold, where rows of a box come from, and who confirms that a row is one that was asked for."""

    goals: Sequence[Goal]
    time_zone: str
    rows: Callable[[Goals, Box], Iterable[Row]]
    shows: Callable[[Row], bool]


def ask(stream: Stream, wanted: Sequence[Side], unwanted: Sequence[Side], terms: Terms) -> Answer:
    """Whether a row of the stream can satisfy all that are wanted and none that are unwanted."""
    time_zone = wanted[0].normal.time_zone
    goals = goals_of([side.normal.predicate for side in wanted], [side.normal.predicate for side in unwanted])
    goals += [Goal("given", side.normal.predicate) for side in terms.given]

    def shows(row: Row) -> bool:
        met = all(satisfies(side.bound, row) for side in (*wanted, *terms.given))
        return met and not any(satisfies(side.bound, row) for side in unwanted)

    def rows(goals: Goals, box: Box) -> Iterable[Row]:
        return rows_of(stream, goals, box, time_zone)

    return answer(Question(goals, time_zone, rows, shows), terms)


def goals_of(wanted: Sequence[Predicate], unwanted: Sequence[Predicate]) -> list[Goal]:
    """What has to hold of a row that satisfies all that are wanted and none that are unwanted."""
    goals = [Goal("left", predicate) for predicate in wanted[:1]]
    goals += [Goal("right", predicate) for predicate in wanted[1:]]
    return goals + [Goal("right", predicate, holds=False) for predicate in unwanted]


def answer(question: Question, terms: Terms) -> Answer:
    """A proof that the goals cannot hold together, a row for which they do, or the reason why neither was found."""
    deadline = time.perf_counter() + terms.budget.seconds
    plain = Goals(question.goals)
    outcome = search(plain, terms.budget)
    if outcome.steps is not None:
        return Answer(proof=proof_of(plain, outcome.steps))
    if outcome.box is None:
        return Answer(reason=_given_up(outcome, terms.budget))
    related = [cutting.subject for cutting in plain.cuttings if not isinstance(cutting.subject, Column)]
    external = [call for subject in related for call in _externals(subject)]
    guesses = iter(() if external else question.rows(plain, outcome.box))
    for row in islice(guesses, FIRST_GUESSES):  # a row is found sooner than facts are
        if question.shows(row):
            return Answer(row=row)
    assert related, "over columns alone a box that is left has rows"
    predicates = [goal.predicate for goal in question.goals]
    facts = facts_about(predicates, question.time_zone, terms.facts, deadline)
    known = Goals([*question.goals, *facts])
    outcome = search(known, Budget(terms.budget.splits, deadline - time.perf_counter()))
    if outcome.steps is not None:
        return Answer(proof=proof_of(known, outcome.steps))
    if outcome.box is None:
        return Answer(reason=_given_up(outcome, terms.budget))
    if external:
        return Answer(reason=f"only Spark can compute {describe(external[0])}")
    for row in chain(question.rows(known, outcome.box), guesses):
        if question.shows(row):
            return Answer(row=row)
    return Answer(reason=_unrelated(related))


@lru_cache(maxsize=1 << 14)
def _externals(subject: Expression) -> tuple[Call, ...]:
    return externals_of(subject)


def _given_up(outcome: Outcome, budget: Budget) -> str:
    if outcome.splits > budget.splits:
        return f"the search was given up after {budget.splits:,} splits"
    return f"the search was given up after {budget.seconds * 1000:.0f} ms and {outcome.splits:,} splits"


def _unrelated(subjects: Sequence[Expression]) -> str:
    """Names expressions of which nothing is known that would decide: those that share a column, else the first."""
    calls = [subject for subject in subjects if isinstance(subject, Call)]
    for one in calls:
        near = [other for other in calls if other != one and columns_of(one) & columns_of(other)]
        if near:
            return f"it is not known how {describe(one)} and {describe(near[0])} are related"
    return f"no row was found for which {describe(calls[0])} has the value that is needed"
