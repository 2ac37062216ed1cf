"""Values of choices: COALESCE, IF and CASE lie where the argument lies that is chosen."""

from __future__ import annotations

from collections.abc import Iterator

from eddyline.implication.facts.choices import CHOICES, choices_of, unless
from eddyline.implication.facts.subjects import Subjects, absent, filled, inside, just, outside
from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Literal
from eddyline.model.predicate import Predicate
from eddyline.model.regions import Regions


def chosen_values(subjects: Subjects) -> Iterator[Predicate]:
    """Wherever a choice is certain, the whole lies where the chosen argument lies."""
    for call in subjects.calls(*CHOICES):
        for taken, value in choices_of(call, subjects.time_zone):
            if isinstance(value, Literal):
                yield unless(taken, inside(call, just(value.value, value.type)))
            elif isinstance(value, Column):
                yield from _alike(subjects, taken, call, value)


def _alike(subjects: Subjects, taken: Predicate, call: Call, value: Column) -> Iterator[Predicate]:
    """Both lie on the same side of each cut, both are NULL or neither is, both are NaN or neither is."""
    yield unless(taken, filled(call), absent(value))
    yield unless(taken, absent(call), filled(value))
    sets = [Regions(True, (cut,)) for cut in sorted({*subjects.cuts(call), *subjects.cuts(value)})]
    if call.type in t.FRACTIONAL:
        sets.append(Regions(nan=True))
    for regions in sets:
        yield unless(taken, outside(call, regions), inside(value, regions))
        yield unless(taken, inside(call, regions), outside(value, regions))
