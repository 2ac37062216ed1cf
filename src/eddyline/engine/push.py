"""One push, step by step: matches, projections, account."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.engine.account import BatchAccount
from eddyline.engine.deliveries import DeliveryFailure
from eddyline.engine.ledger import Outcome
from eddyline.engine.live import State
from eddyline.engine.matching import Found, find
from eddyline.engine.members import Integers, Member, Table
from eddyline.errors import LedgerError
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression

log = logging.getLogger("eddyline.engine")


@dataclass(frozen=True, slots=True)
class Pushed:
    """What came out of a batch, before anybody was told."""

    tables: list[pa.Table]
    errors: list[DeliveryFailure]
    account: BatchAccount
    outcome: Outcome
    failures: dict[Expression, int]


def evaluate(state: State, stream: Stream, batch: pa.RecordBatch | pa.Table, time_zone: str) -> Pushed:
    """Match a batch and project what is to be delivered; a projection that fails does not stop the others."""
    found = find(state, stream, batch, time_zone)
    outcome = Outcome(len(state.table), found.slot)
    shadow = state.table.shadows[found.slot]
    outcome.add("shadowed", found.slot[shadow])
    tables: list[pa.Table] = []
    errors = [DeliveryFailure("matching", names, error) for names, error in _failed(state.table, found)]
    outcome.errors[list(found.failed)] += 1
    for rows, slots in _by_projection(state.table, found, ~shadow):
        try:
            tables.append(_project(state, batch, rows, slots, outcome))
        except Exception as error:
            outcome.add("undelivered", slots)
            outcome.errors[np.unique(slots)] += 1
            names = tuple(dict.fromkeys(state.table.names[slots].tolist()))
            errors.append(DeliveryFailure("projection", names, error))
            log.error("%s", errors[-1], exc_info=error)
    delivered = sum(table.num_rows for table in tables)
    if delivered != int(outcome.delivered.sum()):
        raise LedgerError(f"{delivered} rows are delivered, {int(outcome.delivered.sum())} were counted")
    there = np.flatnonzero(outcome.matches)
    account = BatchAccount(
        stream.name,
        state.version,
        batch.num_rows,
        len(np.unique(found.row)),
        len(tables),
        outcome.account(found.failures, len(errors)),
        dict(zip(state.table.names[there].tolist(), outcome.matches[there].tolist(), strict=True)),
    )
    return Pushed(tables, errors, account, outcome, found.failures)


def _failed(table: Table, found: Found) -> Iterator[tuple[tuple[str, ...], Exception]]:
    """What queries could not be evaluated for, and these queries."""
    slots: dict[int, list[int]] = {}
    for slot, error in found.failed.items():
        slots.setdefault(id(error), []).append(slot)
    for several in slots.values():
        yield tuple(table.names[several].tolist()), found.failed[several[0]]


def _by_projection(table: Table, found: Found, wanted: Any) -> list[tuple[Integers, Integers]]:
    """Rows and slots of the wanted pairs for each projection."""
    row, slot = found.row, found.slot
    if not wanted.all():
        row, slot = row[wanted], slot[wanted]
    projection = table.projections[slot]
    numbers = np.unique(projection)
    if len(numbers) == 1:
        return [(row, slot)]
    order = np.argsort(projection, kind="stable")
    edges = np.searchsorted(projection[order], numbers[1:])
    return (
        list(zip(np.split(row[order], edges), np.split(slot[order], edges), strict=True))
        if len(numbers)
        else []
    )


def _project(
    state: State, batch: pa.RecordBatch | pa.Table, rows: Integers, slots: Integers, outcome: Outcome
) -> pa.Table:
    """The delivery of one projection."""
    member: Member = state.table.members[slots[0]]
    projection = member.projection
    projected = projection.apply(batch, rows)
    lead = [
        pa.array(state.table.names[slots], pa.string()),
        pa.array(state.table.revisions[slots]),
        pa.array(np.full(len(slots), state.version, np.int64)),
    ]
    table = pa.Table.from_arrays([*lead, *projected.arrays], schema=projection.delivered)
    outcome.outputs += [(expression, slots, times) for expression, times in projected.failures]
    outcome.add("delivered", slots)
    return table
