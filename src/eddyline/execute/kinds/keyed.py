"""Queries that are found by a value: each tuple meets only those of its own values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from eddyline.config import OrderSettings
from eddyline.execute.executor import Counted, Trial
from eddyline.execute.keyed.key_lookup import lookup_of
from eddyline.execute.keyed.keyed import Keyed
from eddyline.execute.locating.ordinals import Checked
from eddyline.execute.once import once
from eddyline.execute.parts import PairPart
from eddyline.execute.pricing.cost_items import Bill, Label, Priced
from eddyline.execute.pricing.keyed_items import KeyedItems, keyed_text
from eddyline.execute.steering.protocol import Steering
from eddyline.functions.evaluate import Evaluation
from eddyline.index.cutting import Cutting
from eddyline.index.keyed.choose import MAX_POINTS
from eddyline.index.keyed.keyed import KeyedIndex, KeyedTable
from eddyline.model.matches import SegmentPart
from eddyline.sql.render import render


class KeyedExecutor:
    """Asks no steering: there is one way."""

    def __init__(self, index: KeyedIndex, order: OrderSettings) -> None:
        self.index = index

    @once
    def keyed(self) -> Keyed:
        """Made when it is first wanted."""
        return Keyed(self.index)

    def match(
        self, evaluation: Evaluation, rows: int, steering: Steering | None, threads: int
    ) -> list[SegmentPart]:
        return [PairPart(*self.keyed.match(evaluation, rows))]

    def count(
        self, evaluation: Evaluation, rows: int, steering: Steering | None, threads: int
    ) -> list[Counted]:
        return [(self.keyed.match(evaluation, rows)[1], None)]

    def prepare(self) -> None:
        assert self.keyed is not None, "it is made by being asked for"

    def trials(self, evaluation: Evaluation, rows: int) -> Iterator[Trial]:
        for key in self.index.keys:
            yield (key.subject,), partial(_looked_up, key, evaluation, rows)
        for check in self.index.checks:
            yield (check.subject,), partial(_checked, check, evaluation)

    def describe(self, slot: int | None) -> list[str]:
        index = self.index
        if slot is not None:
            tables = [table for table in index.tables if slot in table.results]
            return [f"served by key: {_reason(index, table)}" for table in tables]
        entries = sum(len(table.results) for table in index.tables)
        values = sum(len(cutting.constants) for cutting in index.keys)
        head = f"{entries} entries, {len(index.keys)} key subjects of {values} values, {index.bytes} bytes"
        return [f"keyed: {head}", *(f"  {_table_line(index, table)}" for table in index.tables)]

    def price(self, bill: Bill) -> Priced:
        return KeyedItems.of(bill, self.index)

    @staticmethod
    def item_text(label: Label, index: KeyedIndex) -> str:
        return keyed_text(label, index)


def _looked_up(cutting: Cutting, evaluation: Evaluation, rows: int) -> None:
    lookup_of(cutting).look_up(evaluation, np.empty(rows, np.uint32))


def _checked(cutting: Cutting, evaluation: Evaluation) -> None:
    Checked(cutting).read(evaluation)


def _key(index: KeyedIndex, table: KeyedTable) -> str:
    return " and ".join([render(index.keys[key].subject) for key in table.keys])


def _table_line(index: KeyedIndex, table: KeyedTable) -> str:
    checks = ", ".join([render(index.checks[check].subject) for check in table.checks])
    if not table.keys:
        return f"by ranges of {checks}: {len(table.results)} entries"
    then = f", then checks {checks}" if checks else ""
    return f"by {_key(index, table)}{then}: {len(table.results)} entries"


def _reason(index: KeyedIndex, table: KeyedTable) -> str:
    """Why a tuple meets few queries of a table."""
    if not table.keys:
        subject = render(index.checks[table.checks[0]].subject)
        return (
            f"{subject} lies in few of the {len(table.results)} ranges that queries of the set ask for, so a tuple meets "
            "only those that end above it and begin below it"
        )
    sizes = " and ".join([str(len(index.keys[key].constants)) for key in table.keys])
    few, own = f"at most {MAX_POINTS} values", "its own value"
    if len(table.keys) > 1:
        few, own = f"at most {MAX_POINTS} combinations of values", "its own combination"
    is_, each = ("is", "") if len(table.keys) == 1 else ("are", ", each,")
    return (
        f"{_key(index, table)} {is_} compared with {few} in this query and with {sizes} values{each} in the set, so a "
        f"tuple meets only the queries of {own}"
    )
