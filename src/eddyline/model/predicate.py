"""Predicates in normal form: AND and OR over conditions, without NOT, two-valued.

    Or
    ├── Condition  price  in  (-inf, 10.0)
    └── And
        ├── Condition  symbol               in  {'A'} or {'B'}
        └── Condition  lt(low, high)        in  {True}

Each condition says "the subject's value lies in these regions", which is simply true or false for every tuple: NULL is
a region like any other. AND() is always true, OR() never.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from eddyline.model.expression import Expression
from eddyline.model.regions import Regions


@dataclass(frozen=True, slots=True)
class Condition:
    """The subject's value lies in the regions; neither empty nor everything (those are NEVER and ALWAYS)."""

    subject: Expression
    regions: Regions
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.subject, self.regions)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle without the hash: hashes of strings differ between processes."""
        return Condition, (self.subject, self.regions)


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts; no part is an And, at most one condition a subject."""

    parts: tuple[Predicate, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(("and", self.parts)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(other) is And and self._hash == other._hash and self.parts == other.parts
        )

    def __reduce__(self) -> tuple[object, ...]:
        return And, (self.parts,)


@dataclass(frozen=True, slots=True)
class Or:
    """Any of the parts; no part is an Or, at most one condition a subject."""

    parts: tuple[Predicate, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(("or", self.parts)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(other) is Or and self._hash == other._hash and self.parts == other.parts
        )

    def __reduce__(self) -> tuple[object, ...]:
        return Or, (self.parts,)


Predicate = Condition | And | Or

ALWAYS: Final = And(())
NEVER: Final = Or(())


def conditions_of(predicate: Predicate) -> Iterator[Condition]:
    """All conditions of a predicate, from left to right, repeated where they are."""
    pending: list[Predicate] = [predicate]
    while pending:
        current = pending.pop()
        if isinstance(current, Condition):
            yield current
        else:
            pending.extend(reversed(current.parts))


def conjunction(predicate: Predicate) -> tuple[Condition, ...] | None:
    """The conditions of a plain AND, none of them for what is always true; None for anything else."""
    if isinstance(predicate, Condition):
        return (predicate,)
    if not isinstance(predicate, And):
        return None
    conditions = tuple([part for part in predicate.parts if isinstance(part, Condition)])
    return conditions if len(conditions) == len(predicate.parts) else None
