"""What a registered query has to do with the others: which are the same, which cover it."""

from __future__ import annotations

from typing import Any

from eddyline.admission.candidate import Candidate
from eddyline.admission.present import RegisteredEntries
from eddyline.admission.redundant import RedundancySearch, Redundant
from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.registry import Entry, Registry
from eddyline.service.compiled_sets import CompiledSets


def relatives_of(entry: Entry, registry: Registry, where: str) -> Redundant:
    """What makes a query redundant in the newest version, whatever its own state is; nothing where that cannot be told."""
    compiler = Compiler(registry.streams(), join_window=registry.join_window())
    try:
        _, normal = compiler.examine(entry.query)
    except QueryError:
        return Redundant()
    if normal is None:
        return Redundant()
    candidate = Candidate(entry, normal)
    present = RegisteredEntries(registry, CompiledSets(registry, where), for_change=False)
    return RedundancySearch([candidate], present, compiler).found().get(entry.id, Redundant())


def relatives_json(found: Redundant) -> dict[str, Any]:
    """For machines."""
    return {
        "never_true": found.never is not None,
        "same": [{"query": same.other.id, "likeness": same.likeness} for same in found.alike],
        "covered_by": [entry.id for entry in found.covers],
        "more": found.more,
    }
