"""What the sliced executor wants: subjects with their regions, distinct conditions as ranges of ids, the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.config import Direct as Wanted
from eddyline.index.cutting import Cutting, cut, narrowest
from eddyline.index.sliced.direct import choose_direct
from eddyline.index.sliced.edges import Edges, Range, split_edges
from eddyline.index.sliced.hull import Hull, build_hulls
from eddyline.index.sliced.pattern_groups import Derived, PatternGroup, group_patterns
from eddyline.index.sliced.program import MaskProgram, build_program
from eddyline.model.expression import Expression
from eddyline.model.pacing import paced
from eddyline.model.predicate import Condition, Predicate, conditions_of

WIDTHS: Final = (np.uint8, np.uint16, np.uint32)
FEW_RANGES: Final = 8  # more are looked up in a table, at about the cost of so many vector comparisons


@dataclass(frozen=True, slots=True)
class Ranges:
    """Conditions of few ranges of ids: `lows[i] <= id <= lows[i] + spans[i]` of subject row `rows[i]`.

    The first `firsts` entries are first ranges, one a condition; further ranges of a condition follow after all of them.
    """

    rows: npt.NDArray[np.int64]
    lows: npt.NDArray[Any]
    spans: npt.NDArray[Any]
    slots: npt.NDArray[np.int64]
    firsts: int


@dataclass(frozen=True, slots=True)
class Tables:
    """Conditions of many ranges: `bits[offsets[i] + id]` is 1 where the id of subject row `rows[i]` belongs."""

    rows: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Shelf:
    """All subjects whose ids have one width, and the conditions on them; `rows` below count within the shelf."""

    subjects: tuple[int, ...]
    edges: Edges
    ranges: Ranges
    tables: Tables


@dataclass(frozen=True, slots=True)
class SlicedIndex:
    """Compiled queries; result i is that of the query in slot `numbers[i]` of the segment."""

    cuttings: tuple[Cutting, ...]
    shelves: tuple[Shelf, ...]
    patterns: tuple[PatternGroup, ...]
    derived: Derived
    hulls: tuple[Hull, ...]
    conditions: int
    program: MaskProgram
    numbers: npt.NDArray[np.int32]

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        arrays: list[npt.NDArray[Any]] = [self.numbers, self.program.order]
        for shelf in self.shelves:
            arrays += [getattr(shelf.edges, name) for name in Edges.__slots__]
            arrays += [getattr(shelf.ranges, name) for name in ("rows", "lows", "spans", "slots")]
            arrays += [getattr(shelf.tables, name) for name in ("rows", "offsets", "slots", "bits")]
        steps = self.program.steps
        arrays += [steps.targets, steps.lefts, steps.rights, steps.flips, steps.emits]
        arrays += [group.operands for group in self.program.groups]
        arrays += [getattr(self.program.direct, name) for name in ("rows", "lows", "spans")]
        return sum(array.nbytes for array in arrays) + sum(cutting.bytes for cutting in self.cuttings)


def build_sliced(
    predicates: Sequence[Predicate], numbers: Sequence[int], direct: Wanted = "auto"
) -> SlicedIndex:
    """Compile predicates of queries with the given slots."""
    by_subject: dict[Expression, dict[Condition, None]] = {}
    for predicate in paced(predicates):
        for condition in conditions_of(predicate):
            by_subject.setdefault(condition.subject, {})[condition] = None
    distinct = sum(len(found) for found in by_subject.values())
    slots: dict[Condition, int] = {}
    patterns, derived, used = group_patterns(by_subject, slots)
    sets = {subject: [condition.regions for condition in found] for subject, found in by_subject.items()}
    cuttings = tuple([narrowest(cut(subject, found)) for subject, found in sets.items()])
    small = [cutting for cutting in cuttings if cutting.id_type == WIDTHS[0]]
    compared = choose_direct(predicates, {c.subject: (row, c) for row, c in enumerate(small)}, direct)
    masked = {
        condition
        for number, predicate in enumerate(paced(predicates))
        if number not in compared
        for condition in conditions_of(predicate)
    }
    for condition in [
        condition for found in by_subject.values() for condition in found if condition in masked
    ]:
        if condition not in slots:
            slots[condition] = used
            used += 1
    shelves: list[Shelf] = []
    for width in WIDTHS:
        shelf, used = _shelve(width, cuttings, list(by_subject.values()), slots, used)
        shelves.append(shelf)
    program = build_program(predicates, slots, used, compared)
    order = np.asarray(numbers, np.int32)[program.order]
    hulls = build_hulls(predicates, cuttings)
    return SlicedIndex(cuttings, tuple(shelves), patterns, derived, hulls, distinct, program, order)


def _shelve(
    width: Any,
    cuttings: Sequence[Cutting],
    conditions: list[dict[Condition, None]],
    slots: dict[Condition, int],
    used: int,
) -> tuple[Shelf, int]:
    """The conditions on subjects of one width, and the number of slots in use with those that they need beside."""
    subjects = tuple([i for i, cutting in enumerate(cuttings) if cutting.id_type == width])
    lone: list[Range] = []
    several: list[Range] = []
    more: list[Range] = []
    tables: list[tuple[int, int, int]] = []
    bits: list[npt.NDArray[np.uint8]] = []
    size = 0
    for row, subject in enumerate(subjects):
        for condition in paced(conditions[subject]):
            slot = slots.get(condition)
            if slot is None:  # compared directly
                continue
            found = cuttings[subject].ranges(condition.regions)
            if len(found) <= FEW_RANGES:
                entries = [(row, low, high, slot) for low, high in found]
                (lone if len(entries) == 1 else several).append(entries[0])
                more += entries[1:]
            else:
                tables.append((row, size, slot))
                bits.append(_bits(found, cuttings[subject].size))
                size += len(bits[-1])
    edges, plain, used = split_edges(lone, used, width)
    firsts = plain + several
    low_rows = np.array([(r, low, high - low, s) for r, low, high, s in firsts + more], np.int64)
    table_rows = np.array(tables, np.int64).reshape(-1, 3)
    range_row, low, span, slot_of_range = _columns(
        low_rows.reshape(-1, 4), (np.int64, width, width, np.int64)
    )
    one = Ranges(range_row, low, span, slot_of_range, len(firsts))
    table_row, offset, slot_of_table = _columns(table_rows, (np.int64,) * 3)
    many = Tables(table_row, offset, slot_of_table, np.concatenate([*bits, np.empty(0, np.uint8)]))
    return Shelf(subjects, edges, one, many), used


def _columns(rows: npt.NDArray[np.int64], kinds: Sequence[Any]) -> list[npt.NDArray[Any]]:
    return [np.ascontiguousarray(rows[:, i].astype(kind)) for i, kind in enumerate(kinds)]


def _bits(ranges: Sequence[tuple[int, int]], size: int) -> npt.NDArray[np.uint8]:
    bits = np.zeros(size, np.uint8)
    for low, high in ranges:
        bits[low : high + 1] = 1
    return bits
