"""What queries without a key use: those that are sliced, and those that are always evaluated row by row."""

from __future__ import annotations

from collections import Counter
from typing import Final

from eddyline.execute.pricing import unit_costs as unit
from eddyline.execute.pricing.cost_items import Bill, Label, Sheet
from eddyline.execute.pricing.cost_text import constant_text, line
from eddyline.execute.pricing.sliced_items import SlicedItems
from eddyline.index.kinds.unkeyed import UnkeyedIndex
from eddyline.index.rowwise.asc import AscIndex
from eddyline.index.sliced.sliced import SlicedIndex
from eddyline.model.predicate import Condition, Predicate, conditions_of, conjunction
from eddyline.sql.render import render

_ESCAPE: Final = r" ESCAPE '\\'"  # what LIKE has by itself
_FIXED: Final = {
    "result": "its own result",
    "repeat": "the same condition said once more",
    "rest": "what the segment keeps for all",
    "small": "the row-by-row form for small batches",
    "bitmaps": "bitmaps of all queries",
}


class UnkeyedItems:
    """Prices the queries of one index without keys, or of none yet, into the sheet of a bill.

    `uses`: how often sliced queries have each condition, by which it is told how one more would be compiled.
    """

    def __init__(self, bill: Bill, index: UnkeyedIndex | None = None) -> None:
        self._bill = bill
        self._uses: Counter[Condition] = Counter()
        self._sliced = SlicedItems(bill.sheet, bill.segment, None if index is None else index.sliced)
        if index is None:
            return
        rowwise = index.rowwise
        if rowwise is not None and rowwise.most_rows is None:
            self._enter_ascs(rowwise.ascs)
        owners = self._enter_sliced(index.sliced)
        if rowwise is not None and rowwise.most_rows is not None:
            bill.share(self._label("small"), rowwise.ascs.bytes, owners)

    def marginal(self, owner: object, predicate: Predicate, trial: Sheet, kept: int) -> bool:
        """Every query can be sliced."""
        items, direct = self._sliced.over(trial), self._bill.direct
        conditions = conjunction(predicate)
        if conditions and direct != "never" and items.goes_direct(predicate, self._uses, direct):
            items.compared(owner, conditions)
            return True
        items.joined(owner, predicate)
        if conditions is None and items.roots[predicate] + kept:
            items.repeat(owner, 1)
        return True

    def _label(self, kind: str, what: object = None) -> Label:
        return Label(kind, self._bill.segment, "unkeyed", what)

    def _enter_sliced(self, index: SlicedIndex) -> list[int]:
        """The sliced queries; gives those that own them."""
        sheet, items = self._bill.sheet, self._sliced
        direct_from = index.program.always[1]
        roots: dict[Predicate, list[int]] = {}
        owners = []
        for result, slot in enumerate(index.numbers.tolist()):
            owner = self._bill.owners.get(slot)
            if owner is None:  # removed, and still compiled
                continue
            predicate = self._bill.predicate_of(slot)
            self._uses.update(conditions_of(predicate))
            owners.append(owner)
            conditions = conjunction(predicate)
            if result >= direct_from and conditions:
                sheet.use(owner, items.compared(owner, conditions))
                continue
            sheet.use(owner, items.joined(owner, predicate))
            if conditions is None:
                roots.setdefault(predicate, []).append(owner)
        for root, users in roots.items():
            items.roots[root] = len(users)
            if len(users) > 1:
                again = items.repeat(root, len(users) - 1)
                for owner in users:
                    sheet.use(owner, [again])
        self._bill.share(self._label("rest"), max(0, index.bytes - items.counted), owners)
        return owners

    def _enter_ascs(self, index: AscIndex) -> None:
        """Queries that are always evaluated row by row."""
        bill = self._bill
        owners: list[int] = []
        users: dict[object, list[int]] = {}
        for slot in index.numbers.tolist():
            if slot in bill.owners:
                owners.append(bill.owners[slot])
                for condition in conditions_of(bill.predicate_of(slot)):
                    users.setdefault(condition.subject, []).append(bill.owners[slot])
        for cutting in index.cuttings:
            found = users.get(cutting.subject, [])
            if found:
                cost = (
                    unit.locating(cutting) + unit.computing(cutting.subject) + unit.VISIT * len(index.table)
                )
                item = bill.sheet.item(
                    self._label("visit", cutting.subject), unit.attoseconds(cost), cutting.bytes
                )
                for owner in found:
                    bill.sheet.use(owner, [item])
        bill.share(self._label("bitmaps"), index.bytes, owners)


def unkeyed_text(label: Label) -> str:
    """What an item is."""
    if label.kind in _FIXED:
        return _FIXED[label.kind]
    what = label.what
    match label.kind:
        case "subject" | "visit":
            return f"{render(what)} located"
        case "constant":
            return f"the constant {constant_text(*what)} of {render(what[0])}"
        case "condition" | "derived":
            return line(what)
        case "comparison":
            return f"{line(what[1])}, compared for it alone"
        case "step":
            return line(what)
        case "pass":
            return f"one pass over {render(what)} for all patterns"
        case "pattern":
            return render(what).removeprefix("(").removesuffix(")").removesuffix(_ESCAPE)
        case _:
            raise AssertionError(f"an item of unknown kind {label.kind}")
