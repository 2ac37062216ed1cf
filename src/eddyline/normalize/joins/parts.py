"""What the conditions of a join are to it: one source's, a key, a time bound, or something else that needs both sources.

    q.price < 10                                     SideCondition     of source 0
    q.symbol = t.symbol                              KeyCondition
    t.ts <= q.ts + INTERVAL 5 SECONDS                TimeBound         high = 5,000,000
    t.price > q.price * 1.01                         OtherCondition

Everything is over the virtual source.
"""

from __future__ import annotations

from dataclasses import dataclass

from eddyline.model.expression import Column, Expression, is_external, walk
from eddyline.model.join import Source


@dataclass(frozen=True, slots=True)
class SideCondition:
    """A condition that reads one source, or none: then it belongs to source 0."""

    source: int
    expression: Expression


@dataclass(frozen=True, slots=True)
class KeyCondition:
    """Expressions of source 0 and of source 1 that are equal; NULL equals NULL only if `null_safe`."""

    expressions: tuple[Expression, Expression]
    null_safe: bool


@dataclass(frozen=True, slots=True)
class TimeBound:
    """How far the event time of source 1 may lie after that of source 0: between `low` and `high`, None without a limit.

    condition    what remains to be checked, because the limits follow from it but do not say all of it
    key          the event times as a key, where they are equal or a fixed length apart
    has_months   it was left without limits because months differ in length
    """

    low: int | None
    high: int | None
    condition: Expression | None = None
    key: KeyCondition | None = None
    has_months: bool = False
    parameters: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class OtherCondition:
    """A condition that needs both sources, and is checked pair by pair."""

    expression: Expression


Part = SideCondition | KeyCondition | TimeBound | OtherCondition
Parts = tuple[Part, ...]  # all of which have to hold


def sources_of(expression: Expression, sources: tuple[Source, ...]) -> frozenset[int]:
    """The numbers of the sources whose columns an expression reads."""
    numbers = {source.alias: number for number, source in enumerate(sources)}
    aliases = {node.name.partition(".")[0] for node in walk(expression) if isinstance(node, Column)}
    return frozenset([numbers[alias] for alias in aliases])


def needs_spark(expression: Expression) -> bool:
    """Whether only Spark can compute a part of it. Such a part names columns in words of its own, as the query does."""
    return any(is_external(node) for node in walk(expression))
