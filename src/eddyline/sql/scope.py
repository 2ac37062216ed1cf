"""What names mean in a query: columns of its one stream, or of the two that it joins.

name        FROM quotes q      FROM quotes q JOIN trades t USING (symbol)
q.price     its column         the column of q
price       its column         the column of q or of t; an error if both have one
symbol      its column         the column of q: USING makes one of the two
*           its columns        those of USING, then the others of q, then those of t
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NoReturn, Protocol

from eddyline.errors import EddylineError
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column
from eddyline.model.join import virtual_column
from eddyline.model.query import Output

MAX_SHOWN: Final = 80  # characters of a name in a message

Outputs = tuple[Output, ...]

# Queries share the columns that they name: dictionaries find what is the same object without comparing it, which is a
# fourteenth of what compiling 100,000 queries takes.
_column = lru_cache(maxsize=4_096)(Column)


class NameMistake(EddylineError):
    """A name that stands for nothing in a query, or for two things."""


class Scope(Protocol):
    """Knows what the names of one query stand for; what they do not stand for is a `NameMistake`."""

    @property
    def qualifiers(self) -> Collection[str]:
        """What may stand in front of a column and a point, in lower case."""

    @property
    def columns(self) -> dict[str, Column]:
        """All columns that Spark has a type for, by their names in lower case."""

    def find(self, parts: tuple[str, ...]) -> tuple[Column, tuple[str, ...]]:
        """The column that a dotted name starts with, and the fields that follow."""

    def star(self, qualifier: str | None) -> Outputs:
        """What `*` or `qualifier.*` stands for, each column under its own name."""

    def tell_apart(self, stars: Sequence[Outputs]) -> list[Outputs]:
        """The stars of one SELECT list, with names that differ from one another."""


class OneStream:
    """The names of a query that reads one stream."""

    def __init__(self, stream: Stream, alias: str | None) -> None:
        self._stream = stream
        self._qualifier = (alias or stream.name).lower()

    @property
    def qualifiers(self) -> Collection[str]:
        return (self._qualifier,)

    @property
    def columns(self) -> dict[str, Column]:
        return {name.lower(): _column(name, kind) for name, kind in self._stream.types.items()}

    def find(self, parts: tuple[str, ...]) -> tuple[Column, tuple[str, ...]]:
        spelling = self._stream.spelling
        is_qualified = len(parts) > 1 and parts[0].lower() == self._qualifier and parts[1].lower() in spelling
        if is_qualified:
            parts = parts[1:]
        spelled = spelling.get(parts[0].lower())
        if spelled is None:
            self._unknown(parts)
        return _column(spelled, _spark_type(self._stream, spelled)), parts[1:]

    def _unknown(self, parts: tuple[str, ...]) -> NoReturn:
        name = parts[0]
        if len(parts) > 1 and name.lower() == self._qualifier:
            name = parts[1]
        elif len(parts) > 1 and parts[1].lower() in self._stream.spelling:
            raise NameMistake(
                f'"{shown(name)}" is not the stream of this query',
                hint=f"write {self._qualifier}.{parts[1]}",
            )
        raise _unknown_column(self._stream, name)

    def star(self, qualifier: str | None) -> Outputs:
        if qualifier is not None and qualifier.lower() != self._qualifier:
            raise NameMistake(f'"{shown(qualifier)}" is not the stream of this query', hint="write * alone")
        return self._stream.everything

    def tell_apart(self, stars: Sequence[Outputs]) -> list[Outputs]:
        return list(stars)  # names inside of one differ; a second one repeats them, and is refused for that


@dataclass(frozen=True, slots=True)
class JoinedStream:
    """One side of a join: a stream under the name that the query gives it."""

    alias: str
    stream: Stream

    def has(self, name: str) -> bool:
        """Whether it has a column of this name."""
        return name.lower() in self.stream.spelling

    def column(self, name: str) -> Column:
        """Its column of this name, as the virtual source has it."""
        spelled = self.stream.spelling[name.lower()]
        return _column(virtual_column(self.alias, spelled), _spark_type(self.stream, spelled))

    def output(self, name: str) -> Output:
        """Its column of this name, as `*` shows it."""
        spelled = self.stream.spelling[name.lower()]
        kind = self.stream.types.get(spelled, t.VOID)
        return Output(spelled, _column(virtual_column(self.alias, spelled), kind))


class TwoStreams:
    """The names of a query that joins two streams; `using` are the columns of USING."""

    def __init__(self, left: JoinedStream, right: JoinedStream, using: Iterable[str]) -> None:
        self._sides = (left, right)
        self._by_alias = {side.alias.lower(): side for side in self._sides}
        self._using = tuple(dict.fromkeys(name.lower() for name in using))

    @property
    def qualifiers(self) -> Collection[str]:
        return self._by_alias

    @property
    def columns(self) -> dict[str, Column]:
        return {
            name.lower(): side.column(name) for side in reversed(self._sides) for name in side.stream.types
        }

    def pair(self, name: str) -> tuple[Column, Column]:
        """Both columns that a name of USING stands for."""
        for side in self._sides:
            if not side.has(name):
                raise _unknown_column(side.stream, name)
        left, right = self._sides
        return left.column(name), right.column(name)

    def find(self, parts: tuple[str, ...]) -> tuple[Column, tuple[str, ...]]:
        side = self._by_alias.get(parts[0].lower()) if len(parts) > 1 else None
        if side is not None and side.has(parts[1]):
            return side.column(parts[1]), parts[2:]
        holders = self._holders(parts[0])
        if not holders:
            self._unknown(parts)
        if len(holders) > 1 and parts[0].lower() not in self._using:
            name, (left, right) = shown(parts[0]), holders
            raise NameMistake(
                f'column "{name}" is in both "{left.alias}" and "{right.alias}"',
                hint=f"write {left.alias}.{name} or {right.alias}.{name}",
            )
        return holders[0].column(parts[0]), parts[1:]

    def _holders(self, name: str) -> list[JoinedStream]:
        return [side for side in self._sides if side.has(name)]

    def _unknown(self, parts: tuple[str, ...]) -> NoReturn:
        name, side = parts[0], self._by_alias.get(parts[0].lower())
        instead = self._written(parts[1]) if len(parts) > 1 else []
        if side is not None and len(parts) > 1:
            raise _unknown_column(side.stream, parts[1], instead)
        if side is not None:
            first = next(iter(side.stream.schema.names), "*")
            raise NameMistake(f'"{side.alias}" is a stream, not a column', hint=f"write {side.alias}.{first}")
        if instead:
            raise _no_stream(name, instead)
        left, right = self._sides
        message = f'neither "{left.alias}" nor "{right.alias}" has a column "{shown(name)}"'
        names = list(dict.fromkeys((*left.stream.schema.names, *right.stream.schema.names)))
        close = nearest(name, names)
        hint = (
            _listed("their", names, name)
            if close is None
            else f"did you mean {_either(self._written(close))}?"
        )
        raise NameMistake(message, hint=hint)

    def _written(self, name: str) -> list[str]:
        """A column with the alias of each side that has it."""
        return [f"{side.alias}.{side.stream.spelling[name.lower()]}" for side in self._holders(name)]

    def star(self, qualifier: str | None) -> Outputs:
        if qualifier is None:
            left, right = self._sides
            rest = [
                right.output(name) for name in right.stream.schema.names if name.lower() not in self._using
            ]
            return (*self._side_star(left), *rest)
        side = self._by_alias.get(qualifier.lower())
        if side is None:
            raise _no_stream(qualifier, [f"{each.alias}.*" for each in self._sides])
        return self._side_star(side)

    def _side_star(self, side: JoinedStream) -> Outputs:
        """The columns of one side; Spark puts those of USING in front of the others."""
        others = [name for name in side.stream.schema.names if name.lower() not in self._using]
        return tuple([side.output(name) for name in (*self._using, *others)])

    def tell_apart(self, stars: Sequence[Outputs]) -> list[Outputs]:
        count = Counter(output.name.lower() for star in stars for output in star)
        found = [
            tuple([output if count[output.name.lower()] == 1 else _renamed(output) for output in star])
            for star in stars
        ]
        repeated = Counter(output.name.lower() for star in found for output in star).most_common(1)
        if repeated and repeated[0][1] > 1:
            raise NameMistake(
                f'two columns of * are called "{shown(repeated[0][0])}"', hint="name the columns, with AS"
            )
        return found


def _no_stream(name: str, instead: Sequence[str]) -> NameMistake:
    return NameMistake(f'"{shown(name)}" is not a stream of this query', hint=f"write {_either(instead)}")


def _either(names: Sequence[str]) -> str:
    return " or ".join(names)


def _renamed(output: Output) -> Output:
    """A column of a star under a name that says whose it is: q_price."""
    assert isinstance(output.expression, Column), "stars give columns"
    alias, _, name = output.expression.name.partition(".")
    return Output(f"{alias}_{name}", output.expression)


def _spark_type(stream: Stream, spelled: str) -> t.DataType:
    kind = stream.types.get(spelled)
    if kind is None:
        arrow = stream.schema.field(spelled).type
        raise NameMistake(f'column "{spelled}" has the type {arrow}, which Spark SQL does not have')
    return kind


def _unknown_column(stream: Stream, name: str, instead: Sequence[str] = ()) -> NameMistake:
    hint = f"write {_either(instead)}" if instead else did_you_mean(name, stream.schema.names)
    return NameMistake(
        f'stream "{stream.name}" has no column "{shown(name)}"',
        hint=hint or _listed("its", stream.schema.names, name),
    )


def _listed(whose: str, names: Sequence[str], name: str) -> str:
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"{whose} columns are {listed}; text is written in quotes: '{shown(name)}'"


def shown(name: str) -> str:
    """A name as a message shows it, however long it is."""
    return name if len(name) <= MAX_SHOWN else name[:MAX_SHOWN] + "..."


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a name was probably meant to be."""
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A hint at the candidate that a name was probably meant to be.

    >>> did_you_mean("prise", ["symbol", "price"])
    'did you mean "price"?'
    """
    close = nearest(name, candidates)
    return None if close is None else f'did you mean "{close}"?'
