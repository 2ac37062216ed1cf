"""Reduces a failing script to a small one that still fails, by leaving out joins, steps, rows and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from eddyline.testing.joins.scripts import ChangeStep, JoinScript, PushStep, ScriptStep, makes_sense
from eddyline.testing.joins.statements import JoinStatement


def shrink_script(script: JoinScript, fails: Callable[[JoinScript], bool], *, tries: int = 400) -> JoinScript:
    """The smallest failing script that `tries` attempts find; the given one must fail."""
    budget = iter(range(tries))
    progress = True
    while progress:
        progress = False
        for candidate in filter(makes_sense, smaller_scripts(script)):
            if next(budget, None) is None:
                return script
            if fails(candidate):
                script, progress = candidate, True
                break
    return script


def smaller_scripts(script: JoinScript) -> Iterator[JoinScript]:
    """Scripts a step smaller, the boldest steps first; some of them make no sense."""
    for id in _ids(script):
        yield _without_join(script, id)
    for half in (script.steps[: len(script.steps) // 2], script.steps[len(script.steps) // 2 :]):
        yield replace(script, steps=half)
    for number, step in enumerate(script.steps):
        for smaller in _smaller_steps(step):
            kept = () if smaller is None else (smaller,)
            yield replace(script, steps=(*script.steps[:number], *kept, *script.steps[number + 1 :]))
    for id, statement in script.joins.items():
        for one in statement.smaller():
            yield replace(script, joins={**script.joins, id: one})


def _ids(script: JoinScript) -> list[str]:
    """Ids of all joins, as long as there are several."""
    changes = [step for step in script.steps if isinstance(step, ChangeStep)]
    ids = dict.fromkeys([*script.joins, *(id for step in changes for id in step.add)])
    return list(ids) if len(ids) > 1 else []


def _without_join(script: JoinScript, id: str) -> JoinScript:
    steps = [
        ChangeStep(
            _without(step.add, id),
            tuple(other for other in step.remove if other != id),
            _without(step.replace, id),
        )
        if isinstance(step, ChangeStep)
        else step
        for step in script.steps
    ]
    return replace(script, joins=_without(script.joins, id), steps=tuple(steps))


def _without(joins: Mapping[str, JoinStatement], id: str) -> dict[str, JoinStatement]:
    return {other: statement for other, statement in joins.items() if other != id}


def _smaller_steps(step: ScriptStep) -> Iterator[ScriptStep | None]:
    """A step left out (None), or with fewer rows, or with smaller statements."""
    yield None
    if isinstance(step, PushStep):
        count = len(step.rows)
        for part in (slice(0, count // 2), slice(count // 2, count)) if count > 1 else ():
            yield replace(step, rows=step.rows[part])
        for number in range(count) if count > 2 else ():
            yield replace(step, rows=step.rows[:number] + step.rows[number + 1 :])
        return
    for name in ("add", "replace"):
        joins: Mapping[str, JoinStatement] = getattr(step, name)
        for id, statement in joins.items():
            for one in statement.smaller():
                changed = {**joins, id: one}
                yield replace(step, add=changed) if name == "add" else replace(step, replace=changed)
