"""What a registered query has to do with the others: which are the same, which cover it, whose alias it still is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eddyline.admission.candidate import Candidate
from eddyline.admission.present import RegisteredEntries
from eddyline.admission.redundant import RedundancySearch, Redundant
from eddyline.compile import Compiler
from eddyline.errors import EddylineError, QueryError
from eddyline.registry import Entry, Registry
from eddyline.relations.pair import Pair
from eddyline.service.compiled_sets import CompiledSets


@dataclass(frozen=True, slots=True)
class RelatedQueries:
    """What makes a query redundant, and what has become of the query whose alias it is, if anything has."""

    redundant: Redundant = field(default_factory=Redundant)
    alias_note: str | None = None

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "never_true": self.redundant.never is not None,
            "same": [{"query": same.other.id, "likeness": same.likeness} for same in self.redundant.alike],
            "covered_by": [entry.id for entry in self.redundant.covers],
            "more": self.redundant.more,
            "alias_note": self.alias_note,
        }


def related_queries(entry: Entry, registry: Registry, where: str) -> RelatedQueries:
    """What stands in the newest version, whatever the query's own state is; nothing where that cannot be told."""
    compiler = Compiler(registry.streams(), join_window=registry.join_window())
    try:
        _, normal = compiler.examine(entry.query)
    except QueryError:
        return RelatedQueries()
    if normal is None:
        return RelatedQueries()
    present = RegisteredEntries(registry, CompiledSets(registry, where), for_change=False)
    found = RedundancySearch([Candidate(entry, normal)], present, compiler).found()
    return RelatedQueries(found.get(entry.id, Redundant()), _alias_note(entry, registry, compiler))


def _alias_note(entry: Entry, registry: Registry, compiler: Compiler) -> str | None:
    """What is to be said of the query whose alias one was let in as: it may be gone, or have another text by now."""
    if entry.same_as is None:
        return None
    other = registry.entry(entry.same_as)
    if other is None:
        return "which was removed"
    try:
        verdict = Pair.compiled(compiler, (entry.query, other.query)).equivalent().verdict
    except EddylineError:  # of another stream, or nobody can read it here
        verdict = "not equivalent"
    return "which no longer matches the same rows" if verdict == "not equivalent" else None
