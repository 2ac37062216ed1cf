"""Plans: which parameters are pinned, deep and wide predicates."""

from __future__ import annotations

import random

import pytest

from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, Literal, Parameter, walk
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Or, conditions_of
from eddyline.model.query import BoundQuery, Output
from eddyline.normalize import RULES, explain, normalize, pin, plan, trace, without
from eddyline.normalize.atom import atoms_of
from eddyline.normalize.pipeline import skeleton_of

A, B, X, NAME = Column("a", t.INT), Column("b", t.INT), Column("x", t.DOUBLE), Column("name", t.STRING)


def call(function: str, *arguments: Expression, kind: t.DataType = t.BOOLEAN) -> Call:
    return Call(function, arguments, kind)


def number(value: int) -> Literal:
    return Literal(value, t.INT)


def query(predicate: Expression) -> BoundQuery:
    return BoundQuery("q", "", "s", predicate, ())


def test_one_plan_for_all_constants() -> None:
    price = call("gt", X, call("cast", Parameter(1, t.INT, 1), kind=t.DOUBLE))
    made = plan(query(call("and", call("eq", NAME, Parameter("A", t.STRING, 0)), price)))
    assert not made.pinned
    assert explain(made.instantiate(["B", 7])) == "and\n├─ name in {'B'}\n└─ x in (7.0, +inf) or NaN"
    assert made.instantiate([None, 7]) == NEVER
    assert explain(made.instantiate(["", 0])) == "and\n├─ name in {''}\n└─ x in (0.0, +inf) or NaN"


def test_values_may_collapse_the_tree() -> None:
    tiny = Column("tiny", t.BYTE)
    either = call("or", call("le", tiny, Parameter(0, t.BYTE, 0)), call("is_null", tiny))
    made = plan(query(call("and", either, call("gt", A, Parameter(0, t.INT, 1)))))
    assert explain(made.instantiate([5, 3])) == "and\n├─ tiny in (-inf, 6) or NULL\n└─ a in [4, +inf)"
    assert explain(made.instantiate([127, 3])) == "a in [4, +inf)"
    assert explain(made.instantiate([5, 2**31 - 1])) == "never true"


@pytest.mark.parametrize(
    ("predicate", "pinned"),
    [
        (call("gt", A, Parameter(1, t.INT, 0)), set()),
        (call("gt", call("mul", A, Parameter(2, t.INT, 0), kind=t.INT), Parameter(1, t.INT, 1)), set()),
        (call("gt", A, call("add", Parameter(1, t.INT, 0), Parameter(2, t.INT, 1), kind=t.INT)), set()),
        (call("in", A, Parameter(1, t.INT, 0), Parameter(2, t.INT, 1)), set()),
        (call("like", NAME, Parameter("a%", t.STRING, 0), Literal("\\", t.STRING)), {0}),
        (call("gt", call("mod", A, Parameter(2, t.INT, 0), kind=t.INT), Parameter(1, t.INT, 1)), {0}),
        (call("lt", Parameter(1, t.INT, 0), Parameter(2, t.INT, 1)), {0, 1}),
        (call("and", Parameter(True, t.BOOLEAN, 0), call("gt", A, Parameter(1, t.INT, 1))), {0}),
        (call("if", call("gt", Parameter(1, t.INT, 0), number(0)), call("gt", A, number(1)), call("gt", B, number(1))), {0}),
    ],
    ids=lambda value: None,
)  # fmt: skip
def test_pinned(predicate: Call, pinned: set[int]) -> None:
    made = plan(query(predicate))
    assert made.pinned == pinned
    again = plan(pin(query(predicate), made.pinned))
    assert not again.pinned


def test_pinning_makes_plain_constants_in_outputs_too() -> None:
    parameter = Parameter(3, t.INT, 0)
    bound = BoundQuery("q", "", "s", call("gt", A, parameter), (Output("c", parameter),))
    plain = pin(bound)
    assert plain.outputs == (Output("c", number(3)),)
    assert plain.predicate == call("gt", A, number(3))
    assert pin(bound, frozenset({7})) is bound


