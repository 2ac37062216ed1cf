"""Plans of joins: parameters, what is never true, keys and sides, deep and wide predicates, refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eddyline.errors import QueryError
from eddyline.functions.comparison import conjunction, disjunction, negation
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import EXTERNAL, Call, Column, Expression, Literal, Parameter
from eddyline.model.join import BoundJoin, NormalJoin, Source
from eddyline.model.predicate import ALWAYS
from eddyline.normalize import explain, explain_join, pin, plan_join
from eddyline.normalize.joins.split_join import MAX_BRANCHES
from tests.joined import COLUMNS, bound_join, streams

KNOWN = streams("seq")
TIED = "q.symbol = t.symbol AND t.seq BETWEEN q.seq AND q.seq + 5"
SIZES = Column("q.size", t.INT), Column("t.size", t.INT)
PRICES = Column("q.price", t.DOUBLE), Column("t.price", t.DOUBLE)


def call(function: str, *arguments: Expression, kind: t.DataType = t.BOOLEAN) -> Call:
    return Call(function, arguments, kind)


def tied(*conditions: Expression) -> BoundJoin:
    """A join with a key and a window, and these conditions."""
    join = bound_join(TIED, KNOWN)
    return replace(join, predicate=conjunction((join.predicate, *conditions)))


def normal(where: str, known: dict[str, Stream] = KNOWN) -> NormalJoin:
    return plan_join(bound_join(where, known), known).instantiate()


def refusal(where: str, known: dict[str, Stream] = KNOWN) -> str:
    with pytest.raises(QueryError) as caught:
        normal(where, known)
    return str(caught.value)


# Parameters


def test_one_plan_for_all_constants_of_sides_and_residuals() -> None:
    side = call("gt", SIZES[0], Parameter(3, t.INT, 0))
    scaled = call("mul", PRICES[0], call("cast", Parameter(2, t.INT, 1), kind=t.DOUBLE), kind=t.DOUBLE)
    made = plan_join(tied(side, call("gt", PRICES[1], scaled)), KNOWN)
    assert not made.pinned
    (branch,) = made.instantiate([7, 4]).branches
    assert explain(branch.sides[0]) == "size in [8, +inf)" and branch.sides[1] == ALWAYS
    factor = call("mul", PRICES[0], Literal(4.0, t.DOUBLE), kind=t.DOUBLE)
    assert branch.residual == call("gt", PRICES[1], factor)


def test_values_may_make_it_never_true() -> None:
    side = call("gt", SIZES[0], Parameter(3, t.INT, 0))
    residual = call("gt", PRICES[1], call("add", PRICES[0], Parameter(2.0, t.DOUBLE, 1), kind=t.DOUBLE))
    made = plan_join(tied(side, residual), KNOWN)
    assert len(made.instantiate([3, 1.0]).branches) == 1
    assert made.instantiate([2**31 - 1, 1.0]).branches == ()
    assert made.instantiate([3, None]).branches == ()


def test_parameters_of_keys_and_windows_are_pinned() -> None:
    key = call("eq", call("add", SIZES[0], Parameter(1, t.INT, 0), kind=t.INT), SIZES[1])
    later = call(
        "add", Column("q.seq", t.LONG), call("cast", Parameter(3, t.INT, 1), kind=t.LONG), kind=t.LONG
    )
    window = call("le", Column("t.seq", t.LONG), later)
    pattern = call(
        "like", Column("q.symbol", t.STRING), Parameter("a%", t.STRING, 2), Literal("\\", t.STRING)
    )
    join = tied(key, window, pattern, call("lt", SIZES[0], Parameter(9, t.INT, 3)))
    assert plan_join(join, KNOWN).pinned == {0, 1, 2}
    again = plan_join(pin(join, frozenset({0, 1, 2})), KNOWN)
    assert not again.pinned
    (branch,) = again.instantiate([None, None, None, 4]).branches
    assert (branch.window.low, branch.window.high) == (0, 3) and len(branch.keys) == 2


def test_a_plan_is_that_of_the_plain_constants() -> None:
    conditions = [
        disjunction(
            (call("lt", SIZES[0], Parameter(9, t.INT, 0)), call("lt", SIZES[1], Parameter(8, t.INT, 1)))
        ),
        call("gt", PRICES[1], call("mul", PRICES[0], Parameter(1.5, t.DOUBLE, 2), kind=t.DOUBLE)),
    ]
    join = tied(*conditions)
    assert plan_join(join, KNOWN).instantiate([9, 8, 1.5]).branches == (
        plan_join(pin(join), KNOWN).instantiate().branches
    )


# Parts


def test_keys_come_in_one_order_from_both_ends() -> None:
    """Joins of two streams, written in either direction, keep their tuples by the same keys."""
    one = normal("q.venue = t.symbol AND q.symbol = t.venue AND q.size = t.size AND t.seq = q.seq")
    turned = replace(one, sources=(Source("t", "trades"), Source("q", "quotes")))
    join = replace(
        bound_join("q.size = t.size AND q.venue = t.symbol AND q.symbol = t.venue AND t.seq = q.seq", KNOWN),
        sources=turned.sources,
    )
    other = plan_join(join, KNOWN).instantiate()
    mirrored = [key.expressions[::-1] for key in other.branches[0].keys]
    assert mirrored == [key.expressions for key in one.branches[0].keys]


def test_what_only_spark_computes_is_residual() -> None:
    """Its text names columns as the query does, so that it is no side and no key."""
    sounds = call(EXTERNAL + "soundex", Column("q.symbol", t.STRING), kind=t.STRING)
    conditions = call("eq", sounds, Column("t.symbol", t.STRING)), call("eq", sounds, Literal("A", t.STRING))
    (branch,) = plan_join(tied(*conditions), KNOWN).instantiate().branches
    assert branch.residual == conjunction(conditions)
    assert branch.sides == (ALWAYS, ALWAYS) and len(branch.keys) == 1


def test_equal_branches_are_one() -> None:
    found = normal(f"({TIED} AND q.size = 1) OR ({TIED} AND q.size IN (1))")
    assert len(found.branches) == 1


def test_sides_are_roles() -> None:
    join = normal(TIED + " AND t.size = 5")
    role = join.role(0, 1)
    assert role.stream == "trades" and explain(role) == "size in {5}"


@pytest.mark.parametrize("alternatives", [2, MAX_BRANCHES, MAX_BRANCHES + 1, 500])
def test_a_large_or_is_not_refused(alternatives: int) -> None:
    parts = [
        conjunction(tuple(call("eq", size, Literal(number, t.INT)) for size in SIZES))
        for number in range(alternatives)
    ]
    found = plan_join(tied(disjunction(tuple(parts))), KNOWN).instantiate()
    assert len(found.branches) == (alternatives if alternatives <= MAX_BRANCHES else 1)
    if alternatives > MAX_BRANCHES:
        branch = found.branches[0]
        assert explain(branch.sides[0]) == explain(branch.sides[1]) == f"size in [0, {alternatives})"
        assert branch.residual == disjunction(tuple(parts))


def test_deep_predicates() -> None:
    """Hundreds of levels, without recursion."""
    deep: Expression = call("lt", *PRICES)
    for level in range(400):
        other = call("gt", SIZES[level % 2], Literal(level, t.INT))
        deep = negation(
            conjunction((negation(deep), other)) if level % 2 else disjunction((negation(deep), other))
        )
    assert plan_join(tied(deep), KNOWN).instantiate().branches


def test_long_sums() -> None:
    total: Expression = Column("t.seq", t.LONG)
    for _ in range(480):
        total = call("add", total, Literal(1, t.LONG), kind=t.LONG)
    found = plan_join(tied(call("le", total, Column("q.seq", t.LONG))), KNOWN).instantiate()
    assert found.branches == ()  # it is at most 480 before, and not before


def test_explained() -> None:
    assert explain_join(normal(TIED + " AND q.size < 1 AND q.size > 1"), KNOWN) == "never true"
    assert explain_join(normal(TIED), KNOWN).splitlines()[-1] == "└─ time: t.seq - q.seq from 0 to 5"


# Refusals


def test_streams_have_event_times() -> None:
    known = {**KNOWN, "trades": Stream("trades", COLUMNS)}
    assert refusal(TIED, known) == (
        'stream "trades" has no event time\nhint: Stream(..., event_time="ts", lateness="10 seconds"); in a shell --event-time and --lateness'
    )


@pytest.mark.parametrize(("time", "example"), [("seq", "10"), ("day", '"1 day"'), ("ts", '"10 seconds"')])
def test_streams_say_their_lateness(time: str, example: str) -> None:
    known = {**KNOWN, "quotes": Stream("quotes", COLUMNS, event_time=time)}
    assert refusal(TIED, known) == (
        f'stream "quotes" declares no lateness\nhint: Stream(..., event_time="{time}", lateness={example}); in a shell --lateness'
    )


def test_a_join_window_that_does_not_fit() -> None:
    with pytest.raises(
        QueryError, match="join_window '5 minutes' does not fit an event time that is a whole"
    ):
        plan_join(bound_join("q.symbol = t.symbol", KNOWN), KNOWN, "5 minutes")


def test_an_or_with_too_many_keys() -> None:
    parts = [f"(q.symbol = concat(t.symbol, '{n}') AND q.size = {n} AND t.size = {n})" for n in range(17)]
    assert refusal(
        f"t.seq BETWEEN q.seq AND q.seq + 5 AND ({' OR '.join(parts)}) AND q.price < t.price"
    ).endswith(
        "hint: add q.column = t.column, or an equality that all alternatives of OR have (beyond 16 they are taken as one)"
    )
