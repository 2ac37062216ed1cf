"""The rule that drops what the other parts of an AND or OR already decide, one level down.

- `a = 1 OR (a = 1 AND b = 2)` becomes `a = 1`
- `a > 5 AND (a > 3 OR b = 2)` becomes `a > 5`
- `a > 5 AND (a < 3 OR b = 2)` becomes `a > 5 AND b = 2`
- `a > 5 OR ((a < 9 OR a IS NULL) AND b = 2)` becomes `a > 5 OR b = 2`
"""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.model.expression import Expression
from eddyline.model.predicate import And, Condition, Or, Predicate
from eddyline.model.regions import Regions
from eddyline.normalize.domain import domain_of


def absorb(all_: bool, parts: Sequence[Predicate]) -> Sequence[Predicate]:
    """Parts of an AND (`all_`) or OR without repetition, and without what they make superfluous in one another."""
    if all(type(part) is Condition for part in parts):
        return parts
    other = Or if all_ else And
    known = {part.subject: part.regions for part in parts if isinstance(part, Condition)}
    beside = set(parts)
    seen: set[frozenset[Predicate]] = set()
    kept: list[Predicate] = []
    for part in parts:
        if not isinstance(part, other):
            kept.append(part)
            continue
        content = frozenset(part.parts)
        if content in seen or not content.isdisjoint(beside):
            continue
        seen.add(content)
        told = any(type(inner) is Condition and inner.subject in known for inner in part.parts)
        shorter = _shorten(all_, part, known) if told else part
        if shorter is not None:
            kept.append(shorter)
    return parts if len(kept) == len(parts) and all(map(_same, kept, parts)) else kept


def _same(one: Predicate, other: Predicate) -> bool:
    return one is other


def _shorten(all_: bool, part: And | Or, known: dict[Expression, Regions]) -> Predicate | None:
    """A part without what is decided by the conditions beside it; None if it is decided as a whole.

    Beside `a in R` in an AND, `a in Q` may be taken to be true where R lies in Q, and false where they are apart; in an
    OR it matters only where `a in R` is false.
    """
    left: list[Predicate] = []
    for inner in part.parts:
        regions = known.get(inner.subject) if isinstance(inner, Condition) else None
        if regions is None:
            left.append(inner)
            continue
        assert isinstance(inner, Condition), "only conditions have regions"
        domain = domain_of(inner.subject.type)
        common = domain.intersection([regions, inner.regions])
        if common == (regions if all_ else inner.regions):
            return None
        if all_:
            superfluous = common.is_empty
        else:
            superfluous = domain.union([regions, inner.regions]) == domain.everything
        if not superfluous:
            left.append(inner)
    if len(left) == len(part.parts):
        return part
    if len(left) == 1:
        return left[0]
    return type(part)(tuple(left))
