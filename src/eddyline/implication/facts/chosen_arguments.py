"""Choices inside of comparisons: `b < coalesce(a, 0)` is `b < a` where a is not NULL, and `b < 0` where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eddyline.implication.facts.choices import CHOICES, choices_of, is_choice, is_true_where, negated, unless
from eddyline.implication.facts.subjects import Subjects, inside, outside
from eddyline.model import types as t
from eddyline.model.expression import Call
from eddyline.model.predicate import Predicate
from eddyline.model.regions import Regions

# comparisons that come of replacing choices by what is chosen; each choice at least doubles them
MOST: Final = 24


def chosen_arguments(subjects: Subjects) -> Iterator[Predicate]:
    """Wherever a choice is certain, a boolean call of it is true, and false, where the call of what is chosen is."""
    pending = [call for call in subjects.calls() if _choice_in(call) is not None]
    for _ in range(MOST):
        if not pending:
            return
        call = pending.pop()
        place = _choice_in(call)
        assert place is not None, "only calls with a choice are looked at"
        choice = call.arguments[place]
        assert isinstance(choice, Call), "a choice is a call"
        for taken, value in choices_of(choice, subjects.time_zone):
            arguments = (*call.arguments[:place], value, *call.arguments[place + 1 :])
            simpler = Call(call.function, arguments, call.type)
            yield from _as(call, simpler, taken, subjects.time_zone)
            if _choice_in(simpler) is not None:
                pending.append(simpler)


def _choice_in(call: Call) -> int | None:
    """The place of the first argument that is a choice, if the call is boolean and no choice itself."""
    if call.type != t.BOOLEAN or call.function in CHOICES:
        return None
    for place, argument in enumerate(call.arguments):
        if is_choice(argument):
            return place
    return None


def _as(call: Call, simpler: Call, taken: Predicate, time_zone: str) -> Iterator[Predicate]:
    for value, test in ((True, simpler), (False, Call("not", (simpler,), t.BOOLEAN))):
        held, where = Regions.points([value]), is_true_where(test, time_zone)
        yield unless(taken, outside(call, held), where)
        yield unless(taken, inside(call, held), negated(where))
