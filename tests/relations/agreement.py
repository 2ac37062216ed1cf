"""What is asked about a pair of conditions, and whether the answer agrees with a judge: every row of a tiny stream, or z3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eddyline import Stream
from eddyline.implication.search import Budget
from eddyline.model.expression import Column
from eddyline.model.predicate import conditions_of
from eddyline.reference.match import satisfies
from eddyline.relations.question import Answer, Side, Terms, ask
from tests.relations.conditions import WIDE
from tests.relations.tiny import TinyStream
from tests.relations.z3_judge import Judge

PATIENT = Terms(budget=Budget(seconds=5))  # a busy machine must not change an answer


@dataclass(frozen=True)
class Judged:
    """Whether the one implies the other, here and to the judge (None: not decided), and what is wrong, if anything."""

    here: bool | None
    judge: bool | None
    wrong: str = ""


def answer_to(stream: Stream, one: Side, other: Side) -> Answer:
    return ask(stream, [one], [other], PATIENT)


def verdict_of(answer: Answer) -> bool | None:
    return None if answer.reason is not None else answer.proof is not None


def columns_alone(*sides: Side) -> bool:
    """Whether nothing but columns and constants is left in the normal forms, so that everything is decided."""
    subjects = [c.subject for side in sides for c in conditions_of(side.normal.predicate)]
    return all(isinstance(subject, Column) for subject in subjects)


def judged_by_z3(one: Side, other: Side, judge: Judge) -> Judged:
    """A pair over the wide stream; the row by which z3 refutes is shown to the reference."""
    answer = answer_to(WIDE, one, other)
    here, theirs = verdict_of(answer), judge.implies(one.bound, other.bound)
    row = judge.row()
    if row is not None:
        full = {**dict.fromkeys(WIDE.types), **row}
        if not satisfies(one.bound, full) or satisfies(other.bound, full):
            return Judged(here, theirs, f"z3 is wrong: {full} does not refute")
    if None not in (here, theirs) and here != theirs:
        wrong = f"proven, but z3 has the row {row}" if here else f"z3 proves, but the row is {answer.row}"
        return Judged(here, theirs, wrong)
    if None in (here, theirs) and columns_alone(one, other):
        return Judged(here, theirs, f"over columns, undecided: {answer.reason or 'z3 has given up'}")
    return Judged(here, theirs)


def judged_by_rows(
    tiny: TinyStream, one: Side, other: Side, true: npt.NDArray[np.bool_], also: npt.NDArray[np.bool_]
) -> Judged:
    """A pair over a tiny stream, with the rows for which each is true."""
    answer = answer_to(tiny.stream, one, other)
    here, refuting = verdict_of(answer), true & ~also
    refuted = bool(refuting.any())
    theirs = False if refuted else True if tiny.complete else None
    if here and refuted:
        return Judged(here, theirs, f"proven, but there is the row {tiny.rows[int(np.argmax(refuting))]}")
    if here is False and theirs:
        return Judged(here, theirs, f"no row refutes, but {answer.row} is shown")
    if here is None and columns_alone(one, other):
        return Judged(here, theirs, f"over columns, undecided: {answer.reason}")
    return Judged(here, theirs)
