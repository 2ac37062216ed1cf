"""The rule that leaves only AND and OR: every part of the predicate is asked in one of four modes.

`NOT x` is true where x is false, and `(x) IS NOT TRUE` holds where x is false or NULL, so the question changes on the
way down and NOT is gone; AND becomes OR where the question is about falsehood. This is exact in three-valued logic.

    is true       AND: all are true            OR: any is true
    is false      AND: any is false            OR: all are false
    is not true   AND: any is not true         OR: all are not true
    is not false  AND: all are not false       OR: any is not false
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from eddyline.model.expression import Call, Expression, Literal
from eddyline.model.types import BOOLEAN
from eddyline.normalize.atom import COMPARISONS, FALSE, NEGATED, TRUE, Atom, Junction, Mode, Skeleton
from eddyline.normalize.domain import Numbered, Text, domain_of
from eddyline.normalize.rewrite import is_fixed

_T, _F = Mode.IS_TRUE, Mode.IS_FALSE
_NT, _NF = Mode.IS_NOT_TRUE, Mode.IS_NOT_FALSE

# IS NULL, COALESCE, IF and CASE of booleans ask two questions about one part. They are taken apart while that part has
# no more connectives than this, and are a boolean subject beyond: nested, each would double the tree.
CHEAP: Final = 6


class Ask(NamedTuple):
    """A question about an expression."""

    expression: Expression
    mode: Mode


class AskAll(NamedTuple):
    """Questions of which all must be answered with yes."""

    parts: tuple[Question, ...]


class AskAny(NamedTuple):
    """Questions of which one must be answered with yes."""

    parts: tuple[Question, ...]


class _EndOfJunction(NamedTuple):
    """The last so many skeletons are the parts of one junction."""

    all: bool
    parts: int


Question = Ask | AskAll | AskAny


def push_down_not(expression: Expression) -> Skeleton:
    """The skeleton of "the expression is true".

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.types import INT
    >>> a = Call("lt", (Column("a", INT), Literal(3, INT)), BOOLEAN)
    >>> atom = push_down_not(Call("not", (a,), BOOLEAN))
    >>> atom.operation, atom.mode.value
    ('lt', 'is false')
    """
    pending: list[Question | _EndOfJunction] = [Ask(expression, _T)]
    built: list[Skeleton] = []
    while pending:
        item = pending.pop()
        if isinstance(item, Ask):
            answer = _take_apart(item.expression, item.mode)
            if isinstance(answer, Atom | Junction):
                built.append(answer)
            else:
                pending.append(answer)
        elif isinstance(item, _EndOfJunction):
            start = len(built) - item.parts
            built[start:] = [Junction(item.all, tuple(built[start:]))]
        else:
            pending.append(_EndOfJunction(isinstance(item, AskAll), len(item.parts)))
            pending.extend(reversed(item.parts))
    return built[0]


def _take_apart(expression: Expression, mode: Mode) -> Skeleton | Question:
    """One question as simpler ones, or as an atom."""
    if type(expression) is Literal:
        holds = _T if expression.value is True else _F if expression.value is False else None
        return TRUE if mode in _ANSWERS[holds] else FALSE
    if isinstance(expression, Call):
        take = _TAKE.get(expression.function)
        taken = None if take is None else take(expression, mode)
        return _atom(expression, mode) if taken is None else taken
    return Atom(expression, "truth", mode)


_ANSWERS: Final = {_T: (_T, _NF), _F: (_F, _NT), None: (_NT, _NF)}


def _atom(call: Call, mode: Mode) -> Atom:
    """A comparison with constants, or else the boolean expression as its own subject."""
    subject, *others = call.arguments
    if call.function in ("is_null", "isnan"):
        return Atom(subject, call.function, mode)
    if call.function in COMPARISONS or call.function == "in":
        ordered = isinstance(domain_of(subject.type), Numbered | Text)
        if ordered and all(is_fixed(other) for other in others) and not is_fixed(subject):
            return Atom(subject, call.function, mode, tuple(others))
    return Atom(call, "truth", mode)


def _and(call: Call, mode: Mode) -> Question:
    parts = tuple([Ask(part, mode) for part in call.arguments])
    return AskAll(parts) if mode in (_T, _NF) else AskAny(parts)


def _or(call: Call, mode: Mode) -> Question:
    parts = tuple([Ask(part, mode) for part in call.arguments])
    return AskAny(parts) if mode in (_T, _NF) else AskAll(parts)


def _not(call: Call, mode: Mode) -> Question:
    return Ask(call.arguments[0], NEGATED[mode])


def _eq(call: Call, mode: Mode) -> Question | None:
    """`x = true` is x itself, `x = false` its opposite."""
    part, other = call.arguments
    if type(other) is not Literal or other.type != BOOLEAN or other.value is None:
        return None
    return Ask(part, mode if other.value else NEGATED[mode])


def _null_safe_eq(call: Call, mode: Mode) -> Question | None:
    """`x <=> true` is `x IS TRUE`: never NULL, so two of the modes fall together."""
    part, other = call.arguments
    if type(other) is not Literal or other.type != BOOLEAN:
        return None
    if other.value is None:
        return _is_null(call, mode)
    holds = mode in (_T, _NF)
    if other.value:
        return Ask(part, _T if holds else _NT)
    return Ask(part, _F if holds else _NF)


def _is_null(call: Call, mode: Mode) -> Question | None:
    part = call.arguments[0]
    if not _logical(part) or not _cheap(part):
        return None
    if mode in (_T, _NF):
        return AskAll((Ask(part, _NT), Ask(part, _NF)))
    return AskAny((Ask(part, _T), Ask(part, _F)))


def _coalesce(call: Call, mode: Mode) -> Question | None:
    """The first part decides unless it is NULL; then the rest does."""
    part, *others = call.arguments
    if call.type != BOOLEAN or not _cheap(part):
        return None
    rest = others[0] if len(others) == 1 else Call("coalesce", tuple(others), BOOLEAN)
    if mode in (_T, _F):
        undecided = _NF if mode is _T else _NT
        return AskAny((Ask(part, mode), AskAll((Ask(part, undecided), Ask(rest, mode)))))
    decided = _F if mode is _NT else _T
    return AskAll((Ask(part, mode), AskAny((Ask(part, decided), Ask(rest, mode)))))


def _if(call: Call, mode: Mode) -> Question | None:
    condition, then, otherwise = call.arguments
    return _either(condition, then, otherwise, mode) if call.type == BOOLEAN else None


def _case(call: Call, mode: Mode) -> Question | None:
    if call.type != BOOLEAN:
        return None
    condition, then, *rest = call.arguments
    otherwise: Expression = Literal(None, BOOLEAN)
    if len(rest) == 1:
        otherwise = rest[0]
    elif rest:
        otherwise = Call("case", tuple(rest), BOOLEAN)
    return _either(condition, then, otherwise, mode)


def _either(condition: Expression, then: Expression, otherwise: Expression, mode: Mode) -> Question | None:
    if not _cheap(condition):
        return None
    first = AskAll((Ask(condition, _T), Ask(then, mode)))
    return AskAny((first, AskAll((Ask(condition, _NT), Ask(otherwise, mode)))))


def _logical(expression: Expression) -> bool:
    """Whether taking the expression apart says more than the expression as a subject."""
    if not isinstance(expression, Call) or expression.type != BOOLEAN:
        return False
    return expression.function in _TAKE or _atom(expression, _T).operation != "truth"


def _cheap(expression: Expression) -> bool:
    pending, count = [expression], 0
    while pending and count <= CHEAP:
        current = pending.pop()
        if isinstance(current, Call) and current.function in _TAKE:
            inner = [argument for argument in current.arguments if argument.type == BOOLEAN]
            count += bool(inner)
            pending += inner
    return count <= CHEAP


_TAKE: Final[dict[str, Callable[[Call, Mode], Question | None]]] = {
    "and": _and,
    "or": _or,
    "not": _not,
    "eq": _eq,
    "null_safe_eq": _null_safe_eq,
    "is_null": _is_null,
    "coalesce": _coalesce,
    "if": _if,
    "case": _case,
}
