"""An index in which formulas of one family are ranges of one row of ids, in place of a row of ids each.

It is made when an index is opened, not when it is compiled: what is saved does not know of families.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from eddyline.execute.locating.locate import Locator
from eddyline.execute.sliced.families import FEWEST, Asked, Comparison, Families, find_families
from eddyline.execute.sliced.formula_code import is_formula
from eddyline.execute.sliced.formulas import truth_ids
from eddyline.index.sliced.direct import Direct
from eddyline.index.sliced.program import Conjunctions, MaskProgram
from eddyline.index.sliced.sliced import Ranges, Shelf, SlicedIndex
from eddyline.model.expression import Expression

Entry = tuple[int, int, int, int]  # a comparison with ids of any width, and the slot of its mask


def with_families(index: SlicedIndex, locators: Sequence[Locator]) -> tuple[SlicedIndex, Families]:
    """The index with families, whose rows of ids come after those of subjects with ids of 16 bits."""
    first, second, *others = index.shelves
    formulas = _formulas(index, locators)
    alone = _alone(first.ranges) if len(formulas) >= FEWEST else {}
    compared = _comparisons(index.program.direct) if len(formulas) >= FEWEST else []
    families = find_families(_asked([*alone.values(), *compared], formulas))
    if not families:
        return index, Families(())
    moving = _Moving(
        {
            comparison: (len(second.subjects) + place, low, span)
            for place, family in enumerate(families)
            for comparison, low, span in family.ranges()
        }
    )
    direct, order = _split(index.program.direct, moving.ranges, index.program.results)
    program = replace(index.program, direct=direct, order=index.program.order[order])
    program = moving.without_comparisons(program)
    slots = first.ranges.slots
    gone = [place for place, comparison in alone.items() if moving.moved(comparison, int(slots[place]))]
    first = _added(_without(first, gone), moving.narrow)
    first, program = _renumbered(first, program, {row for row, _, _ in moving.ranges})
    shelves = (first, _added(second, moving.wide), *others)
    changed = replace(index, shelves=shelves, program=program, numbers=index.numbers[order])
    return changed, Families(families)


def _alone(ranges: Ranges) -> dict[int, Comparison]:
    """The conditions that are one range, by their place among the ranges."""
    several = set(ranges.slots[ranges.firsts :].tolist())
    slots = ranges.slots[: ranges.firsts].tolist()
    found = zip(slots, _comparisons(ranges), strict=False)
    return {place: comparison for place, (slot, comparison) in enumerate(found) if slot not in several}


def _comparisons(source: Ranges | Direct) -> list[Comparison]:
    return list(zip(source.rows.tolist(), source.lows.tolist(), source.spans.tolist(), strict=True))


def _formulas(index: SlicedIndex, locators: Sequence[Locator]) -> dict[int, tuple[Expression, list[int]]]:
    """The formulas among the subjects of the first shelf, by row, with the ids of false, true and NULL."""
    subjects = [(row, s, index.cuttings[s].subject) for row, s in enumerate(index.shelves[0].subjects)]
    return {
        row: (subject, truth_ids(locators[s]).tolist()) for row, s, subject in subjects if is_formula(subject)
    }


def _asked(
    comparisons: Iterable[Comparison], formulas: Mapping[int, tuple[Expression, list[int]]]
) -> list[Asked]:
    """Those comparisons that ask whether a formula is true, or whether it is false."""
    found = []
    for row, low, span in dict.fromkeys(comparisons):
        subject, ids = formulas.get(row, (None, []))
        inside = [low <= id <= low + span for id in ids]
        if subject is not None and inside in ([False, True, False], [True, False, False]):
            found.append(Asked((row, low, span), subject, inside[1]))
    return found


def _split(
    direct: Direct, moved: Mapping[Comparison, Comparison], results: int
) -> tuple[Direct, npt.NDArray[np.int64]]:
    """Conjunctions that ask for members of families in groups of their own, and the order of results that this makes."""
    asked = np.array([comparison in moved for comparison in _comparisons(direct)], bool)
    order, places, groups = np.arange(results), np.arange(len(asked)), []
    shapes = (direct.arities, direct.firsts, direct.sizes, direct.offsets)
    for arity, first, size, offset in zip(*(array.tolist() for array in shapes), strict=True):
        mine = asked[offset : offset + arity * size].reshape(size, arity).any(axis=1)
        rank, others = np.argsort(mine, kind="stable"), int(size - mine.sum())
        order[first : first + size] = first + rank
        comparisons = offset + rank[:, None] * arity + np.arange(arity)
        places[offset : offset + arity * size] = comparisons.reshape(-1)
        groups.append((arity, first, others, offset))
        groups.append((arity, first + others, size - others, offset + others * arity))
    several = [group for group in groups if group[2]]
    arities, firsts, sizes, offsets = np.array(several, np.int64).reshape(-1, 4).T.copy()
    rows, lows, spans = direct.rows[places], direct.lows[places], direct.spans[places]
    return Direct(arities, firsts, sizes, offsets, rows, lows, spans), order


@dataclass
class _Moving:
    """Comparisons on their way to families, where they are `ranges`; beside, conditions that are new in the two shelves."""

    ranges: dict[Comparison, Comparison]
    narrow: list[Entry] = field(default_factory=list)
    wide: list[Entry] = field(default_factory=list)

    def moved(self, comparison: Comparison, slot: int) -> bool:
        """Whether a comparison belongs to a family, which then gives its mask."""
        if comparison in self.ranges:
            self.wide.append((*self.ranges[comparison], slot))
        return comparison in self.ranges

    def without_comparisons(self, program: MaskProgram) -> MaskProgram:
        """The program with masks in place of direct comparisons in the groups that have members of families."""
        direct, slots = program.direct, count(program.slots)
        comparisons, known, groups, kept = _comparisons(direct), dict[Comparison, int](), [], []
        shapes = zip(direct.arities.tolist(), direct.firsts.tolist(), direct.sizes.tolist(), strict=True)
        for group, (arity, first, size) in enumerate(shapes):
            start = int(direct.offsets[group])
            own = comparisons[start : start + arity * size]
            if self.ranges.keys().isdisjoint(own):
                kept.append(group)
                continue
            for comparison in own:
                if comparison not in known:
                    slot = known[comparison] = next(slots)
                    if not self.moved(comparison, slot):
                        self.narrow.append((*comparison, slot))
            operands = np.array([known[comparison] for comparison in own], np.int32)
            groups.append(Conjunctions(arity, first, operands))
        return replace(
            program, slots=next(slots), groups=(*program.groups, *groups), direct=_only(direct, kept)
        )


def _only(direct: Direct, groups: Sequence[int]) -> Direct:
    """Some groups of conjunctions that are compared directly."""
    sizes = direct.arities * direct.sizes
    parts = [np.arange(direct.offsets[g], direct.offsets[g] + sizes[g]) for g in groups]
    places = np.concatenate([*parts, np.empty(0, np.int64)])
    kept = np.array(groups, np.int64)
    return Direct(
        direct.arities[kept],
        direct.firsts[kept],
        direct.sizes[kept],
        np.cumsum([0, *sizes[kept]])[:-1].astype(np.int64),
        direct.rows[places],
        direct.lows[places],
        direct.spans[places],
    )


def _without(shelf: Shelf, gone: Sequence[int]) -> Shelf:
    """A shelf without some conditions of one range."""
    ranges = shelf.ranges
    fields = (ranges.rows, ranges.lows, ranges.spans, ranges.slots)
    rows, lows, spans, slots = [np.delete(array, gone) for array in fields]
    return replace(shelf, ranges=Ranges(rows, lows, spans, slots, ranges.firsts - len(gone)))


def _added(shelf: Shelf, entries: Sequence[Entry]) -> Shelf:
    """A shelf with more conditions of one range each."""
    ranges = shelf.ranges
    old = (ranges.rows, ranges.lows, ranges.spans, ranges.slots)
    new = zip(*entries, strict=True) if entries else ((),) * 4
    rows, lows, spans, slots = [
        np.concatenate([array[: ranges.firsts], np.array(more, array.dtype), array[ranges.firsts :]])
        for array, more in zip(old, new, strict=True)
    ]
    return replace(shelf, ranges=Ranges(rows, lows, spans, slots, ranges.firsts + len(entries)))


def _renumbered(shelf: Shelf, program: MaskProgram, moved: set[int]) -> tuple[Shelf, MaskProgram]:
    """Without the rows that were moved and that nothing asks for any more."""
    parts: dict[str, Any] = {"edges": shelf.edges, "ranges": shelf.ranges, "tables": shelf.tables}
    used = {*program.direct.rows.tolist(), *(row for part in parts.values() for row in part.rows.tolist())}
    kept = [row for row in range(len(shelf.subjects)) if row in used or row not in moved]
    rows: npt.NDArray[np.int64] = np.zeros(len(shelf.subjects), np.int64)
    rows[kept] = np.arange(len(kept))
    renamed = {name: replace(part, rows=rows[part.rows]) for name, part in parts.items()}
    subjects = tuple([shelf.subjects[row] for row in kept])
    direct = replace(program.direct, rows=rows[program.direct.rows])
    return replace(shelf, subjects=subjects, **renamed), replace(program, direct=direct)
