"""Entries, streams and versions as rows of tables, and back."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pyarrow as pa

from eddyline.errors import EddylineError, RegistryError
from eddyline.model.catalog import Stream
from eddyline.model.event_time import settled_length
from eddyline.model.query_state import State
from eddyline.registry.tables import OPEN, QUERIES, VERSIONS
from eddyline.registry.values import Entry, Version

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LENGTHS: Final = ("lateness", "ahead", "idle")
_STATES: Final = {str(state): state for state in State}

ENTRY: Final = tuple(
    QUERIES.c[name]
    for name in (
        "id",
        "sql",
        "revision",
        "number",
        "state",
        "tags",
        "owner",
        "destination",
        "metadata",
        "spark_only",
        "same_as",
        "digest",
    )
)
SINCE: Final = {"same_as": 7, "digest": 7}  # formats in which columns of entries came
VERSION: Final = tuple(
    VERSIONS.c[name] for name in ("version", "at", "author", "reason", "added", "changed", "removed")
)


def entries_of(rows: Iterable[Sequence[Any]]) -> list[Entry]:
    """Entries from the columns `ENTRY`; queries share few sets of tags, so each is read once."""
    tags: dict[str, tuple[str, ...]] = {}
    found: list[Entry] = []
    id: object = None
    try:
        for row in rows:
            id, sql, revision, number, state, tag_text, owner, destination, metadata, spark_only, *given = row
            if tag_text not in tags:
                tags[tag_text] = tuple(json.loads(tag_text))
            found.append(
                Entry(
                    str(id),
                    sql,
                    revision,
                    number,
                    _STATES[state],
                    tags[tag_text],
                    owner,
                    destination,
                    {} if metadata == "{}" else json.loads(metadata),
                    bool(spark_only),
                    *given,
                )
            )
    except (ValueError, KeyError, TypeError) as error:
        raise RegistryError(f'the registry is damaged: query "{id}" cannot be read: {error!r}') from None
    return found


def row_of(entry: Entry, version: int) -> dict[str, Any]:
    """The row of an entry that holds from a version on."""
    return {
        "id": entry.id,
        "from_version": version,
        "to_version": OPEN,
        "sql": entry.sql,
        "revision": entry.revision,
        "number": entry.number,
        "state": entry.state.value,
        "tags": tag_text(entry.tags),
        "owner": entry.owner,
        "destination": entry.destination,
        "metadata": json.dumps(entry.metadata) if entry.metadata else "{}",
        "spark_only": entry.spark_only,
        "same_as": entry.same_as,
        "digest": entry.digest,
    }


def tag_text(tags: Sequence[str]) -> str:
    """Tags as they are kept.

    >>> tag_text(["a", 'say"so"'])
    '["a", "say\\\\"so\\\\""]'
    """
    return json.dumps(list(tags), ensure_ascii=False) if tags else "[]"


def stream_of(row: Mapping[str, Any]) -> Stream:
    """A stream from its row; in a registry of format 4 or older, which may only be read, that has no lengths."""
    name, lengths = row["name"], {length: row.get(length) for length in _LENGTHS}
    try:
        schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(row["schema"])))
        return Stream(name, schema, row["event_time"], **lengths)
    except (pa.ArrowException, ValueError, EddylineError) as error:
        raise RegistryError(f'the registry is damaged: stream "{name}" cannot be read: {error}') from None


def stream_row(stream: Stream, version: int) -> dict[str, Any]:
    """The row of a stream that holds from a version on."""
    return {
        "key": stream.name.lower(),
        "from_version": version,
        "to_version": OPEN,
        "name": stream.name,
        "schema": base64.b64encode(stream.schema.serialize().to_pybytes()).decode("ascii"),
        "event_time": stream.event_time,
        **{length: length_as_kept(getattr(stream, length)) for length in _LENGTHS},
    }


def length_as_kept(length: str | int | None) -> str | None:
    """A length as it is kept: as people write it."""
    return None if length is None else str(length)


def join_window_of(row: Mapping[str, Any]) -> str | int | None:
    """The join window from the row of a version; none in a registry of format 5 or older, which may only be read."""
    try:
        return settled_length(row.get("join_window"), "join_window")
    except EddylineError as error:
        raise RegistryError(f"the registry is damaged: {error.message}") from None


def version_of(row: Sequence[Any]) -> Version:
    """A version from the columns `VERSION`."""
    number, at, *rest = row
    return Version(number, _EPOCH + timedelta(microseconds=at), *rest)


def microseconds(at: datetime) -> int:
    """A time as it is kept."""
    return (at - _EPOCH) // timedelta(microseconds=1)
