"""All predicates of a set as one program over masks: conditions first, then AND/OR steps, then plain conjunctions.

The first slots hold the masks of the distinct conditions; temporaries follow and are used again after their last
use, so that the working set stays small. A predicate that is an AND of conditions needs no step: it is written straight
to the results, grouped by its number of conditions; some need not even masks (`index/sliced/direct.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eddyline.index.sliced.direct import Comparison, Direct, build_direct
from eddyline.model.pacing import paced
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Predicate, conjunction

Int32 = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Conjunctions:
    """Predicates that are an AND of `arity` conditions: their results are consecutive, from `first` on."""

    arity: int
    first: int
    operands: Int32


@dataclass(frozen=True, slots=True)
class Steps:
    """masks[target] = masks[left] AND (flip 0) or OR (flip -1) masks[right]; then written to result `emit` if >= 0."""

    targets: Int32
    lefts: Int32
    rights: Int32
    flips: Int32
    emits: Int32


@dataclass(frozen=True, slots=True)
class MaskProgram:
    """What to do with the masks of the conditions; result i belongs to predicate `order[i]` of those given."""

    slots: int
    steps: Steps
    groups: tuple[Conjunctions, ...]
    always: tuple[int, int]  # results from .. to that are all ones
    direct: Direct
    order: Int32

    @property
    def results(self) -> int:
        """Number of results: all predicates but those that are never true."""
        return len(self.order)


def build_program(
    predicates: Sequence[Predicate],
    slot_of: dict[Condition, int],
    used: int,
    compared: Mapping[int, list[Comparison]],
) -> MaskProgram:
    """The program for predicates over conditions whose masks are in slots below `used`; some are compared directly."""
    by_arity: dict[int, list[tuple[int, tuple[Condition, ...]]]] = {}
    trees: list[int] = []
    always: list[int] = []
    for number, predicate in enumerate(paced(predicates)):
        conditions = conjunction(predicate)
        if predicate == ALWAYS:
            always.append(number)
        elif conditions and number not in compared:
            by_arity.setdefault(len(conditions), []).append((number, conditions))
        elif predicate != NEVER and number not in compared:
            trees.append(number)
    groups: list[Conjunctions] = []
    order: list[int] = []
    for arity in sorted(by_arity):
        operands = [slot_of[condition] for _, conditions in by_arity[arity] for condition in conditions]
        groups.append(Conjunctions(arity, len(order), np.array(operands, np.int32)))
        order += [number for number, _ in by_arity[arity]]
    steps, slots = _Emitter(slot_of, used).emit([predicates[number] for number in trees], len(order))
    order += trees
    span = (len(order), len(order) + len(always))
    order += always
    direct, last = build_direct(compared, len(order))
    return MaskProgram(slots, steps, tuple(groups), span, direct, np.array([*order, *last], np.int32))


class _Emitter:
    """Emits the steps of trees depth first; a subtree that several trees share is worked out once."""

    def __init__(self, slot_of: dict[Condition, int], used: int) -> None:
        self._slot_of = slot_of
        self._uses: dict[Predicate, int] = {}
        self._kept: dict[Predicate, int] = {}
        self._free: list[int] = []
        self._slots = used
        self._rows: list[tuple[int, int, int, int, int]] = []

    def emit(self, trees: Sequence[Predicate], first: int) -> tuple[Steps, int]:
        """Steps of all trees, whose results are consecutive from `first` on, and the number of slots they use."""
        for tree in paced(trees):
            self._count(tree)
        for number, tree in enumerate(paced(trees)):
            slot = self._value(tree)
            target, left, right, flip, emitted = self._rows[-1]
            if emitted >= 0 or target != slot:  # the tree was there already: say it once more
                target, left, right, flip = self._take(), slot, slot, 0
                self._free.append(target)
                self._rows.append((target, left, right, flip, first + number))
            else:
                self._rows[-1] = (target, left, right, flip, first + number)
            self._release(tree)
        columns = np.array(self._rows, np.int32).reshape(-1, 5).T
        return Steps(*(np.ascontiguousarray(column) for column in columns)), self._slots

    def _count(self, tree: Predicate) -> None:
        """How often each subtree is wanted, counting the inside of a repeated one only once."""
        pending: list[Predicate] = [tree]
        while pending:
            node = pending.pop()
            if isinstance(node, Condition):
                continue
            self._uses[node] = self._uses.get(node, 0) + 1
            if self._uses[node] == 1:
                pending.extend(node.parts)

    def _value(self, root: Predicate) -> int:
        """Slot of a predicate's mask, emitting what is not there yet."""
        if isinstance(root, Condition):
            return self._slot_of[root]
        if root in self._kept:
            return self._kept[root]
        flip = 0 if isinstance(root, And) else -1
        operands = [self._value(part) for part in root.parts]
        target = self._take()  # before the operands are released: it must not be one that is still to be read
        left = operands[0]
        for right in operands[1:]:
            self._rows.append((target, left, right, flip, -1))
            left = target
        for part in root.parts:
            self._release(part)
        self._kept[root] = target
        return target

    def _release(self, node: Predicate) -> None:
        """One use of a subtree is over; after the last its slot is free again."""
        if isinstance(node, Condition):
            return
        self._uses[node] -= 1
        if self._uses[node] == 0:
            self._free.append(self._kept.pop(node))

    def _take(self) -> int:
        if self._free:
            return self._free.pop()
        self._slots += 1
        return self._slots - 1
