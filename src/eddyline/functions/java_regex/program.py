"""Patterns as programs of `kernels.backtracking`, for those that are no automata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from eddyline.functions.java_regex.automaton import Surroundings, guarded_sets, sets_of
from eddyline.functions.java_regex.classes import Classes, classes_of
from eddyline.functions.java_regex.nodes import (
    Anchor,
    Atomic,
    BackReference,
    Character,
    Either,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
    width,
)
from eddyline.kernels import backtracking as kernels

_UNBOUNDED: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class BacktrackingProgram:
    """Operations, one a row; members[s, c]: whether set s has class c; guards and afters as in
    `Automaton`, afters for what stands before as well.
    """

    classes: Classes
    operations: npt.NDArray[np.int32]
    members: npt.NDArray[np.uint8]
    guards: npt.NDArray[np.uint8]
    afters: npt.NDArray[np.int32]
    registers: int


def program(node: Node) -> BacktrackingProgram:
    """The program of a pattern; it tries paths in Java's order."""
    writer = _ProgramWriter(node)
    writer.write(node)
    writer.add(kernels.ACCEPT)
    return writer.program()


class _ProgramWriter:
    """Writes operations one after the other; targets are filled in once they are known."""

    def __init__(self, node: Node) -> None:
        self.around = Surroundings(node)
        self.classes = classes_of([*sets_of(node), *guarded_sets(node)])
        self.operations: list[list[int]] = []
        self.sets: dict[frozenset[int], int] = {}
        self.guards: dict[int, int] = {}
        self.groups: dict[int, int] = {}
        self.registers = 0

    def add(self, operation: int, *operands: int) -> list[int]:
        row = [operation, *operands, *[0] * (5 - len(operands))]
        self.operations.append(row)
        return row

    def reserve(self, count: int) -> int:
        self.registers += count
        return self.registers - count

    def write(self, node: Node) -> None:
        match node:
            case Character(choices):
                self.add(kernels.READ, self.number_of(self.classes.of(choices)))
            case Sequence(items):
                for item in items:
                    self.write(item)
            case Either(items):
                self.either([partial(self.write, item) for item in items])
            case Group(item, number):
                self.group(item, number)
            case Atomic(item):
                self.atomic(lambda: self.write(item))
            case Look(item, behind, negative):
                self.look(item, behind, negative)
            case Repeat(item, low, high, mode):
                self.repeat(item, low, _UNBOUNDED if high is None else high, mode)
            case Anchor("last line end"):
                self.add(kernels.LAST_LINE_END)
            case Anchor(place):
                guard = self.around.place(place)
                self.add(kernels.GUARD, self.guards.setdefault(guard, len(self.guards)))
            case BackReference(number):
                self.add(kernels.SAME, self.groups[number])

    def number_of(self, classes: frozenset[int]) -> int:
        return self.sets.setdefault(classes, len(self.sets))

    def either(self, options: list[Callable[[], None]]) -> None:
        jumps = []
        for option in options[:-1]:
            split = self.add(kernels.SPLIT, len(self.operations) + 1)
            option()
            jumps.append(self.add(kernels.JUMP))
            split[2] = len(self.operations)
        options[-1]()
        for jump in jumps:
            jump[1] = len(self.operations)

    def group(self, item: Node, number: int) -> None:
        begin = self.groups.get(number)
        if begin is None:
            begin = self.groups[number] = self.reserve(3)
        self.add(kernels.STORE, begin + 2, -1)
        self.write(item)
        self.add(kernels.STORE, begin + 1, begin + 2)

    def atomic(self, body: Callable[[], None]) -> None:
        register = self.reserve(2)
        self.add(kernels.OPEN, register)
        body()
        self.add(kernels.CLOSE, register, 0)

    def look(self, item: Node, behind: bool, negative: bool) -> None:
        register = self.reserve(2)
        opening = self.add(kernels.AVOID if negative else kernels.OPEN, register)
        options = item.items if behind and isinstance(item, Either) else (item,)
        self.either([partial(self.seen, option, behind) for option in options])
        self.add(kernels.FOUND if negative else kernels.CLOSE, register, 1)
        opening[2] = len(self.operations)

    def seen(self, item: Node, behind: bool) -> None:
        if behind:
            length = width(item)
            assert length is not None, "a look-behind of varying length is refused"
            self.add(kernels.BACK, length)
        self.write(item)

    def repeat(self, item: Node, low: int, high: int, mode: str) -> None:
        if isinstance(item, Character) and mode != "?":
            number = self.number_of(self.classes.of(item.choices))
            self.add(kernels.RUN, number, low, high, mode == "+")
        elif mode == "+":  # in Java each turn is over when it has matched, and so is the whole
            self.atomic(lambda: self.turns(low, high, mode, lambda: self.atomic(lambda: self.write(item))))
        else:
            self.turns(low, high, mode, lambda: self.write(item))

    def turns(self, low: int, high: int, mode: str, body: Callable[[], None]) -> None:
        register = self.reserve(2)
        self.add(kernels.ENTER, register)
        start = len(self.operations)
        self.add(kernels.REPEAT, register, low, high, start + 2, mode == "?")
        leave = self.add(kernels.JUMP)
        body()
        self.add(kernels.JUMP, start)
        leave[1] = len(self.operations)

    def program(self) -> BacktrackingProgram:
        side = self.around.side
        members = np.zeros((max(len(self.sets), 1), self.classes.count), np.uint8)
        for classes, number in self.sets.items():
            members[number, list(classes)] = 1
        guards = np.zeros((max(len(self.guards), 1), side, side), np.uint8)
        for guard, number in self.guards.items():
            guards[number] = self.around.array(guard)
        return BacktrackingProgram(
            classes=self.classes,
            operations=np.array(self.operations, np.int32),
            members=members,
            guards=guards,
            afters=self.around.kinds(self.classes),
            registers=max(self.registers, 1),
        )
