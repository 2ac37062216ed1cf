"""A disagreement about one random statement, and what a judgement of many comes to."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from eddyline.model.expression import Expression
from eddyline.reference.regex.search import TooManySteps
from eddyline.testing.text import statement_text
from eddyline.testing.tree import Statement

UNJUDGED: Final = object()  # for a row whose regular expression the reference does not try to the end


@dataclass(frozen=True)
class Finding:
    """One disagreement; `row` is the first row on which values differ."""

    judgement: str
    statement: Statement
    expected: object
    actual: object
    row: int | None = None
    detail: str = ""
    failed: tuple[Expression, ...] = ()  # what gave NULL here because it failed

    def __str__(self) -> str:
        where = "" if self.row is None else f" in row {self.row}"
        return (
            f"[{self.judgement}] {statement_text(self.statement)}\n"
            f"    expected: {self.expected!r}{where}   here: {self.actual!r}   {self.detail}"
        )


@dataclass
class Report:
    """What came out: findings, and how many statements were judged, refused, or set aside as failing in Spark."""

    findings: list[Finding] = field(default_factory=list)
    judged: int = 0
    failed: int = 0
    refused: int = 0
    excused: int = 0

    def __str__(self) -> str:
        shortest = sorted(self.findings, key=lambda finding: finding.statement.size)
        head = f"{len(self.findings)} disagreements in {self.judged} statements; the shortest:\n"
        return head + "\n".join(str(finding) for finding in shortest[:8])


def value_of(evaluate: Callable[[], object]) -> object:
    """What `evaluate` gives; a crash, which is always wrong, as text."""
    try:
        return evaluate()
    except TooManySteps:
        return UNJUDGED
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def same(one: object, other: object) -> bool:
    """Whether two values in the form of `model.types` are the same: NaN is NaN, but -0.0 is not 0.0."""
    return _key(one) == _key(other)


def _key(value: object) -> object:
    """What is compared: floats by their bits (all NaN alike), a number never as a truth value."""
    if isinstance(value, float):
        return "nan" if value != value else struct.pack("d", value)
    if isinstance(value, Decimal):
        return ("decimal", value)
    if isinstance(value, list | tuple):
        return [_key(item) for item in value]
    return (type(value), value)
