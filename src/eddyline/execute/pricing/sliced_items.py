"""What sliced queries use: subjects, constants, masks, steps, comparisons, patterns; each an item that others may share."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Mapping, MutableMapping
from typing import Final

import numpy as np

from eddyline.execute.pricing import unit_costs as unit
from eddyline.execute.pricing.cost_items import Label, Sheet
from eddyline.index.cutting import Cutting, cut, narrowest
from eddyline.index.sliced.direct import FEW_USES, MOST_CONDITIONS
from eddyline.index.sliced.edges import EDGE
from eddyline.index.sliced.pattern_groups import PatternGroup
from eddyline.index.sliced.patterns import build_patterns, eligible
from eddyline.index.sliced.sliced import FEW_RANGES, SlicedIndex
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression
from eddyline.model.predicate import NEVER, Condition, Predicate, conjunction

RANGE_BYTES: Final = 16  # row and slot; the ends of the range are as wide as ids
TABLE_BYTES: Final = 24
STEP_BYTES: Final = 20
RESULT_BYTES: Final = 8
OPERAND_BYTES: Final = 4
COMPARISON_BYTES: Final = 10
DERIVED_BYTES: Final = 25
PATTERN_BYTES: Final = 40  # beside its text


class SlicedItems:
    """Prices the queries of one sliced index, or of none yet; items go into a sheet.

    `counted` are the bytes of items that `SlicedIndex.bytes` counts, too.
    """

    def __init__(self, sheet: Sheet, segment: int, index: SlicedIndex | None) -> None:
        self._sheet, self._segment = sheet, segment
        self._cuttings: MutableMapping[Expression, Cutting] = {}
        self._patterns: MutableMapping[Expression, float] = {}
        self._spare: dict[Expression, int] = {}  # bytes of a text's patterns that are no single one's
        self._masks: dict[Condition, tuple[int, ...]] = {}
        self._places: dict[Condition, tuple[int, ...]] = {}
        # subjects whose ranges are differences of shared masks
        self._by_edges: frozenset[Expression] = frozenset()
        self.counted = 0
        self.roots: Counter[Predicate] = Counter()
        if index is not None:
            self._cuttings = {cutting.subject: cutting for cutting in index.cuttings}
            self._by_edges = frozenset(
                index.cuttings[shelf.subjects[row]].subject
                for shelf in index.shelves
                for row in shelf.edges.rows.tolist()
            )
            for group in index.patterns:
                self._enter(group)

    def _enter(self, group: PatternGroup) -> None:
        costs, size = unit.pattern_costs(group)
        own = sum(_pattern_bytes(call) for call in group.calls)
        self._spare[group.text] = max(0, size - own)
        for call, cost in zip(group.calls, costs, strict=True):
            self._patterns[call] = cost

    def over(self, sheet: Sheet) -> SlicedItems:
        """The same index priced into another sheet."""
        other = SlicedItems(sheet, self._segment, None)
        other._cuttings, other._patterns = ChainMap({}, self._cuttings), ChainMap({}, self._patterns)
        other._spare, other._by_edges = self._spare, self._by_edges
        other.roots = self.roots
        return other

    def item(self, kind: str, what: object, nanoseconds: float, size: int, *, counted: bool = True) -> int:
        """The place of an item in the sheet."""
        label = Label(kind, self._segment, "unkeyed", what)
        known = self._sheet.find(label)
        if known is not None:
            return known
        self.counted += size if counted else 0
        return self._sheet.item(label, unit.attoseconds(nanoseconds), size)

    def compared(self, owner: object, conditions: tuple[Condition, ...]) -> set[int]:
        """Items of a conjunction that needs no masks."""
        items = {self.item("result", owner, 0.0, RESULT_BYTES)}
        for condition in conditions:
            items.update(self._located(condition))
            what = (owner, condition)
            items.add(self.item("comparison", what, unit.COMPARISON, COMPARISON_BYTES))
        return items

    def joined(self, owner: object, predicate: Predicate) -> set[int]:
        """Items of a query over masks."""
        conditions = conjunction(predicate)
        if predicate == NEVER:
            return set()
        if conditions is not None:
            arity = len(conditions)
            cost = unit.AND * max(1, arity)
            items = {self.item("result", owner, cost, RESULT_BYTES + OPERAND_BYTES * arity)}
            for condition in conditions:
                items.update(self._mask(condition))
            return items
        return {self.item("result", owner, 0.0, RESULT_BYTES), *self._tree(predicate)}

    def _tree(self, root: Predicate) -> set[int]:
        items: set[int] = set()
        pending = [root]
        while pending:
            node = pending.pop()
            if isinstance(node, Condition):
                items.update(self._mask(node))
            else:
                steps = len(node.parts) - 1
                items.add(self.item("step", node, unit.STEP * steps, STEP_BYTES * steps))
                pending.extend(node.parts)
        return items

    def repeat(self, what: object, times: int) -> int:
        """A tree that several queries have is said once more for each but the first."""
        return self.item("repeat", what, unit.STEP * times, STEP_BYTES * times)

    def _mask(self, condition: Condition) -> tuple[int, ...]:
        known = self._masks.get(condition)
        if known is None:
            subject = condition.subject
            if subject in self._patterns or (subject not in self._cuttings and eligible(subject)):
                known = self._pattern(condition)
            else:
                known = (*self._located(condition), self._condition(condition))
            self._masks[condition] = known
        return known

    def _condition(self, condition: Condition) -> int:
        cutting = self._cutting(condition)
        width = np.dtype(cutting.id_type).itemsize
        count = ranges_of(condition)
        if (
            count == 1 and condition.subject in self._by_edges
        ):  # edges that nobody else needs; the others are the rest
            cost, size = unit.MASK * width * EDGE, RANGE_BYTES + width
        elif count <= FEW_RANGES:
            cost, size = unit.MASK * width * count, (RANGE_BYTES + 2 * width) * count
        else:
            cost, size = unit.MASK * width * FEW_RANGES, TABLE_BYTES + cutting.size
        return self.item("condition", condition, cost, size)

    def _located(self, condition: Condition) -> tuple[int, ...]:
        """The subject and the constants of a condition."""
        known = self._places.get(condition)
        if known is None:
            cutting, subject = self._cutting(condition), condition.subject
            by_value = isinstance(cutting.constants, tuple)
            values = dict.fromkeys(value for value, _ in condition.regions.cuts)
            items = [
                self.item("constant", (subject, value), 0.0, len(str(value)) + 8 if by_value else 8)
                for value in values
            ]
            cost = unit.locating(cutting) + unit.computing(subject)
            known = self._places[condition] = (self.item("subject", subject, cost, 0), *items)
        return known

    def _cutting(self, condition: Condition) -> Cutting:
        subject = condition.subject
        if subject not in self._cuttings:
            self._cuttings[subject] = narrowest(cut(subject, [condition.regions]))
        return self._cuttings[subject]

    def _pattern(self, condition: Condition) -> tuple[int, ...]:
        call = condition.subject
        assert isinstance(call, Call), "a pattern is a call"
        text = call.arguments[0]
        if call not in self._patterns:
            if build_patterns([call]).failing.size:
                return (self.item("condition", condition, unit.MASK, RANGE_BYTES),)
            group = PatternGroup((call,), np.zeros(1, np.int64))
            self._patterns[call] = unit.pattern_costs(group)[0][0]
        cost = self._patterns[call]
        passing = unit.PASS + unit.computing(text)
        items = [
            self.item("pass", text, passing, self._spare.get(text, 0), counted=False),
            self.item("pattern", call, cost, _pattern_bytes(call), counted=False),
        ]
        if [value in condition.regions for value in (True, False, None)] != [True, False, False]:
            items.append(self.item("derived", condition, unit.MASK, DERIVED_BYTES, counted=False))
        return tuple(items)

    def goes_direct(self, predicate: Predicate, uses: Mapping[Condition, int], wanted: str) -> bool:
        """Whether a query would be compared without masks, were it added (see `index/sliced/direct.py`)."""
        conditions = conjunction(predicate)
        if not conditions or len(conditions) > MOST_CONDITIONS:
            return False
        small = all(
            ranges_of(c) == 1 and not eligible(c.subject) and self._cutting(c).id_type == np.uint8
            for c in conditions
        )
        rare = sum(1 / (uses.get(c, 0) + 1) for c in conditions) * FEW_USES > len(conditions)
        return small and (rare or wanted == "always")


def ranges_of(condition: Condition) -> int:
    """Number of ranges of ids that a condition is, whatever the constants of others are.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.regions import Regions
    >>> price = Column("price", t.DOUBLE)
    >>> (
    ...     ranges_of(Condition(price, Regions.below(3, closed=True))),
    ...     ranges_of(Condition(price, Regions(null=True))),
    ... )
    (1, 1)
    """
    regions = condition.regions
    ends = len(regions.cuts) + regions.inside
    count, open_top = -(-ends // 2), ends % 2 == 1
    if t.is_fractional(condition.subject.type):
        count += regions.nan and not open_top
        open_top = regions.nan
    return count + (regions.null and not open_top)


def _pattern_bytes(call: Call) -> int:
    return PATTERN_BYTES + sum(len(str(getattr(each, "value", ""))) for each in call.arguments[1:2])
