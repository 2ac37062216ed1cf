"""What is true of every row because of what subjects mean, as predicates; each fact can be left out."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Final

from eddyline.implication.facts.chosen_values import chosen_values
from eddyline.implication.facts.images_of_points import images_of_points
from eddyline.implication.facts.included_patterns import included_patterns
from eddyline.implication.facts.order_of_columns import order_of_columns
from eddyline.implication.facts.prefix_patterns import prefix_patterns
from eddyline.implication.facts.regex_literals import regex_literals
from eddyline.implication.facts.strict_functions import strict_functions
from eddyline.implication.facts.subjects import Fact, Subjects
from eddyline.implication.goals import Goal
from eddyline.model.predicate import Predicate

FACTS: Final[tuple[Fact, ...]] = (
    order_of_columns,  # first: it brings new subjects and cuts along
    chosen_values,
    prefix_patterns,
    included_patterns,
    regex_literals,
    strict_functions,
    images_of_points,  # last: it evaluates at the points of all cuts
)


def facts_about(
    predicates: Iterable[Predicate], time_zone: str, facts: Sequence[Fact] = FACTS, deadline: float = math.inf
) -> list[Goal]:
    """The facts that concern these predicates, each with the name of its rule; no more once the time is up."""
    subjects = Subjects(predicates, time_zone)
    goals: list[Goal] = []
    for fact in facts:
        found: list[Predicate] = []
        for predicate in fact(subjects):
            found.append(predicate)
            if time.perf_counter() > deadline:
                break
        goals += [Goal(fact.__name__, predicate) for predicate in found]
        for predicate in found:
            subjects.learn(predicate)
    return goals
