"""A query's normal form as a program that wants only the values of the parameters.

The skeleton in postfix order: conditions are made, and an AND or OR takes as many as it has parts. What has no
parameter in it is worked out when the plan is made; an AND of conditions on different subjects, the usual query, is a
single instruction that needs none of the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from eddyline.model.predicate import And, Condition, Or, Predicate
from eddyline.normalize.atom import Atom, Skeleton
from eddyline.normalize.conditions import Maker, condition_maker, is_static
from eddyline.normalize.constants import Values

Join = Callable[[bool, Sequence[Predicate]], Predicate]

# Codes of instructions, and what comes with them.
KNOWN: Final = 0  # a predicate
MAKE: Final = 1  # a maker of a condition, and its subject
JOIN: Final = 2  # AND?, number of parts
PLAIN: Final = 3  # AND?, makers of conditions on different subjects

Instruction = tuple[int, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """The normal form of all queries of one template.

    `pinned` are the parameters whose value has to be known to plan at all, because they stand inside a subject or
    decide by themselves; while there are any, the plan holds for no query: make them plain constants (`pin`) and plan
    again.
    """

    pinned: frozenset[int]
    program: Sequence[Instruction]
    join: Join

    def instantiate(self, values: Values = ()) -> Predicate:
        """The predicate for the parameters' values: `values[i]` is that of parameter i, in its Python form."""
        assert not self.pinned, "a plan with pinned parameters holds for no values"
        stack: list[Predicate] = []
        for code, content in self.program:
            if code == PLAIN:
                stack.append(self._plain(content[0], content[1], values))
            elif code == MAKE:
                stack.append(content[0](values))
            elif code == KNOWN:
                stack.append(content)
            else:
                start = len(stack) - content[1]
                stack[start:] = [self.join(content[0], stack[start:])]
        return stack[0]

    def _plain(self, all_: bool, makers: Sequence[Maker], values: Values) -> Predicate:
        parts = tuple([make(values) for make in makers])
        for part in parts:
            if part.__class__ is not Condition:
                return self.join(all_, parts)
        return And(parts) if all_ else Or(parts)


def compile_skeleton(skeleton: Skeleton, join: Join, time_zone: str) -> list[Instruction]:
    """The program that makes the skeleton's predicate."""
    program: list[Instruction] = []
    pending: list[tuple[Skeleton, bool]] = [(skeleton, False)]
    while pending:
        current, ready = pending.pop()
        if isinstance(current, Atom):
            maker = condition_maker(current, time_zone)
            program.append((KNOWN, maker(())) if is_static(current) else (MAKE, (maker, current.subject)))
        elif ready:
            _close(program, current.all, len(current.parts), join)
        else:
            pending.append((current, True))
            pending.extend([(part, False) for part in reversed(current.parts)])
    return program


def _close(program: list[Instruction], all_: bool, count: int, join: Join) -> None:
    """End a junction. Its parts are the last `count` instructions if these are all KNOWN or MAKE: no part ends so else."""
    start = len(program) - count
    parts = program[start:]
    if start >= 0 and all(code == KNOWN for code, _ in parts):
        program[start:] = [(KNOWN, join(all_, [content for _, content in parts]))]
        return
    makers = _distinct_makers(parts) if start >= 0 and count > 1 else None
    if makers is None:
        program.append((JOIN, (all_, count)))
    else:
        program[start:] = [(PLAIN, (all_, makers))]


def _distinct_makers(parts: list[Instruction]) -> tuple[Maker, ...] | None:
    """Makers of the parts if all are conditions, no two on one subject."""
    makers: list[Maker] = []
    subjects = set()
    for code, content in parts:
        if code == MAKE:
            maker, subject = content
        elif code == KNOWN and isinstance(content, Condition):
            maker, subject = _giver(content), content.subject
        else:
            return None
        makers.append(maker)
        subjects.add(subject)
    return tuple(makers) if len(subjects) == len(makers) else None


def _giver(condition: Condition) -> Maker:
    return lambda _: condition
