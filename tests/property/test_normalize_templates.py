"""A plan made once for a template gives, for any constants, what normalizing the query with them gives."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.model.expression import Call, Expression, Literal, Parameter
from eddyline.model.query import BoundQuery, NormalQuery
from eddyline.normalize import Plan, pin, plan
from eddyline.normalize.constants import substitute
from tests.property.normal_forms import bound, check_agreement, draw_predicate, draw_value, telling_rows

SOURCES = st.randoms(use_true_random=False)


def with_parameters(expression: Expression, parameters: list[Parameter]) -> Expression:
    """The expression with constants as parameters; booleans and NULL stay, as in SQL text."""
    if isinstance(expression, Call):
        arguments = tuple([with_parameters(argument, parameters) for argument in expression.arguments])
        return Call(expression.function, arguments, expression.type)
    if not isinstance(expression, Literal) or expression.value is None or isinstance(expression.value, bool):
        return expression
    parameters.append(Parameter(expression.value, expression.type, len(parameters)))
    return parameters[-1]


def planned(query: BoundQuery) -> tuple[BoundQuery, Plan]:
    """The template with as many parameters as a plan can have."""
    made = plan(query)
    while made.pinned:
        query = pin(query, made.pinned)
        made = plan(query)
    return query, made


@settings(max_examples=80)
@given(SOURCES, st.integers(1, 8))
def test_plans_hold_for_all_values(source: random.Random, atoms: int) -> None:
    parameters: list[Parameter] = []
    template = bound(with_parameters(draw_predicate(source, atoms), parameters))
    template, made = planned(template)
    for _ in range(3):
        values = [p.value if source.random() < 0.3 else draw_value(source, p.type) for p in parameters]
        query = replace(template, predicate=substitute(template.predicate, values))
        normal = NormalQuery("q", "", "s", made.instantiate(values), ())
        check_agreement(query, normal, telling_rows(query.predicate, normal.predicate, source))


@settings(max_examples=40)
@given(SOURCES, st.integers(1, 8))
def test_parameters_may_be_null(source: random.Random, atoms: int) -> None:
    parameters: list[Parameter] = []
    template, made = planned(bound(with_parameters(draw_predicate(source, atoms), parameters)))
    values = [None if source.random() < 0.5 else p.value for p in parameters]
    query = replace(template, predicate=substitute(template.predicate, values))
    normal = NormalQuery("q", "", "s", made.instantiate(values), ())
    check_agreement(query, normal, telling_rows(query.predicate, normal.predicate, source))