def test_a_wide_or_of_one_subject_is_one_condition() -> None:
    predicate = call("or", *[call("eq", A, number(2 * n)) for n in range(3000)])
    normal = normalize(query(predicate)).predicate
    assert isinstance(normal, Condition)
    assert len(normal.regions.cuts) == 6000


def test_hundreds_of_levels() -> None:
    predicate: Expression = call("lt", A, number(0))
    for level in range(500):
        inner = call("not", predicate) if level % 3 == 0 else predicate
        column = Column(f"c{level % 7}", t.INT)
        predicate = call("or" if level % 2 else "and", inner, call("lt", column, number(level)))
    normal = normalize(query(predicate)).predicate
    assert isinstance(normal, And | Or)
    assert len(explain(normal).splitlines()) > 100
    assert explain(normal) == explain(normalize(query(predicate)).predicate)
    for rule in RULES:
        normalize(query(predicate), rules=without(rule.__name__))


def test_nothing_is_expanded_beyond_its_size() -> None:
    predicate: Expression = call("lt", A, number(0))
    for level in range(40):
        predicate = call(
            "is_null", call("and", predicate, call("lt", Column(f"c{level}", t.INT), number(level)))
        )
    assert len(list(conditions_of(normalize(query(predicate)).predicate))) < 300


def test_a_tree_of_300_atoms_keeps_its_size() -> None:
    source = random.Random(7)

    def tree(atoms: int) -> Expression:
        if atoms == 1:
            return call(
                source.choice(("lt", "gt", "eq")),
                Column(f"c{source.randrange(40)}", t.INT),
                number(source.randrange(9)),
            )
        parts = source.randint(2, 4)
        return call(source.choice(("and", "or")), *[tree(max(1, atoms // parts)) for _ in range(parts)])  # fmt: skip

    predicate = tree(300)
    atoms = sum(isinstance(node, Column) for node in walk(predicate))
    assert len(list(conditions_of(normalize(query(predicate)).predicate))) <= atoms


def test_subjects_of_a_chain_of_steps() -> None:
    wide = call("cast", call("add", A, number(1), kind=t.INT), kind=t.DOUBLE)
    predicate = call("gt", call("mul", wide, Literal(2.0, t.DOUBLE), kind=t.DOUBLE), Literal(5.0, t.DOUBLE))
    (atom,) = atoms_of(skeleton_of(query(predicate)))
    assert atom.subject == A
    assert [step.function for step in atom.steps] == ["add", "cast", "mul"]


def test_trace_names_the_rules_that_changed_something() -> None:
    predicate = call(
        "and",
        call("not", call("lt", A, number(3))),
        call("gt", call("cast", A, kind=t.LONG), Literal(4, t.LONG)),
    )
    changes = trace(query(predicate))  # fmt: skip
    assert [name for name, _, _ in changes] == ["push_down_not", "unwrap_casts", "merge_subject"]
    assert changes[-1][2] == "a in [5, +inf)"


def test_functions_that_only_spark_has_are_never_computed_here() -> None:
    foreign = call("spark:soundex", Literal("a", t.STRING), kind=t.STRING)
    assert explain(normalize(query(call("gt", NAME, foreign)))) == "lt(spark:soundex('a'), name) in {true}"
    assert explain(normalize(query(call("in", NAME, foreign, Literal("b", t.STRING))))) == (
        "or\n├─ name in {'b'}\n└─ eq(name, spark:soundex('a')) in {true}"
    )


def test_no_predicate_is_always_true() -> None:
    assert normalize(query(Literal(True, t.BOOLEAN))).predicate == ALWAYS
    assert explain(normalize(query(Literal(None, t.BOOLEAN)))) == "never true"
    assert explain(ALWAYS, render=str) == "always true"
