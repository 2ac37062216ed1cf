"""Equal parts of many predicates as the same objects, so that a set of queries is stored and compared by identity."""

from __future__ import annotations

from eddyline.model.expression import Expression
from eddyline.model.predicate import And, Condition, Or, Predicate
from eddyline.model.regions import Regions


class Sharing:
    """The subjects, region sets, conditions and junctions seen so far.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.types import INT
    >>> sharing = Sharing()
    >>> one, other = (Condition(Column("a", INT), Regions.points([1])) for _ in range(2))
    >>> one is other, sharing.predicate(one) is sharing.predicate(other)
    (False, True)
    """

    def __init__(self) -> None:
        self._expressions: dict[Expression, Expression] = {}
        self._regions: dict[Regions, Regions] = {}
        self._predicates: dict[Predicate, Predicate] = {}

    def expression(self, expression: Expression) -> Expression:
        """The first expression that was equal."""
        return self._expressions.setdefault(expression, expression)

    def regions(self, regions: Regions) -> Regions:
        """The first set that was equal."""
        return self._regions.setdefault(regions, regions)

    def predicate(self, predicate: Predicate) -> Predicate:
        """The first predicate that was equal; its parts are shared likewise."""
        pending: list[tuple[Predicate, bool]] = [(predicate, False)]
        built: list[Predicate] = []
        while pending:
            current, ready = pending.pop()
            if isinstance(current, Condition):
                built.append(self._condition(current))
            elif ready:
                start = len(built) - len(current.parts)
                built[start:] = [self._junction(current, tuple(built[start:]))]
            else:
                pending.append((current, True))
                pending.extend([(part, False) for part in reversed(current.parts)])
        return built[0]

    def _condition(self, condition: Condition) -> Condition:
        known = self._predicates.get(condition)
        if known is not None:
            assert isinstance(known, Condition), "only a condition equals a condition"
            return known
        subject, regions = self.expression(condition.subject), self.regions(condition.regions)
        if subject is not condition.subject or regions is not condition.regions:
            condition = Condition(subject, regions)
        self._predicates[condition] = condition
        return condition

    def _junction(self, junction: And | Or, parts: tuple[Predicate, ...]) -> Predicate:
        same = all(new is old for new, old in zip(parts, junction.parts, strict=True))
        shared = junction if same else type(junction)(parts)
        return self._predicates.setdefault(shared, shared)

    def __len__(self) -> int:
        return len(self._predicates)
