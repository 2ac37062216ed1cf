"""What a registry holds, as records for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.join import NormalJoin
from eddyline.registry import Budget, Diff, Entry, Step, Version
from eddyline.service.files.event_times import times_of
from eddyline.sql.grammar.select import parse


def record_of(entry: Entry) -> dict[str, Any]:
    """A query as its line of a `.jsonl` file says it; nothing is left out, so that it overrules what it is read into."""
    return {
        "id": entry.id,
        "sql": entry.sql,
        "state": entry.state.value,
        "tags": list(entry.tags),
        "owner": entry.owner,
        "destination": entry.destination,
        "metadata": dict(entry.metadata),
    }


def times_json(streams: Sequence[Stream]) -> dict[str, dict[str, str | int]]:
    """What streams say of their event times, by name, where they say something."""
    return {stream.name: said for stream in streams if (said := times_of(stream))}


def entry_json(entry: Entry) -> dict[str, Any]:
    """A query, with what the registry gave it."""
    given = {
        "revision": entry.revision,
        "number": entry.number,
        "spark_only": entry.spark_only,
        "same_as": entry.same_as,
    }
    return record_of(entry) | given


def version_json(version: Version) -> dict[str, Any]:
    """A version."""
    return {
        "version": version.number,
        "time": version.at.isoformat(),
        "author": version.author,
        "reason": version.reason,
        "added": version.added,
        "changed": version.changed,
        "removed": version.removed,
    }


def step_json(step: Step) -> dict[str, Any]:
    """A step of a query's history."""
    entry = None if step.entry is None else {**record_of(step.entry), "revision": step.entry.revision}
    return {
        "version": step.version.number,
        "time": step.version.at.isoformat(),
        "author": step.version.author,
        "reason": step.version.reason,
        "what": step.what,
        "query": entry,
    }


def diff_json(found: Diff) -> dict[str, Any]:
    """What is different between two versions."""
    return {
        "old": found.old,
        "new": found.new,
        "added": [record_of(entry) for entry in found.added],
        "removed": [record_of(entry) for entry in found.removed],
        "changed": [
            {"id": new.id, "old": record_of(old), "new": record_of(new)} for old, new in found.changed
        ],
        "streams": streams_json(found.streams),
        "join_window": None
        if found.join_window is None
        else dict(zip(("old", "new"), found.join_window, strict=True)),
    }


def streams_json(redeclared: Sequence[tuple[Stream | None, Stream | None]]) -> list[dict[str, Any]]:
    """Streams that are declared otherwise, as they were and as they are."""
    return [{"old": _stream_json(old), "new": _stream_json(new)} for old, new in redeclared]


def streams_read(entry: Entry, streams: Sequence[Stream]) -> list[Stream]:
    """The streams that a query reads; none where only Spark can read its text."""
    try:
        names = [stream.name.lower() for stream in parse(entry.sql).streams]
    except QueryError:
        return []
    return [stream for stream in streams if stream.name.lower() in names]


def takes_join_window(entry: Entry, streams: Sequence[Stream], window: Length | None) -> bool:
    """Whether a query is a join that names no time bound, so that it takes a registry's join window."""
    if window is None:
        return False
    try:
        normal = Compiler(streams, join_window=window).compile(entry.query)
    except QueryError:
        return False
    return isinstance(normal, NormalJoin) and normal.takes_join_window


def _stream_json(stream: Stream | None) -> dict[str, Any] | None:
    if stream is None:
        return None
    columns = {field.name: str(field.type) for field in stream.schema}
    return {"name": stream.name, "columns": columns, **times_of(stream)}


def budget_json(budget: Budget) -> dict[str, Any]:
    """A budget."""
    return {
        "scope": budget.scope,
        "name": budget.name,
        "nanoseconds": budget.nanoseconds,
        "bytes": budget.bytes,
        "over": budget.over,
    }
