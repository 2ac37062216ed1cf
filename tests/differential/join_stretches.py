"""What an engine of tables is asked about a script of joins: the tuples of each stream, and a query for each stretch.

A *stretch* is a part of a script over which a join stands without a break. An engine sees the tuples that came and were not
left out, each with its number and arrival; the join's own FROM and WHERE, the stretch, and the bound that `join_window`
stands for, do the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from eddyline.model import types as t
from eddyline.model.event_time import length_in_units
from eddyline.reference import JoinResult
from eddyline.testing.joins.scripts import POSITIONS, JoinScript, PushStep
from eddyline.testing.joins.statements import JoinStatement
from eddyline.testing.joins.streams import Row, batch_of

Pairs = set[tuple[int, int]]
Numbers = Mapping[t.DataType, str]  # how an engine writes an event time as a number


@dataclass
class JoinReport:
    """What came out: disagreements as text; how many joins were judged and refused, scripts on which Spark failed, pairs."""

    findings: list[str] = field(default_factory=list)
    judged: int = 0
    refused: int = 0
    failed: int = 0
    pairs: int = 0


@dataclass(frozen=True)
class Stretch:
    """A join in force from one arrival to before another one; arrivals are counted over both streams."""

    id: str
    statement: JoinStatement
    start: int
    end: int


def stretches(script: JoinScript) -> list[Stretch]:
    """All stretches of a script."""
    found: list[Stretch] = []
    standing = {id: (statement, 0) for id, statement in script.joins.items()}
    arrivals = 0

    def end(id: str) -> None:
        statement, start = standing.pop(id)
        found.append(Stretch(id, statement, start, arrivals))

    for step in script.steps:
        if isinstance(step, PushStep):
            arrivals += len(step.rows)
            continue
        for id in (*step.remove, *step.replace):
            end(id)
        coming = (*step.add.items(), *step.replace.items())
        standing |= {id: (statement, arrivals) for id, statement in coming}
    for id in list(standing):
        end(id)
    return found


def arrived(script: JoinScript, result: JoinResult) -> Mapping[str, pa.RecordBatch]:
    """The tuples of each stream that were not left out, with their positions, as `number`, and arrivals."""
    batches = {}
    for stream in script.streams.both:
        pushed = [(number, row) for number, (name, row) in enumerate(_pushed(script)) if name == stream.name]
        kept = result.kept.get(stream.name, [])
        batch = batch_of([pushed[position][1] for position in kept], kept)
        arrivals = [pushed[position][0] for position in kept]
        batches[stream.name] = batch.append_column("arrival", pa.array(arrivals, pa.int32()))
    return batches


def _pushed(script: JoinScript) -> Iterator[tuple[str, Row]]:
    for step in script.steps:
        if isinstance(step, PushStep):
            yield from ((step.stream, row) for row in step.rows)


def as_written(script: JoinScript, stretch: Stretch, numbers: Numbers) -> str:
    """The text of a join, asked for the positions of its pairs in a stretch."""
    asked = replace(stretch.statement, items=POSITIONS)
    more = limits(script, stretch, numbers)
    return f"{asked} AND {more}" if asked.has_where else f"{asked} WHERE {more}"


def limits(script: JoinScript, stretch: Stretch, numbers: Numbers) -> str:
    """The conditions that a stretch and `join_window` stand for."""
    conditions = [f"{alias}.arrival >= {stretch.start} AND {alias}.arrival < {stretch.end}" for alias in "ab"]
    if script.join_window is not None and not names_time(script, str(stretch.statement)):
        conditions.append(_near(script, stretch, numbers))
    return " AND ".join(conditions)


def names_time(script: JoinScript, text: str) -> bool:
    """Whether a join says something about event times, as texts of scripts do only to bind them."""
    return any(re.search(rf"\.{stream.event_time}\b", text) for stream in script.streams.both)


def _near(script: JoinScript, stretch: Stretch, numbers: Numbers) -> str:
    """`|a.ts - b.ts| <= join_window`, in units of the event times."""
    assert script.join_window is not None, "asked for only where there is one"
    known = {stream.name: stream.times for stream in script.streams.both}
    times = [time for name in stretch.statement.streams if (time := known[name]) is not None]
    length = length_in_units(script.join_window, times[0].type, "join_window")
    first, second = (
        numbers.get(time.type, "{}").format(f"{alias}.{time.column}")
        for alias, time in zip("ab", times, strict=True)
    )
    return f"abs({first} - {second}) <= {length}"


def judge_pairs(
    script: JoinScript, result: JoinResult, answers: list[Pairs], who: str, report: JoinReport
) -> None:
    """Compare what the reference found with the pairs of each stretch."""
    every = stretches(script)
    expected: dict[str, Pairs] = {stretch.id: set() for stretch in every}
    for stretch, pairs in zip(every, answers, strict=True):
        expected[stretch.id] |= pairs
    report.judged += len(every)
    report.pairs += sum(map(len, answers))
    for id, pairs in expected.items():
        found = {(pair.first, pair.second) for pair in result.pairs if pair.query == id}
        if found != pairs:
            written = "; ".join(str(stretch.statement) for stretch in every if stretch.id == id)
            report.findings.append(
                f"[{who}] {written}\n    not found: {sorted(pairs - found)}, found: {sorted(found - pairs)}"
            )
