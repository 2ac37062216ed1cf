"""The registry as the engine sees it: entries in, changes and counters out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eddyline.admission import Admission
from eddyline.compile import Compiler
from eddyline.engine.changes import Edit
from eddyline.errors import QueryError, RefusedError
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.project.account import Account
from eddyline.registry import Drop, Entry, Put

if TYPE_CHECKING:
    from eddyline.registry import Registry

log = logging.getLogger("eddyline.engine")


@dataclass(frozen=True, slots=True)
class Taken:
    """One version of a registry."""

    version: int
    streams: list[Stream]
    entries: list[Entry]
    join_window: Length | None = None


def entries_of(registry: Registry) -> Taken:
    """The newest version, all of it of that version."""
    version = registry.version
    if version == 0:
        return Taken(0, [], [])
    streams, entries = registry.streams(version), registry.entries(version)
    return Taken(version, streams, entries, registry.join_window(version))


def write_through(
    registry: Registry, edit: Edit, compiler: Compiler, base: int, admission: Admission
) -> None:
    """Make an edit of the engine one change of the registry, if it is let in and that is still at version `base`."""
    for query in edit.add:
        if registry.entry(query.id) is not None:
            raise QueryError(
                "the registry has it, but it is not evaluated here",
                query=query.id,
                hint="enable it there, or remove it there first",
            )
    known = {stream.name.lower() for stream in registry.streams()}
    edits: list[Put | Drop] = [*edit.puts, *(Drop(id) for id in edit.remove)]
    try:
        change = registry.change(
            edits,
            streams=[stream for stream in compiler.streams if stream.name.lower() not in known],
            reason="by an engine",
            check=admission.of(registry, edits, compiler),
            base=base,
        )
    except RefusedError as refused:
        raise refused.problems[0] from None
    for id, note in change.notes.items():
        log.warning('query "%s": %s', id, note)


def counters_of(gains: Mapping[str, Account]) -> dict[str, dict[str, int]]:
    """Accounts under the names that the registry's counters have."""
    return {
        id: {
            "matches": account.matches,
            "deliveries": account.delivered,
            "shadowed": account.shadowed,
            "undelivered": account.undelivered,
            "failures": account.failures,
            "errors": account.errors,
        }
        for id, account in gains.items()
    }
