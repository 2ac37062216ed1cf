"""Why two tuples satisfy a join or not: each thing that a branch asks of them, with the values met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from eddyline.execute.why import Reason, Why
from eddyline.model.catalog import Stream
from eddyline.model.event_time import length_text, longest
from eddyline.model.join import Branch, NormalJoin, virtual_column
from eddyline.model.types import DataType
from eddyline.normalize.explain import show, show_regions
from eddyline.normalize.joins.explain import difference_text, event_times, of_source, virtual_keys
from eddyline.sql.render import render_joined

Pair = tuple[Any, Any]  # a value of source 0 and one of source 1


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a branch asks of a pair: whether it holds, and what the pair has, in words."""

    kind: Literal["side", "key", "time", "standing", "residual"]
    holds: bool
    text: str

    def as_json(self) -> dict[str, object]:
        """For machines."""
        return {"kind": self.kind, "holds": self.holds, "text": self.text}


@dataclass(frozen=True, slots=True)
class BranchWhy:
    """The verdict of one branch: all of its parts have to hold."""

    parts: tuple[Part, ...]

    @property
    def holds(self) -> bool:
        """Whether the pair satisfies the branch."""
        return all(part.holds for part in self.parts)

    def lines(self) -> Iterator[str]:
        """What decides, and beside what fails also what does not."""
        decisive = [part for part in self.parts if part.holds == self.holds]
        yield from (f"  {part.text}" for part in decisive)
        if len(decisive) < len(self.parts):
            yield "although"
            yield from (f"  {part.text}" for part in self.parts if part.holds)


@dataclass(frozen=True, slots=True)
class PairWhy(Why):
    """The verdict on two tuples of a join, branch by branch; without branches no pair ever satisfies it.

    `reasons` are the conditions of single sources that decide, each over the columns of its own stream.
    """

    branches: tuple[BranchWhy, ...]

    def __str__(self) -> str:
        if not self.branches:
            return "does not match: no pair does"
        for branch in self.branches:
            if branch.holds:
                return "\n".join(["matches, because", *branch.lines()])
        if len(self.branches) == 1:
            return "\n".join(["does not match, because", *self.branches[0].lines()])
        lines = ["does not match"]
        for number, branch in enumerate(self.branches, start=1):
            lines += [f"branch {number} fails, because", *branch.lines()]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class BranchWords:
    """Puts into words what one branch of a join asks of a pair, and what the pair has; `streams` are by their names."""

    join: NormalJoin
    branch: Branch
    streams: Mapping[str, Stream]

    def side(self, source: int, reasons: tuple[Reason, ...]) -> list[Part]:
        """The conditions that decide about a source's tuple."""
        return [Part("side", reason.holds, self._condition(source, reason)) for reason in reasons]

    def key(self, number: int, values: Pair, is_equal: bool) -> Part:
        """One part of the key."""
        key = self.branch.keys[number]
        names = [render_joined(each) for each in virtual_keys(self.join, key)]
        shown = [show(value, each.type) for value, each in zip(values, key.expressions, strict=True)]
        if is_equal:
            return Part(
                "key", True, f"{names[0]} {'<=>' if key.null_safe else '='} {names[1]}, both are {shown[0]}"
            )
        if not key.null_safe and None in values:
            nulls = [name for name, value in zip(names, values, strict=True) if value is None]
            return Part(
                "key",
                False,
                f"{' and '.join(nulls)} {'is' if len(nulls) == 1 else 'are'} NULL, which equals nothing",
            )
        return Part(
            "key", False, f"{names[0]} is {shown[0]} and {names[1]} is {shown[1]}, which are not equal"
        )

    def time(self, times: Pair) -> Part:
        """The event times, in their unit."""
        sources = zip(self.join.sources, event_times(self.join.sources, self.streams), times, strict=True)
        for source, time, value in sources:
            if not is_joined_time(value, time.type):
                name = virtual_column(source.alias, time.column)
                problem = "NULL" if value is None else "out of range"
                return Part("time", False, f"{name} is {problem}, so that the tuple is left out of joins")
        return self._difference(times[1] - times[0])

    def residual(self, value: bool | None) -> Part:
        """What needs both tuples."""
        assert self.branch.residual is not None, "there is something to say about it"
        text = {True: "true", False: "false", None: "NULL"}[value]
        return Part("residual", value is True, f"{render_joined(self.branch.residual)} is {text}")

    def _condition(self, source: int, reason: Reason) -> str:
        condition = reason.condition
        subject, kind = condition.subject, condition.subject.type
        name = render_joined(of_source(subject, self.join.sources[source]))
        asked = "lies in" if reason.holds else "does not lie in"
        return f"{name} is {show(reason.value, kind)}, which {asked} {show_regions(condition.regions, kind)}"

    def _difference(self, difference: int) -> Part:
        window = self.branch.window
        kind = event_times(self.join.sources, self.streams)[0].type
        low, high = length_text(window.low, kind), length_text(window.high, kind)
        asked = low if low == high else f"{low} to {high}"
        outside = max(window.low - difference, difference - window.high, 0)
        where = f"{length_text(outside, kind)} outside of" if outside else "within"
        text = (
            f"{difference_text(self.join, self.streams)} is {length_text(difference, kind)}, {where} {asked}"
        )
        return Part("time", not outside, text)


def is_joined_time(value: int | None, kind: DataType) -> bool:
    """Whether tuples with such an event time are joined."""
    return value is not None and -longest(kind) < value < longest(kind)
