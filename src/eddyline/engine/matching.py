"""The matches of one batch by one state: pairs of a row and a slot, and the expressions that failed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.compile import Compiler
from eddyline.engine.live import State
from eddyline.engine.members import Integers, Member
from eddyline.errors import LedgerError
from eddyline.execute.rescue import rescue
from eddyline.functions.evaluate import Evaluation
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression
from eddyline.model.query import NormalQuery, Query

_NONE: npt.NDArray[Any] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Found:
    """Pairs by row, then in the order in which queries were added; for each expression the rows that failed.

    failed: the slots of queries that could not be evaluated at all, with the reason.
    """

    row: Integers
    slot: Integers
    failures: dict[Expression, int]
    failed: rescue.Failed = field(default_factory=dict)


def find(state: State, stream: Stream, batch: pa.RecordBatch | pa.Table, time_zone: str) -> Found:
    """What the queries of a state match in a batch."""
    pieces = state.pieces.get(stream.name, ())
    counted = state.fallible.get(stream.name, ())
    columns, rows = state.reader(stream).read(batch)
    if not rows:
        return Found(_NONE, _NONE, {})
    evaluation = Evaluation(columns, time_zone=time_zone, rows=rows)
    failed: rescue.Failed = {}
    members = _Members(state, time_zone)
    parts = [
        part for piece in pieces for part in rescue.match(piece.placed, evaluation, rows, members, failed)
    ]
    pairs = [part.pairs() for part in parts]
    row = np.concatenate([_NONE, *(rows for rows, _ in pairs)])
    slot = np.concatenate([_NONE, *(slots for _, slots in pairs)])
    counts = sum(int(part.counts()[1].sum()) for part in parts)
    if counts != len(row):
        raise LedgerError(f"{counts} matches were counted, but {len(row)} pairs were given")
    alive = state.table.removed_at[slot] > state.version
    if not alive.all():
        row, slot = row[alive], slot[alive]
    order = _order(row, state.table.order[slot])
    if order is not None:
        row, slot = row[order], slot[order]
    failed = {slot: error for slot, error in failed.items() if state.table.removed_at[slot] > state.version}
    return Found(row, slot, _failures(evaluation, counted), failed)


def _order(row: Integers, entered: Integers) -> Integers | None:
    """Where pairs stand by row, then in the order in which their queries came; None if they stand so already.

    Both as one number are sorted in a sixth of the time of two keys, most of the pairs being in order.
    """
    if len(row) and int(row.max()) < 2**31 and int(entered.max()) < 2**32:
        both = row.astype(np.int64) << 32 | entered
        return None if (both[1:] > both[:-1]).all() else np.argsort(both, kind="stable")
    return np.lexsort((entered, row))


class _Members:
    """The queries of a state by slot, for those whose executor has failed."""

    def __init__(self, state: State, time_zone: str) -> None:
        self._state = state
        self._compiler = Compiler(state.streams.values(), time_zone=time_zone)

    def normal_form(self, number: int) -> NormalQuery | None:
        """A query in normal form; None if it was removed."""
        if self._state.table.removed_at[number] <= self._state.version:
            return None
        member: Member = self._state.table.members[number]
        return self._compiler.compile(Query(member.id, member.sql))

    def name(self, number: int) -> str:
        """Its id."""
        return str(self._state.table.names[number])


def _failures(evaluation: Evaluation, counted: tuple[Expression, ...]) -> dict[Expression, int]:
    counts = dict.fromkeys(counted, 0)
    evaluation.add_failures(counts)
    return {expression: rows for expression, rows in counts.items() if rows}
