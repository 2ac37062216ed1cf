"""Random scripts: joins in force, rows pushed to either stream, joins that are added, removed and replaced in between."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from eddyline.model.event_time import DAY, Length
from eddyline.model.query import Query
from eddyline.reference import Change, JoinResult, Push, join
from eddyline.testing.joins.draw import draw_join
from eddyline.testing.joins.statements import JoinStatement
from eddyline.testing.joins.streams import FILLS, ORDERS, JoinStreams, batch_of, draw_rows, draw_streams

POSITIONS: Final = "a.number AS one, b.number AS other"
_ROWS: Final = 24  # of both streams together: the reference compares all with all


@dataclass(frozen=True, slots=True)
class PushStep:
    """Rows of one stream, and what the clock shows when they come."""

    stream: str
    rows: tuple[Mapping[str, Any], ...]
    clock: int | None = None


@dataclass(frozen=True, slots=True)
class ChangeStep:
    """Joins that come and go, by id."""

    add: Mapping[str, JoinStatement] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    replace: Mapping[str, JoinStatement] = field(default_factory=dict)


ScriptStep = PushStep | ChangeStep


@dataclass(frozen=True, slots=True)
class JoinScript:
    """Everything that an engine, or the reference, needs to know."""

    streams: JoinStreams
    joins: Mapping[str, JoinStatement]
    steps: tuple[ScriptStep, ...]
    join_window: Length | None = None

    @property
    def statements(self) -> list[JoinStatement]:
        """All joins that are ever in force."""
        changes = [step for step in self.steps if isinstance(step, ChangeStep)]
        later = [one for step in changes for one in (*step.add.values(), *step.replace.values())]
        return [*self.joins.values(), *later]


def makes_sense(script: JoinScript) -> bool:
    """Whether all joins that are removed or replaced are in force then, and none that is added."""
    standing = set(script.joins)
    for step in script.steps:
        if isinstance(step, ChangeStep):
            leaving = {*step.remove, *step.replace}
            if not leaving <= standing or standing & step.add.keys():
                return False
            standing = (standing - {*step.remove}) | step.add.keys()
    return True


def run_reference(script: JoinScript, *, complete: bool = False) -> JoinResult:
    """What the reference makes of a script."""
    return join(
        texts(script.joins),
        reference_steps(script),
        streams=script.streams.both,
        complete=complete,
        join_window=script.join_window,
        time_zone=script.streams.zone,
    )


def texts(joins: Mapping[str, JoinStatement]) -> list[Query]:
    """Joins as queries."""
    return [Query(id, str(statement)) for id, statement in joins.items()]


def reference_steps(script: JoinScript) -> Iterator[Push | Change]:
    """The steps of a script as the reference takes them; the column `number` has the positions of tuples."""
    seen = {ORDERS: 0, FILLS: 0}
    for step in script.steps:
        if isinstance(step, PushStep):
            first = seen[step.stream]
            seen[step.stream] += len(step.rows)
            yield Push(step.stream, batch_of(step.rows, range(first, seen[step.stream])), step.clock)
        else:
            yield Change(texts(step.add), step.remove, texts(step.replace))


def asking_for_positions(script: JoinScript, items: Callable[[str], str] = lambda _: POSITIONS) -> JoinScript:
    """The script whose joins select nothing but the positions of both tuples, as `one` and `other`.

    `items` may give another SELECT list for the id of a join.
    """

    def asking(joins: Mapping[str, JoinStatement]) -> dict[str, JoinStatement]:
        return {id: replace(statement, items=items(id)) for id, statement in joins.items()}

    steps = [
        step
        if isinstance(step, PushStep)
        else ChangeStep(asking(step.add), step.remove, asking(step.replace))
        for step in script.steps
    ]
    return replace(script, joins=asking(script.joins), steps=tuple(steps))


def draw_script(
    random_: random.Random, *, rows: int = _ROWS, joins: int = 4, changes: bool = True, plain: bool = False
) -> JoinScript:
    """A script of so many rows and joins; without `changes` all joins are in force from the first row to the last.

    With `plain`, texts and event times mean the same to Spark and to DuckDB, and no tuple is ahead of the clock.
    """
    streams = draw_streams(random_, plain=plain)
    join_window = _join_window(random_, streams) if random_.random() < 0.2 else None
    unbounded = 0.0 if join_window is None else 0.5

    def draw() -> JoinStatement:
        return draw_join(random_, streams, plain=plain, unbounded=unbounded)

    first = {f"j{number}": draw() for number in range(joins)}
    script = JoinScript(streams, first, tuple(_pushes(random_, streams, rows, plain)), join_window)
    return _with_changes(random_, script, draw) if changes else script


def _join_window(random_: random.Random, streams: JoinStreams) -> Length:
    steps = random_.randint(0, 4)
    if streams.scale.name == "":
        return steps
    return (
        f"{steps} days"
        if streams.orders.event_time == "on_day"
        else f"{steps * streams.scale.step} microseconds"
    )


def _pushes(random_: random.Random, streams: JoinStreams, rows: int, plain: bool) -> Iterator[PushStep]:
    seen = {ORDERS: 0, FILLS: 0}
    while sum(seen.values()) < rows:
        stream = random_.choice(streams.both)
        count = min(random_.choice((1, 1, 2, 3, 5, 8)), rows - sum(seen.values()))
        drawn = draw_rows(random_, stream, streams.scale, seen[stream.name], count, plain=plain)
        seen[stream.name] += count
        yield PushStep(
            stream.name, tuple(drawn), None if plain else _clock(random_, streams, seen[stream.name])
        )


def _clock(random_: random.Random, streams: JoinStreams, number: int) -> int | None:
    """None, or such that some tuples are further ahead than a day."""
    if streams.scale.name == "" or random_.random() < 0.7:
        return None
    step = DAY if streams.orders.event_time == "on_day" else streams.scale.step
    now = streams.scale.start * (DAY if streams.orders.event_time == "on_day" else 1) + number // 2 * step
    return now + random_.choice((-DAY, -DAY - step, -2 * DAY, DAY))


def _with_changes(
    random_: random.Random, script: JoinScript, draw: Callable[[], JoinStatement]
) -> JoinScript:
    """The script with some changes between pushes."""
    steps: list[ScriptStep] = []
    standing, drawn = dict(script.joins), len(script.joins)
    for step in script.steps:
        if random_.random() < 0.3:
            change = _change(random_, standing, f"j{drawn}", draw)
            drawn += 1
            standing = {id: one for id, one in standing.items() if id not in change.remove} | dict(change.add)
            standing |= change.replace
            steps.append(change)
        steps.append(step)
    return replace(script, steps=tuple(steps))


def _change(
    random_: random.Random,
    standing: Mapping[str, JoinStatement],
    free: str,
    draw: Callable[[], JoinStatement],
) -> ChangeStep:
    kind = random_.choice(("add", "remove", "replace", "add and remove")) if standing else "add"
    leaving = tuple(random_.sample(sorted(standing), 1)) if "remove" in kind else ()
    replaced = random_.choice(sorted(standing)) if kind == "replace" else None
    return ChangeStep(
        {free: draw()} if "add" in kind else {}, leaving, {} if replaced is None else {replaced: draw()}
    )
