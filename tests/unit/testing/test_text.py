"""Printing random statements: the fewest parentheses that Spark's precedence needs, and styles that change nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eddyline import reference
from eddyline.errors import QueryError
from eddyline.functions.operations import OPERATIONS
from eddyline.model.expression import Call, walk
from eddyline.model.query import BoundQuery, Query
from eddyline.sql import bind
from eddyline.testing.queries import statement
from eddyline.testing.rows import EVERYTHING, nasty_rows
from eddyline.testing.text import statement_text, where_text
from eddyline.testing.tree import ExpressionTree, Statement

A, B, C = (ExpressionTree("column", "boolean", (), name) for name in ("b1", "b2", "b1"))
X, Y = (ExpressionTree("column", "small", (), name) for name in ("i32", "j32"))


def node(form: str, word: str, *children: ExpressionTree) -> ExpressionTree:
    return ExpressionTree(form, "boolean", children, word)


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (node("or", "", A, node("and", "", B, C)), "b1 OR b2 AND b1"),
        (node("and", "", A, node("or", "", B, C)), "b1 AND (b2 OR b1)"),
        (node("and", "", node("not", "NOT", A), B), "NOT b1 AND b2"),
        (node("not", "NOT", node("and", "", A, B)), "NOT (b1 AND b2)"),
        (node("not", "NOT", node("compare", "=", X, Y)), "NOT i32 = j32"),
        (node("compare", "=", node("not", "NOT", A), B), "(NOT b1) = b2"),
        (node("is", "IS NULL", node("compare", "=", X, Y)), "i32 = j32 IS NULL"),
        (node("compare", "=", node("is", "IS NULL", X), B), "(i32 IS NULL) = b2"),
        (node("compare", "=", node("compare", "=", A, B), C), "b1 = b2 = b1"),
        (node("compare", "=", A, node("compare", "=", B, C)), "b1 = (b2 = b1)"),
        (node("sum", "-", X, node("sum", "-", X, Y)), "i32 - (i32 - j32)"),
        (node("sum", "-", node("sum", "-", X, X), Y), "i32 - i32 - j32"),
        (node("product", "*", node("sum", "+", X, Y), Y), "(i32 + j32) * j32"),
        (node("sign", "-", node("sign", "-", X)), "- - i32"),
        (node("sign", "-", node("product", "*", X, Y)), "- (i32 * j32)"),
        (node("field", "x", ExpressionTree("column", "struct", (), "st")), "st.x"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_fewest_parentheses(tree: ExpressionTree, text: str) -> None:
    assert where_text(Statement(tree)) == text


def bound(one: Statement) -> BoundQuery | None:
    try:
        return bind(Query("q", statement_text(one)), [EVERYTHING])
    except QueryError:
        return None


ROWS = list(reference.rows(nasty_rows(1, 12), EVERYTHING))


def meaning(one: BoundQuery) -> list[object]:
    expressions = [one.predicate, *(output.expression for output in one.outputs)]
    return [repr(reference.evaluate(expression, row)) for row in ROWS for expression in expressions]


@pytest.mark.parametrize("seed", range(200))
def test_parentheses_and_style_change_nothing(seed: int) -> None:
    one = replace(statement(seed), style=None)
    plain = bound(one)
    if plain is None:
        return
    assert meaning(bind(Query("q", statement_text(one, full=True)), [EVERYTHING])) == meaning(plain)
    for style in range(3):
        styled = bound(replace(one, style=style))
        assert styled is not None
        assert meaning(styled) == meaning(plain)


@pytest.mark.slow
def test_every_operation_is_generated() -> None:
    seen: set[str] = set()
    for seed in range(4000):
        one = bound(statement(seed))
        for expression in (
            [] if one is None else [one.predicate, *(output.expression for output in one.outputs)]
        ):
            seen.update(e.function for e in walk(expression) if isinstance(e, Call))
    assert set(OPERATIONS) - seen == set()
