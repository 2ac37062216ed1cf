"""From a bound query to its normal form: the order of the rules, and what of it is done once for a whole template.

predicate --expression rules--> predicate --push_down_not--> skeleton --atom rules--> Plan
                                                                                       |  values of the parameters
                                                    NormalQuery <--predicate rules-- conditions
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from eddyline.model.expression import Column, Expression, Parameter, parameters_of
from eddyline.model.join import BoundJoin
from eddyline.model.predicate import And, Or, Predicate
from eddyline.model.query import BoundQuery, NormalQuery, Output
from eddyline.normalize.atom import Atom, Mode, Skeleton, atoms_of, map_atoms
from eddyline.normalize.constants import substitute
from eddyline.normalize.plan import Join, Plan, compile_skeleton
from eddyline.normalize.rewrite import calls_of
from eddyline.normalize.rules.absorb import absorb
from eddyline.normalize.rules.flatten import flatten
from eddyline.normalize.rules.fold_constants import fold_constants
from eddyline.normalize.rules.isolate_arithmetic import isolate_arithmetic
from eddyline.normalize.rules.literal_like import literal_like
from eddyline.normalize.rules.merge_subject import merge_subject
from eddyline.normalize.rules.orient_comparison import orient_comparison
from eddyline.normalize.rules.push_down_not import push_down_not
from eddyline.normalize.rules.split_in import split_in
from eddyline.normalize.rules.unwrap_casts import unwrap_casts

Rule = Callable[..., object]
Bound = TypeVar("Bound", BoundQuery, BoundJoin)

# Each may be left out without changing a match; then more and larger subjects remain.
RULES: Final[tuple[Rule, ...]] = (
    # on expressions
    fold_constants,
    literal_like,  # after fold_constants: ILIKE is LIKE of lower(pattern)
    split_in,
    orient_comparison,  # after split_in, which makes comparisons
    # from an expression to AND/OR over atoms
    push_down_not,
    # on atoms, in turn until nothing changes: casts and arithmetic alternate
    unwrap_casts,
    isolate_arithmetic,
    # on the parts of one AND or OR, from the leaves up
    flatten,
    merge_subject,  # after flatten: it looks at one AND or OR at a time
    absorb,  # after merge_subject: it wants one condition a subject
)
_ON_EXPRESSIONS: Final = (fold_constants, literal_like, split_in, orient_comparison)
_ON_ATOMS: Final = (unwrap_casts, isolate_arithmetic)
_ON_PARTS: Final = (flatten, merge_subject, absorb)


def without(*names: str) -> tuple[Rule, ...]:
    """RULES less those of the given names.

    >>> len(RULES) - len(without("absorb", "flatten"))
    2
    """
    unknown = set(names) - {rule.__name__ for rule in RULES}
    assert not unknown, f"there is no rule {', '.join(sorted(unknown))}"
    return tuple([rule for rule in RULES if rule.__name__ not in names])


def normalize(bound: BoundQuery, *, rules: tuple[Rule, ...] = RULES) -> NormalQuery:
    """The query with its predicate in normal form; parameters count as the values at hand.

    >>> from eddyline.model.expression import Call, Column, Literal
    >>> from eddyline.model.types import BOOLEAN, INT
    >>> less = Call("lt", (Column("a", INT), Literal(3, INT)), BOOLEAN)
    >>> normal = normalize(BoundQuery("q", "", "s", Call("not", (less,), BOOLEAN), ()))
    >>> print(normal.predicate.subject, normal.predicate.regions)
    Column('a', int) [3, +inf)
    """
    bound = pin(bound)
    predicate = plan(bound, rules=rules).instantiate(())
    return NormalQuery(bound.id, bound.sql, bound.stream, predicate, bound.outputs, bound.time_zone)


def pin(bound: Bound, indexes: frozenset[int] | None = None) -> Bound:
    """The query or join with parameters (all, or those of the given indexes) made plain constants of the values at hand."""
    outputs: list[Expression] = [output.expression for output in bound.outputs]
    at_hand = _values_at_hand([bound.predicate, *outputs])
    if not at_hand or (indexes is not None and not indexes & at_hand.keys()):
        return bound
    values = [at_hand.get(index) for index in range(max(at_hand) + 1)]
    plain = [substitute(expression, values, indexes) for expression in outputs]
    return replace(
        bound,
        predicate=substitute(bound.predicate, values, indexes),
        outputs=tuple([Output(o.name, e) for o, e in zip(bound.outputs, plain, strict=True)]),
    )


def _values_at_hand(expressions: list[Expression]) -> dict[int, object]:
    leaves = [e for e in expressions if type(e) is Parameter]
    for call in [call for expression in expressions for call in calls_of(expression)]:
        leaves += [argument for argument in call.arguments if type(argument) is Parameter]
    return {parameter.index: parameter.value for parameter in leaves}


def plan(bound: BoundQuery, *, rules: tuple[Rule, ...] = RULES) -> Plan:
    """Everything about a query's normal form that its parameters' values do not decide."""
    skeleton = skeleton_of(bound, rules)
    join = _joiner(rules)
    subjects = [atom.subject for atom in atoms_of(skeleton) if type(atom.subject) is not Column]
    pinned: frozenset[int] = frozenset().union(*[parameters_of(subject) for subject in subjects])
    return Plan(pinned, [] if pinned else compile_skeleton(skeleton, join, bound.time_zone), join)


def skeleton_of(bound: BoundQuery, rules: tuple[Rule, ...] = RULES) -> Skeleton:
    """The query's predicate as AND/OR over atoms, every atom as close to an attribute as the rules bring it."""
    expression, time_zone = bound.predicate, bound.time_zone
    for on_expression in _ON_EXPRESSIONS:
        if on_expression in rules:
            expression = on_expression(expression, time_zone)
    if push_down_not not in rules:
        return Atom(expression, "truth", Mode.IS_TRUE)
    on_atoms = [rule for rule in _ON_ATOMS if rule in rules]

    def settle(atom: Atom) -> Atom:
        before = None
        while before is not atom:
            before = atom
            for rule in on_atoms:
                atom = rule(atom, time_zone)
        return atom

    return map_atoms(push_down_not(expression), settle)


def combine(all_: bool, parts: Sequence[Predicate]) -> Predicate:
    """AND (`all_`) or OR of predicates in normal form, in normal form itself."""
    return _joiner(RULES)(all_, parts)


def _joiner(rules: tuple[Rule, ...]) -> Join:
    """How the parts of one AND or OR become a predicate, the parts being in normal form already."""
    on_parts = [rule for rule in _ON_PARTS if rule in rules]

    def join(all_: bool, parts: Sequence[Predicate]) -> Predicate:
        current, before = parts, None
        while before is not current and len(current) > 1:
            before = current
            for rule in on_parts:
                current = rule(all_, current)
        if len(current) == 1:
            return current[0]
        return And(tuple(current)) if all_ else Or(tuple(current))

    return join
