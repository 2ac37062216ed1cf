"""A query that asks to be let in, as policies see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from eddyline.model.join import Normal
from eddyline.model.query_state import Verdict
from eddyline.registry import Entry, Put
from eddyline.registry.editing import attributes_of


@dataclass(frozen=True, slots=True)
class Candidate:
    """The entry that a query would be, and its normal form.

    `normal` is None where the text needs what only Spark has, and nobody is there to ask Spark. `before` is the entry that
    it would replace.
    """

    entry: Entry
    normal: Normal | None = None
    before: Entry | None = None

    @property
    def is_new(self) -> bool:
        """Whether the text is one that nobody let in before."""
        return self.before is None or self.before.sql != self.entry.sql


# Lets a candidate in (None), lets it in with a note or into another state (a verdict), or raises a `QueryError`.
Policy = Callable[[Candidate], Verdict | None]


def candidate_of(edit: Put, before: Entry | None) -> Candidate:
    """What an edit would make of a query; what it does not say stays as it is."""
    entry = replace(before or Entry(edit.id, edit.sql), sql=edit.sql, **attributes_of(edit))
    return Candidate(entry, before=before)
