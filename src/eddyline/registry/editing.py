"""Edits applied to entries, without a database: what each query becomes, and which edits are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Final

from eddyline.errors import QueryError
from eddyline.model.query import Query
from eddyline.model.query_state import Verdict
from eddyline.registry.values import KEEP, Check, Drop, Edit, Entry, Put, Set

_BESIDE: Final = ("state", "tags", "owner", "destination", "metadata")  # what stands beside a text
_FINE: Final = Verdict()


@dataclass(slots=True)
class CheckedEdits:
    """Edits that a check has seen: its verdicts by place, and what it refused."""

    edits: Sequence[Edit]
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    refused: dict[int, QueryError] = field(default_factory=dict)


def look(edits: Sequence[Edit], check: Check | None) -> CheckedEdits:
    """Let a check see every text that is to be entered."""
    seen = CheckedEdits(edits)
    if check is None:
        return seen
    for place, edit in enumerate(edits):
        if isinstance(edit, Put):
            try:
                verdict = check(Query(edit.id, edit.sql))
            except QueryError as error:
                error.query = edit.id
                seen.refused[place] = error
            else:
                seen.verdicts[place] = verdict
    return seen


@dataclass(slots=True)
class EntryDraft:
    """Entries as edits make them, one after the other.

    `before` is what was registered under the ids of the edits, `after` what is now; an id that is in neither is free.
    `revisions` holds the highest revision of ids that were registered once; `next_number` is the first free number.
    """

    before: Mapping[str, Entry]
    revisions: Mapping[str, int]
    next_number: int
    after: dict[str, Entry] = field(init=False)
    notes: dict[str, str] = field(default_factory=dict)
    digested: list[Entry] = field(default_factory=list)  # whose texts stay, and whose digests are known now
    _dropped: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.after = dict(self.before)

    def apply(self, seen: CheckedEdits, known: Sequence[str] = ()) -> list[QueryError]:
        """Apply all edits that no check refused; the refused ones, in the order of the edits.

        `known` are ids to be guessed at where an edit names one that is not registered.
        """
        refused = dict(seen.refused)
        for place, edit in enumerate(seen.edits):
            if place in refused:
                continue
            if isinstance(edit, Put) and edit.new and edit.id in self.after:
                refused[place] = QueryError(
                    "the id is taken already", query=edit.id, hint="choose another one, or replace that query"
                )
            elif isinstance(edit, Put):
                self._put(edit, seen.verdicts.get(place, _FINE))
            elif edit.id not in self.after:
                refused[place] = _not_registered(edit.id, known)
            elif isinstance(edit, Drop):
                self._dropped[edit.id] = self.after.pop(edit.id).revision
            else:
                self.after[edit.id] = replace(self.after[edit.id], **attributes_of(edit))
        return [refused[place] for place in sorted(refused)]

    def _put(self, edit: Put, verdict: Verdict) -> None:
        said = attributes_of(edit)
        if verdict.state is not None:
            said["state"] = verdict.state
        if verdict.note is not None:
            self.notes[edit.id] = verdict.note
        old = self.after.get(edit.id)
        if old is not None and old.sql == edit.sql:
            if verdict.digest not in (None, old.digest):
                self.digested.append(replace(old, digest=verdict.digest))
            if said or old.spark_only != verdict.spark_only:
                self.after[edit.id] = replace(old, spark_only=verdict.spark_only, **said)
            return
        said |= {"spark_only": verdict.spark_only, "same_as": verdict.same_as, "digest": verdict.digest}
        if old is None:
            last = self._dropped.get(edit.id) or self.revisions.get(edit.id, 0)
            self.after[edit.id] = Entry(edit.id, edit.sql, last + 1, self._take_number(), **said)
            return
        self.after[edit.id] = replace(
            old, sql=edit.sql, revision=old.revision + 1, number=self._take_number(), **said
        )

    def _take_number(self) -> int:
        self.next_number += 1
        return self.next_number - 1


def restored(target: Sequence[Entry], draft: EntryDraft) -> None:
    """Make a draft hold what an earlier version held; a text that is not the present one is a new revision.

    Digests of texts that return are left open: streams may have been declared otherwise since they were found out.
    """
    kept = {entry.id for entry in target}
    edits: list[Edit] = [Drop(id) for id in draft.before if id not in kept]
    seen = CheckedEdits(edits)
    for entry in target:
        seen.verdicts[len(edits)] = Verdict(spark_only=entry.spark_only, same_as=entry.same_as)
        beside: dict[str, Any] = {name: getattr(entry, name) for name in _BESIDE}
        edits.append(Put(entry.id, entry.sql, **beside))
    draft.apply(seen)


def attributes_of(edit: Put | Set) -> dict[str, Any]:
    """What an edit says about what stands beside the text."""
    return {name: value for name in _BESIDE if (value := getattr(edit, name)) is not KEEP}


def _not_registered(id: str, known: Sequence[str]) -> QueryError:
    near = get_close_matches(id, known, n=1)
    return QueryError("it is not registered", query=id, hint=f'did you mean "{near[0]}"?' if near else None)
