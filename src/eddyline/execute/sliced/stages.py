"""The stages that the compiled queries of a segment need, in their order, and the call of them over blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.index.sliced.sliced import Shelf, SlicedIndex
from eddyline.kernels import sliced as kernels
from eddyline.kernels.stages import Stage, frame
from eddyline.model.masks import BLOCK, WORDS

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
Plan = list[tuple[Stage, tuple[Any, ...]]]
GATHERED: Final = 16  # results that are put together before they go past the caches
_SHELVES: Final = (
    (kernels.shelf8, kernels.tables8),
    (kernels.shelf16, kernels.tables16),
    (kernels.shelf32, kernels.tables32),
)


@dataclass(frozen=True, slots=True)
class BlockCall:
    """What one call reads and writes; see `kernels.sliced` for the fields."""

    ids: Sequence[npt.NDArray[Any]]
    stride: int
    hits: tuple[Counts, Counts, Counts]
    masks: Words
    out: Words
    counts: Counts
    results: int
    keep: bool
    streaming: bool


class Stages:
    """Runs the stages of one compiled part; those that have nothing to do are left out, and so never compiled.

    Invariant: frames hold addresses of the index's arrays, which this object keeps alive. It is made anew where an index is
    loaded, never pickled.
    """

    def __init__(self, index: SlicedIndex) -> None:
        self._index = index
        self._always = index.program.always
        self._kept: list[npt.NDArray[Any]] = []

    def run(self, call: BlockCall, first: int, last: int, rows: int) -> None:
        """Results of blocks first .. last - 1, the tail of the last one cleared; counted if there are places for counts."""
        if first >= last:
            return
        self._call(self._writing, call, first, last)
        if last * BLOCK > rows:
            at = (last - 1) * call.results * WORDS if call.keep else 0
            kernels.clear_tail(call.out, at, call.results, rows - (last - 1) * BLOCK)
        if len(call.counts) == call.results:
            assert last - first == 1, "whole blocks are counted by `count`"
            kernels.add_counts(call.out, 0, call.results, call.counts)

    def count(self, call: BlockCall, first: int, last: int) -> None:
        """Count the results of blocks that are whole."""
        if first >= last:
            return
        self._call(self._counting, call, first, last)
        begin, end = self._always
        call.counts[begin:end] += BLOCK * (last - first)

    def _call(self, stages: Counts, call: BlockCall, first: int, last: int) -> None:
        gathered = np.empty(GATHERED * WORDS, np.uint64)
        values = (
            *call.ids,
            call.stride,
            *call.hits,
            call.masks,
            call.out,
            call.counts,
            gathered,
            call.results,
            call.keep,
            call.streaming,
        )
        fields = frame(kernels.CALL, values)
        kernels.run_blocks(first, last, stages, fields.__array_interface__["data"][0])

    @cached_property
    def _writing(self) -> Counts:
        program = self._index.program
        plan = [*self._masks(), *self._groups(kernels.grouped), *self._steps(), *self._clearing()]
        if self._always[0] < self._always[1]:
            plan.append((kernels.always, self._always))
        if len(program.direct.arities):
            plan.append((kernels.direct, self._direct()))
        return self._addresses(plan)

    @cached_property
    def _counting(self) -> Counts:
        program = self._index.program
        steps = self._steps()
        plan = [*self._masks(), *self._groups(kernels.count_grouped), *steps, *self._clearing()]
        plan += [(kernels.count_steps, arrays) for _, arrays in steps]
        if len(program.direct.arities):
            plan.append((kernels.count_direct, self._direct()))
        return self._addresses(plan)

    def _addresses(self, plan: Plan) -> Counts:
        """Address of each stage and of its own frame, in turns."""
        found = []
        for stage, values in plan:
            own = stage.frame(*values)
            self._kept += [own, *(value for value in values if isinstance(value, np.ndarray))]
            found += [stage.address, own.__array_interface__["data"][0]]
        return np.array(found, np.int64)

    def _masks(self) -> Plan:
        """Masks of all conditions."""
        plan: Plan = []
        for shelf, (ranged, tabled) in zip(self._index.shelves, _SHELVES, strict=True):
            # also for ids that only `direct` or tables read: the stage asks for those of the next block
            if shelf.subjects or len(shelf.edges.rows) or len(shelf.ranges.rows):
                plan.append((ranged, _shelf_arrays(shelf)))
            if len(shelf.tables.rows):
                tables = shelf.tables
                plan.append((tabled, (tables.rows, tables.offsets, tables.slots, tables.bits)))
        derived = self._index.derived
        if self._index.patterns:
            plan.append((kernels.hits, ()))
        if len(derived.targets):
            plan.append((kernels.derived, (derived.targets, derived.hits, derived.nulls, derived.flags)))
        return plan

    def _groups(self, stage: Stage) -> Plan:
        groups = self._index.program.groups
        if not groups:
            return []
        sizes = [len(group.operands) // group.arity for group in groups]
        offsets = np.cumsum([0, *(len(group.operands) for group in groups)])[:-1]
        operands = np.concatenate([group.operands for group in groups])
        arities, firsts = [group.arity for group in groups], [group.first for group in groups]
        numbers = (np.array(values, np.int64) for values in (arities, firsts, sizes, offsets))
        return [(stage, (*numbers, operands))]

    def _steps(self) -> Plan:
        steps = self._index.program.steps
        arrays = (steps.targets, steps.lefts, steps.rights, steps.flips, steps.emits)
        return [(kernels.steps, arrays)] if len(steps.targets) else []

    def _clearing(self) -> Plan:
        """The scratch of patterns as the next block wants it."""
        return [(kernels.no_hits, ())] if self._index.patterns else []

    def _direct(self) -> tuple[Any, ...]:
        direct = self._index.program.direct
        groups = (direct.arities, direct.firsts, direct.sizes, direct.offsets)
        return (*groups, direct.rows, direct.lows, direct.spans)


def _shelf_arrays(shelf: Shelf) -> tuple[Any, ...]:
    edges, ranges = shelf.edges, shelf.ranges
    fields = (edges.rows, edges.tops, edges.slots, edges.targets, edges.uppers, edges.lowers)
    return (*fields, ranges.rows, ranges.lows, ranges.spans, ranges.slots, ranges.firsts)
