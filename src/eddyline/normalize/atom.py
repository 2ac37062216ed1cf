"""What a predicate looks like between its text and its regions: AND and OR over atoms, each asked in one of four modes.

An atom compares one subject with constants, which may still be parameters of a template, so that everything up to here
is done once for all queries of a shape:

    cast(int_column as double) + 1.0 > ?0       subject    int_column
                                                steps      cast to double, add 1.0
                                                operation  gt, constant ?0, mode IS_TRUE
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from eddyline.model.expression import Expression
from eddyline.model.regions import Regions
from eddyline.model.types import DataType


class Mode(Enum):
    """Which outcome of three-valued logic is asked for; each of the four questions has a plain yes or no."""

    IS_TRUE = "is true"
    IS_FALSE = "is false"
    IS_NOT_TRUE = "is not true"
    IS_NOT_FALSE = "is not false"


# NOT x is true where x is false, and so on.
NEGATED = {
    Mode.IS_TRUE: Mode.IS_FALSE,
    Mode.IS_FALSE: Mode.IS_TRUE,
    Mode.IS_NOT_TRUE: Mode.IS_NOT_FALSE,
    Mode.IS_NOT_FALSE: Mode.IS_NOT_TRUE,
}

COMPARISONS = frozenset({"eq", "lt", "le", "gt", "ge", "null_safe_eq"})


@dataclass(frozen=True, slots=True)
class InvertibleStep:
    """One operation between the subject and the comparison, with the way back through it.

    `pull` takes regions of the result, and the value of `constant` if the operation has one, to regions of the operand.
    """

    function: str
    operand: DataType
    result: DataType
    pull: Callable[[Regions, object], Regions]
    constant: Expression | None = None


@dataclass(frozen=True, slots=True)
class Atom:
    """A subject, the steps from it to the compared value (innermost first), and what is asked about that value.

    `operation` is a comparison, `in`, `is_null`, `isnan`, or `truth` where the value itself is the boolean.
    """

    subject: Expression
    operation: str
    mode: Mode
    constants: tuple[Expression, ...] = ()
    steps: tuple[InvertibleStep, ...] = ()

    @property
    def compared_type(self) -> DataType:
        """The type in which the comparison takes place."""
        return self.steps[-1].result if self.steps else self.subject.type


@dataclass(frozen=True, slots=True)
class Junction:
    """AND (`all`) or OR over parts; AND of nothing is true, OR of nothing false."""

    all: bool
    parts: tuple[Skeleton, ...]


Skeleton = Atom | Junction

TRUE = Junction(True, ())
FALSE = Junction(False, ())


def atoms_of(skeleton: Skeleton) -> list[Atom]:
    """All atoms, from left to right."""
    pending, found = [skeleton], []
    while pending:
        current = pending.pop()
        if isinstance(current, Atom):
            found.append(current)
        else:
            pending.extend(reversed(current.parts))
    return found


def map_atoms(skeleton: Skeleton, change: Callable[[Atom], Atom]) -> Skeleton:
    """The skeleton with every atom replaced by what `change` makes of it."""
    pending: list[tuple[Skeleton, bool]] = [(skeleton, False)]
    built: list[Skeleton] = []
    while pending:
        current, ready = pending.pop()
        if isinstance(current, Atom):
            built.append(change(current))
        elif ready:
            start = len(built) - len(current.parts)
            built[start:] = [Junction(current.all, tuple(built[start:]))]
        else:
            pending.append((current, True))
            pending.extend([(part, False) for part in reversed(current.parts)])
    return built[0]
