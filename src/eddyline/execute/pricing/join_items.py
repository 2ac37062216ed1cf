"""What joins use beside the conditions of their sides: SteMs, look-ups in them, lists of roles, residuals.

All of it is priced as if every tuple were kept and met one partner. What is kept of streams is no part of the bytes:
`Engine.state()` tells that.
"""

from __future__ import annotations

from typing import Final

from eddyline.execute.pricing import unit_costs as unit
from eddyline.execute.pricing.cost_items import Label, Sheet
from eddyline.execute.pricing.cost_text import stem_text
from eddyline.model.expression import Expression
from eddyline.model.roles import StemKey
from eddyline.sql.render import render_joined

JOIN: Final = "join"  # stands where the items of segments name their executor
_NO_SEGMENT: Final = -1


class JoinItems:
    """Enters the items of joins into a sheet; owners tell apart what joins do not share."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet

    def role(self, owner: object, key: StemKey, partner: StemKey, *, is_free: bool) -> list[int]:
        """What one side of a branch uses, whose tuples are kept by a key and look for partners by theirs."""
        computing = sum(map(unit.computing, key.expressions))
        items = [
            self._item("stem", key, unit.KEPT + computing),
            self._item("look-up", (key, partner), unit.LOOK_UP),
        ]
        if not is_free:
            items.append(self._item("list", owner, unit.LIST_ENTRY, unit.LIST_ENTRY_BYTES))
        return items

    def residual(self, owner: object, branch: int, residual: Expression) -> int:
        """What one branch asks of pairs."""
        return self._item("residual", (owner, branch, residual), unit.RESIDUAL + unit.computing(residual))

    def rows(self, owner: object, branches: int) -> int:
        """What a set knows of a join and its roles."""
        return self._item("rows", owner, 0.0, unit.ROLE_BYTES * (1 + 2 * branches))

    def _item(self, kind: str, what: object, nanoseconds: float, size: int = 0) -> int:
        label = Label(kind, _NO_SEGMENT, JOIN, what)
        return self._sheet.item(label, unit.attoseconds(nanoseconds), size)


def join_text(label: Label) -> str:
    """What an item is."""
    match label.kind:
        case "stem":
            return f"keeping tuples {stem_text(label.what)}"
        case "look-up":
            own, partner = label.what
            return f"looking up tuples of {own.stream} among those {stem_text(partner)}"
        case "list":
            return "its entry in the list of a tuple"
        case "residual":
            return f"{render_joined(label.what[-1])} for a pair"
        case "rows":
            return "what is known of its sides"
        case _:
            raise AssertionError(f"an item of unknown kind {label.kind}")
