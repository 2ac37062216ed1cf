"""Random joins as small trees: what the generator builds, the printer prints and the shrinker cuts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class ConditionTree:
    """A condition as text, or AND, OR or NOT of others.

    >>> str(ConditionTree("OR", (leaf("a.x = 1"), ConditionTree("NOT", (leaf("b.y"),)))))
    '(a.x = 1 OR NOT (b.y))'
    """

    word: str
    parts: tuple[ConditionTree, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        if not self.parts:
            return self.text
        if self.word == "NOT":
            return f"NOT ({self.parts[0]})"
        return "(" + f" {self.word} ".join(map(str, self.parts)) + ")"

    @property
    def size(self) -> int:
        """Number of nodes."""
        return 1 + sum(part.size for part in self.parts)


def leaf(text: str) -> ConditionTree:
    """A condition that is not taken apart."""
    return ConditionTree("", (), text)


@dataclass(frozen=True, slots=True)
class JoinStatement:
    """`SELECT items FROM first a JOIN second b ON on USING (using) WHERE where`; ON and WHERE are ANDs."""

    streams: tuple[str, str]
    on: tuple[ConditionTree, ...]
    where: tuple[ConditionTree, ...] = ()
    using: tuple[str, ...] = ()
    word: str = "JOIN"
    items: str = "a.i32, b.s1"

    def __str__(self) -> str:
        first, second = self.streams
        head = f"SELECT {self.items} FROM {first} a"
        if self.word == ",":
            return f"{head}, {second} b WHERE {_all((*self.on, *self.where))}"
        tie = f"USING ({', '.join(self.using)})" if self.using else f"ON {_all(self.on)}"
        tail = f" WHERE {_all(self.where)}" if self.where else ""
        return f"{head} {self.word} {second} b {tie}{tail}"

    @property
    def has_where(self) -> bool:
        """Whether its text ends with a WHERE."""
        return self.word == "," or bool(self.where)

    @property
    def size(self) -> int:
        """Number of nodes in all conditions."""
        return sum(condition.size for condition in (*self.on, *self.where)) + len(self.using)

    def smaller(self) -> Iterator[JoinStatement]:
        """Statements a step smaller, the boldest steps first."""
        for number in range(len(self.where)):
            yield replace(self, where=_without(self.where, number))
        for number in range(len(self.on)):
            if len(self.on) > 1:
                yield replace(self, on=_without(self.on, number))
        for name in ("on", "where"):
            conditions: tuple[ConditionTree, ...] = getattr(self, name)
            for number, condition in enumerate(conditions):
                for cut in _cuts(condition):
                    changed = (*conditions[:number], cut, *conditions[number + 1 :])
                    yield replace(self, on=changed) if name == "on" else replace(self, where=changed)
        if self.word != "JOIN" and not self.using:
            yield replace(self, word="JOIN")


def _all(conditions: tuple[ConditionTree, ...]) -> str:
    return " AND ".join(map(str, conditions))


def _without(conditions: tuple[ConditionTree, ...], number: int) -> tuple[ConditionTree, ...]:
    return conditions[:number] + conditions[number + 1 :]


def _cuts(condition: ConditionTree) -> Iterator[ConditionTree]:
    """The condition with one part, anywhere in it, left out or in the place of the whole."""
    yield from condition.parts
    for number, part in enumerate(condition.parts):
        if len(condition.parts) > 2:
            yield replace(condition, parts=_without(condition.parts, number))
        for cut in _cuts(part):
            yield replace(condition, parts=(*condition.parts[:number], cut, *condition.parts[number + 1 :]))
