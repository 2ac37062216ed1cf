"""What a tuple finds among those that it may be joined with: how many partners are left after each check, and the nearest.

completes no pair
as t, with tuples of quotes as q
  among 3 kept tuples of quotes
  2 of them have its key: q.symbol = t.symbol
  0 of them lie in the window: t.ts - q.ts from 0 seconds to 5 seconds
  nearest: symbol 'A', price 5.0, ts 2026-01-31 12:00:00
    t.ts - q.ts is 7 seconds, 2 seconds outside of 0 seconds to 5 seconds
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from eddyline.execute.why_pair import BranchWords, PairWhy, Part
from eddyline.functions.evaluate import values_of
from eddyline.join.partners import CHECKS
from eddyline.model.catalog import Stream
from eddyline.model.names import short_repr
from eddyline.model.predicate import ALWAYS
from eddyline.model.types import DataType
from eddyline.normalize.explain import show
from eddyline.normalize.joins.explain import key_text, window_text
from eddyline.sql.render import render_joined

MOST_COLUMNS: Final = 12  # of a partner that are shown


def shown_tuple(stream: Stream, columns: Mapping[str, pa.Array], time: int | None = None) -> str:
    """A tuple by the columns at hand, each an array of one value; `time` is its event time, where that is not among them."""
    names = [name for name in stream.schema.names if name in columns]
    values = [f"{name} {_shown(columns[name], stream.types.get(name))}" for name in names[:MOST_COLUMNS]]
    if len(names) > MOST_COLUMNS:
        values.append(f"and {len(names) - MOST_COLUMNS} more columns")
    times = stream.times
    if time is not None and times is not None and times.column not in columns:
        values.append(f"{times.column} {show(time, times.type)}")
    return ", ".join(values)


def _shown(column: pa.Array, kind: DataType | None) -> str:
    if kind is None:
        return short_repr(column[0].as_py())
    return show(values_of(column, kind)[0], kind)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The partner that is missed by least: which it is, and what it lacks."""

    tuple: str
    lacks: Sequence[Part]

    def as_json(self) -> dict[str, object]:
        """For machines."""
        return {"tuple": self.tuple, "lacks": [part.as_json() for part in self.lacks]}


@dataclass(frozen=True, slots=True)
class RoleWhy:
    """What a tuple finds as one source of one branch of a join.

    fails       what it asks of the tuple itself and what does not hold; then no partner helps
    left        how many partners there are, and how many are left after each of `CHECKS`
    nearest     what comes nearest, if none is left
    """

    words: BranchWords
    source: int
    noun: str  # of what the partners are, "kept tuple of quotes" say
    fails: tuple[Part, ...]
    left: tuple[int, ...]
    nearest: Nearest | None = None

    @property
    def title(self) -> str:
        """Which role it is."""
        join, partner = self.words.join, self.words.join.sources[1 - self.source]
        branch = f"branch {join.branches.index(self.words.branch) + 1}, " if len(join.branches) > 1 else ""
        return f"{branch}as {join.sources[self.source].alias}, with tuples of {partner.stream} as {partner.alias}"

    def lines(self) -> Iterator[str]:
        """The checks one by one, up to the first that none passes."""
        yield self.title
        yield from (f"  {part.text}" for part in self.fails)
        noun = self.noun if self.left[0] == 1 else self.noun.replace(" of ", "s of ", 1)
        yield f"  among {self.left[0]:,} {noun}"
        before = self.left[0]
        for check, count in zip(CHECKS, self.left[1:], strict=True):
            text = self._check(check, count < before)
            if before and text is not None:
                yield f"  {count:,} of them {text(count)}"
            before = count
        if self.nearest is not None:
            yield f"  nearest: {self.nearest.tuple}"
            yield from (f"    {part.text}" for part in self.nearest.lacks)

    def as_json(self) -> dict[str, object]:
        """For machines."""
        join = self.words.join
        return {
            "branch": join.branches.index(self.words.branch) + 1,
            "alias": join.sources[self.source].alias,
            "partner": join.sources[1 - self.source].alias,
            "fails": [part.as_json() for part in self.fails],
            "partners": dict(zip(("all", *CHECKS), self.left, strict=True)),
            "nearest": None if self.nearest is None else self.nearest.as_json(),
        }

    def _check(self, check: str, is_decisive: bool) -> _Words | None:
        """A check in words; None if the branch asks nothing of the kind."""
        words = self.words
        if check == "key":
            return _Words("has", "have", f"its key: {key_text(words.join, words.branch, render_joined)}")
        if check == "window":
            return _Words(
                "lies", "lie", f"in the window: {window_text(words.join, words.branch, words.streams)}"
            )
        if check == "standing":
            return _Words("came", "came", "since the query was added") if is_decisive else None
        if check == "side":
            partner = 1 - self.source
            if words.branch.sides[partner] == ALWAYS:
                return None
            return _Words("satisfies", "satisfy", f"the conditions on {words.join.sources[partner].alias}")
        residual = words.branch.residual
        return None if residual is None else _Words("satisfies", "satisfy", render_joined(residual))


@dataclass(frozen=True, slots=True)
class _Words:
    one: str
    many: str
    rest: str

    def __call__(self, count: int) -> str:
        return f"{self.one if count == 1 else self.many} {self.rest}"


@dataclass(frozen=True, slots=True)
class PartnersWhy:
    """The pairs that a tuple completes, and for each of its roles what becomes of the partners.

    left_out    why the tuple is left out of joins, if it is
    itself      the verdict on the tuple joined with itself, where a stream is joined with itself
    """

    pairs: int
    left_out: str | None
    roles: tuple[RoleWhy, ...]
    itself: PairWhy | None = None

    @property
    def matched(self) -> bool:
        """Whether it completes a pair."""
        return self.pairs > 0

    def __str__(self) -> str:
        count = f"{self.pairs:,} pair{'s' * (self.pairs > 1)}" if self.pairs else "no pair"
        return "\n".join([f"completes {count}", *self.lines()])

    def lines(self) -> Iterator[str]:
        """What leads to it."""
        if self.left_out is not None:
            yield f"it is left out of joins: {self.left_out}"
        elif not self.roles:
            yield "no pair ever satisfies the query"
        for role in self.roles:
            yield from role.lines()
        if self.itself is not None:
            yield from ("with itself it " + str(self.itself).replace("\n", "\n  ")).split("\n")

    def as_json(self) -> dict[str, object]:
        """For machines."""
        itself = None if self.itself is None else {"matched": self.itself.matched, "text": str(self.itself)}
        return {
            "matched": self.matched,
            "pairs": self.pairs,
            "left_out": self.left_out,
            "roles": [role.as_json() for role in self.roles],
            "itself": itself,
        }
