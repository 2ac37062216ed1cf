"""What is true of every row because of what subjects mean, as predicates; each fact can be left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from eddyline.implication.facts.bounds_along_order import bounds_along_order
from eddyline.implication.facts.chosen_arguments import chosen_arguments
from eddyline.implication.facts.chosen_values import chosen_values
from eddyline.implication.facts.images_of_points import images_of_points
from eddyline.implication.facts.included_patterns import included_patterns
from eddyline.implication.facts.inverse_functions import inverse_functions
from eddyline.implication.facts.order_of_columns import order_of_columns
from eddyline.implication.facts.prefix_patterns import prefix_patterns
from eddyline.implication.facts.regex_literals import regex_literals
from eddyline.implication.facts.strict_functions import strict_functions
from eddyline.implication.facts.subjects import Fact, Subjects
from eddyline.implication.goals import Goal
from eddyline.model.predicate import Predicate

FACTS: Final[tuple[Fact, ...]] = (
    chosen_arguments,  # first: it brings new comparisons along
    inverse_functions,  # before those that use cuts: it lets functions have the cuts of what they are compared with
    order_of_columns,  # it brings what is compared along as subjects
    chosen_values,
    prefix_patterns,
    bounds_along_order,  # after those that bring cuts of columns along
    included_patterns,
    regex_literals,
    strict_functions,
    images_of_points,  # last: it evaluates at the points of all cuts
)


def facts_about(
    predicates: Iterable[Predicate], time_zone: str, facts: Sequence[Fact] = FACTS, deadline: float = math.inf
) -> list[Goal]:
    """The facts that concern these predicates, each with the name of its rule; no more once the time is up."""
    subjects = Subjects(predicates, time_zone, deadline)
    goals: list[Goal] = []
    for fact in facts:
        found: list[Predicate] = []
        for predicate in fact(subjects):
            found.append(predicate)
            if subjects.time_is_up:
                break
        goals += [Goal(fact.__name__, predicate) for predicate in found]
        for predicate in found:
            subjects.learn(predicate)
    return goals
