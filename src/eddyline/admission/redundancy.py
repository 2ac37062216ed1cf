"""What becomes of queries that are the same as others, or covered by others: let in with a note, refused, put in shadow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from eddyline.admission.redundant import UNCOMPARED, Redundant, Same
from eddyline.errors import QueryError
from eddyline.model.query_state import State, Verdict
from eddyline.registry import Entry

_LET_IN: Final = '--if-{0} warn (in Python if_{0}="warn") lets it in, {1}'
IfSame = Literal["warn", "refuse", "shadow", "alias"]
IfImplied = Literal["warn", "refuse", "shadow"]


@dataclass(frozen=True, slots=True)
class RedundancyRules:
    """What becomes of redundant queries; None does not even look. What can never match is always noted."""

    if_same: IfSame | None = None
    if_implied: IfImplied | None = None

    def __bool__(self) -> bool:
        return self.if_same is not None or self.if_implied is not None

    @property
    def only_notes(self) -> bool:
        """Whether nothing depends on what is found: every query is let in as it is."""
        return self.if_same in (None, "warn") and self.if_implied in (None, "warn")


class RedundancyVerdicts:
    """Verdicts on the candidates of one change, of which it is known what makes them redundant.

    A query is refused only for others that stand. Who is covered by a refused one is covered by what that one was refused
    for, so some cover is always left; and of those that are alike the first is not refused for it.
    """

    def __init__(self, rules: RedundancyRules, found: Mapping[str, Redundant]) -> None:
        self._rules = rules
        self._found = found
        self._refused: set[str] = set()
        for id, each in found.items():  # in the order of the change: alike are those before
            implied = rules.if_implied == "refuse" and each.covers
            if implied or (rules.if_same == "refuse" and self._same(each) is not None):
                self._refused.add(id)

    def verdict(self, id: str) -> Verdict | None:
        """What becomes of a candidate; a `QueryError` if it is refused, None if nothing is to be said."""
        found = self._found.get(id)
        if found is None:
            return None
        if found.never is not None:
            return Verdict(note=found.never_text)
        same = None if self._rules.if_same is None else self._same(found)
        cover = None if self._rules.if_implied is None else self._cover(found)
        if same is not None and self._rules.if_same == "refuse":
            raise QueryError(
                str(same), query=id, hint=_LET_IN.format("same", "alias") + " as another name of that query"
            )
        if cover is not None and self._rules.if_implied == "refuse":
            raise QueryError(
                cover, query=id, hint=_LET_IN.format("implied", "shadow") + " without delivering its matches"
            )
        is_shadow = (same is not None and self._rules.if_same == "shadow") or (
            cover is not None and self._rules.if_implied == "shadow"
        )
        is_alias = same is not None and self._rules.if_same == "alias"
        told = str(same) if same is not None else cover  # who covers a query covers those that are the same
        if told is None:
            return Verdict(note=UNCOMPARED) if found.uncompared else None
        fate = "put in shadow: " if is_shadow else "let in as an alias: " if is_alias else ""
        return Verdict(
            state=State.SHADOW if is_shadow else None,
            note=f"{fate}{told}",
            same_as=same.other.id if same is not None and is_alias else None,
        )

    def _same(self, found: Redundant) -> Same | None:
        """The one that is most alike of those that stand."""
        return next((same for same in found.alike if same.other.id not in self._refused), None)

    def _cover(self, found: Redundant) -> str | None:
        """Who covers a query, in words; those that are refused are left out, what covers them takes their place."""
        standing: dict[str, Entry] = {}
        pending, seen = list(found.covers), set()
        while pending:
            entry = pending.pop(0)
            if entry.id in seen:
                continue
            seen.add(entry.id)
            if entry.id not in self._refused:
                standing[entry.id] = entry
            elif entry.id in self._found:
                other = self._found[entry.id]
                pending += [*other.covers, *(same.other for same in other.alike)]
        return Redundant(covers=list(standing.values()), more=found.more).cover_text if standing else None
