"""Patterns as automata, which read a text once from left to right: whatever the text, so many steps as it is long.

A position is a place in the pattern where a character is read. An edge leads from one position to a next one and has a
*guard*: in which surroundings, the characters before and after, it may be taken. So `\\b`, `^`, `$`, look-around at one
character and possessive repetitions of one character cost nothing at all.

    x\\b[ay]       edge from x to [ay], guarded: one side is a word character, the other is not

A pattern is not linear if it has a back reference, looks further than one character, is atomic in earnest, has `$`
before something else, or would have too many edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from eddyline.functions.java_regex.classes import Classes, classes_of
from eddyline.functions.java_regex.nodes import (
    LINE_BREAK,
    Anchor,
    Atomic,
    Character,
    Either,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    width,
)
from eddyline.functions.java_regex.sets import LINE_ENDS, VERTICAL, WORD, CharacterSet

MOST_EDGES: Final = 10_000
_RETURN: Final = CharacterSet.of("\r")
_NEWLINE: Final = CharacterSet.of("\n")
_PLACE_SETS: Final = {
    "line start": (LINE_ENDS, _RETURN, _NEWLINE),
    "line end": (LINE_ENDS, _RETURN, _NEWLINE),
    "last line end": (LINE_ENDS, _RETURN, _NEWLINE),
    "word boundary": (WORD,),
}

Guard = int  # one bit for each pair of surroundings; see Surroundings


class NotLinear(Exception):
    """The pattern cannot be searched for in one pass."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """A pattern as positions and guarded edges; position 0 stands before the first character of a match.

    If it reads texts backwards, everything is the other way round: the first character is the last one, `before` is after.

    The edges of position p are those from edge_starts[p] to edge_starts[p + 1]: targets and guards. accepts[p] is the
    guard under which a match may end at p, -1 if none. members[p, c]: whether p reads class c. guards[g, before, after]
    is 1 where guard g holds; guard 0 always does. befores[c] is what class c is for guards that look back, befores[count]
    what the start of the text is; afters likewise for the character that follows, and the end. restarts[0]: whether a
    match may begin anywhere else than at the start of the text. cautious: a bit for each position that has guards.
    """

    backwards: bool
    classes: Classes
    edge_starts: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    edge_guards: npt.NDArray[np.int32]
    accepts: npt.NDArray[np.int32]
    members: npt.NDArray[np.uint8]
    guards: npt.NDArray[np.uint8]
    befores: npt.NDArray[np.int32]
    afters: npt.NDArray[np.int32]
    restarts: npt.NDArray[np.uint8]
    cautious: npt.NDArray[np.uint64]


def automaton(node: Node) -> Automaton:
    """The automaton of a pattern; raises NotLinear where there is none."""
    return _GlushkovBuilder(node).automaton(node)


def sets_of(node: Node) -> Iterator[CharacterSet]:
    """All sets of characters that a pattern reads."""
    match node:
        case Character(choices):
            yield choices
        case Sequence(items) | Either(items):
            for item in items:
                yield from sets_of(item)
        case Anchor("last line end"):
            yield from (LINE_ENDS, _RETURN, _NEWLINE)
        case Group(item, _) | Atomic(item) | Look(item, _, _) | Repeat(item, _, _, _):
            yield from sets_of(item)


def guarded_sets(node: Node) -> Iterator[CharacterSet]:
    """The sets that places and looks of a pattern tell apart."""
    match node:
        case Anchor(place):
            yield from _PLACE_SETS.get(place, ())
        case Sequence(items) | Either(items):
            for item in items:
                yield from guarded_sets(item)
        case Atomic(item) if item == LINE_BREAK:
            yield from (_RETURN, _NEWLINE)
        case Look(item, _, _):
            yield from guarded_sets(item)
            yield from sets_of(item)
        case Repeat(item, _, _, mode):
            yield from guarded_sets(item)
            if mode == "+":
                yield from sets_of(item)
        case Group(item, _) | Atomic(item):
            yield from guarded_sets(item)


class Surroundings:
    """Guards as bits: bit before * (count + 1) + after, where `count` stands for the start or the end of the text.

    Only those characters are told apart that some guard of the pattern tells apart, which makes few classes.
    """

    def __init__(self, node: Node) -> None:
        self.classes = classes_of(guarded_sets(node))
        self.count = self.classes.count
        self.side = self.count + 1
        self.always: Guard = (1 << self.side * self.side) - 1
        self._afters: dict[frozenset[int], Guard] = {}

    def after(self, numbers: frozenset[int]) -> Guard:
        """What follows is one of some classes."""
        found = self._afters.get(numbers)
        if found is None:
            row = sum(1 << number for number in numbers)
            found = self._afters[numbers] = sum(row << before * self.side for before in range(self.side))
        return found

    def before(self, numbers: frozenset[int]) -> Guard:
        """What stands before is one of some classes."""
        row = (1 << self.side) - 1
        return sum(row << number * self.side for number in numbers)

    def opposite(self, guard: Guard) -> Guard:
        return self.always ^ guard

    def turned(self, guard: Guard) -> Guard:
        """The guard with before and after in each other's place."""
        if guard == self.always:
            return guard
        bits = np.packbits(self.array(guard).T.ravel(), bitorder="little")
        return int.from_bytes(bits.tobytes(), "little")

    def array(self, guard: Guard) -> npt.NDArray[np.uint8]:
        """A guard by before and after."""
        size = self.side * self.side
        raw = np.frombuffer(guard.to_bytes((size + 7) // 8, "little"), np.uint8)
        return np.unpackbits(raw, bitorder="little")[:size].reshape(self.side, self.side)

    def kinds(self, classes: Classes) -> npt.NDArray[np.int32]:
        """What each of some finer classes is here; the start or the end of the text comes last."""
        found = np.full(classes.count + 1, self.count, np.int32)
        for start, number in zip(classes.starts, classes.numbers, strict=True):
            found[number] = self.classes.at(start)
        return found

    def place(self, place: str) -> Guard:
        """Where an anchor holds that looks no further than one character."""
        edge = frozenset({self.count})
        start, end = self.before(edge), self.after(edge)
        if place == "start":
            return start
        if place == "end":
            return end
        if place == "word boundary":
            word = self.classes.of(WORD)
            return self.before(word) ^ self.after(word)
        inside = self.before(self.classes.of(_RETURN)) & self.after(self.classes.of(_NEWLINE))
        line_ends = self.classes.of(LINE_ENDS)
        if place == "line start":
            return (start | self.before(line_ends)) & self.opposite(inside | end)
        if place == "line end":
            return (end | self.after(line_ends)) & self.opposite(inside)
        return self.opposite(inside)


class _Fragment(NamedTuple):
    """A part of the pattern: when it may match nothing, the positions where it begins and ends, with guards."""

    empty: Guard
    first: Mapping[int, Guard]
    last: Mapping[int, Guard]


class _GlushkovBuilder:
    """Glushkov's construction, with guards."""

    def __init__(self, node: Node) -> None:
        self.around = Surroundings(node)
        self.classes = classes_of([*sets_of(node), *guarded_sets(node)])
        self.reads: list[frozenset[int]] = [frozenset()]
        self.edges: list[dict[int, Guard]] = [{}]
        self.size = 0

    def part(self, node: Node, *, last: bool) -> _Fragment:
        """`last`: nothing of the pattern comes after it, so that it does not matter where exactly it ends."""
        around = self.around
        match node:
            case Character(choices):
                return self.position(self.classes.of(choices))
            case Sequence(items):
                parts = [self.part(item, last=last and i == len(items) - 1) for i, item in enumerate(items)]
                return self.sequence(parts)
            case Either(items):
                return self.either([self.part(item, last=last) for item in items])
            case Group(item, _):
                return self.part(item, last=last)
            case Anchor("last line end"):
                return self.last_line_end(last=last)
            case Anchor(place):
                return _Fragment(around.place(place), {}, {})
            case Look(item, behind, negative):
                guard = self.look(item, behind)
                return _Fragment(around.opposite(guard) if negative else guard, {}, {})
            case Atomic(item):
                return self.atomic(item, last=last)
            case Repeat(item, low, high, "+"):
                return self.possessive(item, low, high, last=last)
            case Repeat(item, low, high, _):
                return self.repeat(item, low, high, last=last)
        raise NotLinear

    def position(self, classes: frozenset[int]) -> _Fragment:
        self.reads.append(classes)
        self.edges.append({})
        self.grow(1)
        number = len(self.reads) - 1
        always = self.around.always
        return _Fragment(0, {number: always}, {number: always})

    def grow(self, count: int) -> None:
        self.size += count
        if self.size > MOST_EDGES:
            raise NotLinear

    def join(self, left: _Fragment, right: _Fragment) -> None:
        self.grow(len(left.last) * len(right.first))
        for source, leaving in left.last.items():
            edges = self.edges[source]
            for target, entering in right.first.items():
                edges[target] = edges.get(target, 0) | (leaving & entering)

    def sequence(self, parts: list[_Fragment]) -> _Fragment:
        whole = _Fragment(self.around.always, {}, {})
        for part in parts:
            self.join(whole, part)
            self.grow(len(whole.first) + len(part.last))
            first = _merged(whole.first, _guarded(part.first, whole.empty))
            last = _merged(part.last, _guarded(whole.last, part.empty))
            whole = _Fragment(whole.empty & part.empty, first, last)
        return whole

    def either(self, parts: list[_Fragment]) -> _Fragment:
        empty = 0
        first: dict[int, Guard] = {}
        last: dict[int, Guard] = {}
        for part in parts:  # positions of different parts are different
            empty |= part.empty
            first.update(part.first)
            last.update(part.last)
        return _Fragment(empty, first, last)

    def guarded(self, guard: Guard) -> _Fragment:
        return _Fragment(guard, {}, {})

    def repeat(self, item: Node, low: int, high: int | None, *, last: bool) -> _Fragment:
        copies: list[_Fragment] = []
        last = last and high == 1
        for _ in range(max(low, 1) if high is None else high):
            copy = self.part(item, last=last)
            if low > 1 and copy.empty not in (0, self.around.always):
                raise NotLinear  # after an empty turn Java does not try to match more in the turns it still owes
            copies.append(copy)
        if high is None:
            copy = copies[-1]
            self.join(copy, copy)
        if copies and not copies[0].empty:
            return self.chain(copies, low)
        # A turn that is left out leaves out all later ones: x{2,4} is xx(x(x)?)?, read from the right.
        whole = self.sequence([])
        for number in range(len(copies) - 1, -1, -1):
            whole = self.sequence([copies[number], whole])
            if number >= low:
                whole = whole._replace(empty=self.around.always)
        return whole

    def chain(self, copies: list[_Fragment], low: int) -> _Fragment:
        """Turns none of which is empty, one after the other; from the turn `low` on each may be the last one."""
        for left, right in pairwise(copies):
            self.join(left, right)
        ends = copies[max(low, 1) - 1 :]
        last = {position: guard for copy in ends for position, guard in copy.last.items()}
        return _Fragment(0 if low else self.around.always, copies[0].first, last)

    def possessive(self, item: Node, low: int, high: int | None, *, last: bool) -> _Fragment:
        """Of one character: as many as there are, so that another one must not follow."""
        if last and low <= 1:
            return self.repeat(item, low, high, last=False)
        inner = _single(item)
        if inner is None:
            raise NotLinear
        stop = self.guarded(self.around.opposite(self.around.after(self.around.classes.of(inner.choices))))
        if high is None:
            return self.sequence([self.repeat(inner, low, None, last=False), stop])
        full = self.repeat(inner, high, high, last=False)
        if low == high:
            return full
        return self.either([full, self.sequence([self.repeat(inner, low, high - 1, last=False), stop])])

    def atomic(self, item: Node, *, last: bool) -> _Fragment:
        """The same as its contents where all its matches end at one place, or where nobody cares."""
        if last or width(item) is not None:
            return self.part(item, last=last)
        if item != LINE_BREAK:
            raise NotLinear
        classes = self.classes
        single = self.position(classes.of(VERTICAL) - classes.of(_RETURN))
        pair = self.sequence([self.position(classes.of(_RETURN)), self.position(classes.of(_NEWLINE))])
        lone = self.sequence(
            [
                self.position(classes.of(_RETURN)),
                self.guarded(self.around.opposite(self.around.after(self.around.classes.of(_NEWLINE)))),
            ]
        )
        return self.either([single, pair, lone])

    def last_line_end(self, *, last: bool) -> _Fragment:
        """`$`: the end, or a line end that is the last thing, read here; not between \\r and \\n."""
        if not last:
            raise NotLinear
        ends = Either(
            (Sequence(()), Character(LINE_ENDS), Sequence((Character(_RETURN), Character(_NEWLINE))))
        )
        parts = [self.guarded(self.around.place("last line end")), self.part(ends, last=False)]
        return self.sequence([*parts, self.guarded(self.around.place("end"))])

    def look(self, item: Node, behind: bool) -> Guard:
        """The guard of a look at one character, or at a place."""
        match item:
            case Character(choices):
                classes = self.around.classes.of(choices)
                return self.around.before(classes) if behind else self.around.after(classes)
            case Anchor(place) if place != "last line end":
                return self.around.place(place)
            case Either(items):
                guard = 0
                for option in items:
                    guard |= self.look(option, behind)
                return guard
            case Group(inner, _) | Sequence((inner,)) | Atomic(inner):
                return self.look(inner, behind)
            case Sequence(()):
                return self.around.always
        raise NotLinear

    def automaton(self, node: Node) -> Automaton:
        whole = self.part(node, last=True)
        self.edges[0] = dict(whole.first)
        accepts: Mapping[int, Guard] = {0: whole.empty, **whole.last}
        start, end = self.around.place("start"), self.around.place("end")
        backwards = _all_within(accepts, end) and not _all_within({**self.edges[0], 0: whole.empty}, start)
        if backwards:
            accepts = self.turn_round(accepts)
        numbers: dict[Guard, int] = {self.around.always: 0, 0: -1}
        for guard in (guard for edges in (*self.edges, accepts) for guard in edges.values()):
            numbers.setdefault(guard, len(numbers) - 1)
        guards, groups = self.grouped([guard for guard in numbers if guard])
        leaving = [
            {target: numbers[guard] for target, guard in sorted(edges.items()) if guard}
            for edges in self.edges
        ]
        members = np.zeros((len(self.reads), self.classes.count), np.uint8)
        for position, read in enumerate(self.reads):
            members[position, list(read)] = 1
        ends = np.array([numbers[accepts.get(p, 0)] for p in range(len(self.reads))], np.int32)
        begins = [*leaving[0].values(), *([int(ends[0])] if ends[0] >= 0 else [])]
        afters = self.around.kinds(self.classes)
        return Automaton(
            backwards=backwards,
            classes=self.classes,
            edge_starts=np.cumsum([0, *map(len, leaving)], dtype=np.int32),
            targets=np.array([target for edges in leaving for target in edges], np.int32),
            edge_guards=np.array([guard for edges in leaving for guard in edges.values()], np.int32),
            accepts=ends,
            members=members,
            guards=guards,
            befores=groups[afters],
            afters=afters,
            restarts=guards[begins][:, groups[:-1]].any().reshape(1).astype(np.uint8),
            cautious=bits([ends[p] > 0 or any(edges.values()) for p, edges in enumerate(leaving)]),
        )

    def turn_round(self, accepts: Mapping[int, Guard]) -> Mapping[int, Guard]:
        """Let every edge lead the other way; returns where a match may end then."""
        around = self.around
        turned: list[dict[int, Guard]] = [{} for _ in self.edges]
        for source, edges in enumerate(self.edges):
            for target, guard in edges.items():
                turned[target][source] = around.turned(guard)
        turned[0] = {position: around.turned(guard) for position, guard in accepts.items() if position}
        ends = {position: around.turned(guard) for position, guard in self.edges[0].items()}
        for position in ends:
            turned[position].pop(0, None)
        self.edges = turned
        return {**ends, 0: around.turned(accepts[0])}

    def grouped(self, found: list[Guard]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
        """Guards as arrays, with what does the same before an edge put together."""
        cube = np.array([self.around.array(guard) for guard in found])
        rows = cube.transpose(1, 0, 2).reshape(self.around.side, -1)
        _, firsts, groups = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return np.ascontiguousarray(cube[:, firsts]), groups.reshape(-1).astype(np.int32)


def bits(flags: list[bool]) -> npt.NDArray[np.uint64]:
    """Flags as bits of numbers, the first as the lowest one."""
    padded = np.zeros((len(flags) + 63) // 64 * 64, np.bool_)
    padded[: len(flags)] = flags
    return np.packbits(padded, bitorder="little").view(np.uint64)


def _all_within(guards: Mapping[int, Guard], place: Guard) -> bool:
    return all(guard & place == guard for guard in guards.values())


def _merged(left: Mapping[int, Guard], right: Mapping[int, Guard]) -> Mapping[int, Guard]:
    """Positions of both; they have none in common."""
    return {**left, **right} if right else left


def _guarded(positions: Mapping[int, Guard], guard: Guard) -> Mapping[int, Guard]:
    return {p: inner & guard for p, inner in positions.items() if inner & guard} if guard else {}


def _single(node: Node) -> Character | None:
    """The one character that a node reads, if that is all it does."""
    while isinstance(node, Group | Atomic) or (isinstance(node, Sequence) and len(node.items) == 1):
        node = node.items[0] if isinstance(node, Sequence) else node.item
    return node if isinstance(node, Character) else None
