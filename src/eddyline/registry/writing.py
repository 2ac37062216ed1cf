"""Changes of a registry: the rows that hold until a version end there, the new ones begin, and the version says who."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, update

from eddyline.model.catalog import Stream
from eddyline.registry.reading import newest, read_join_window, read_streams
from eddyline.registry.rows import length_as_kept, microseconds, row_of, stream_row
from eddyline.registry.tables import OPEN, QUERIES, STREAMS, VERSIONS
from eddyline.registry.values import Change, Entry

BATCH = 10_000  # rows that are made and handed over at once


def write(
    connection: Connection,
    before: Mapping[str, Entry],
    after: Mapping[str, Entry],
    streams: Sequence[Stream] | None,
    *,
    join_window: str | int | None,
    next_number: int,
    author: str,
    reason: str,
) -> Change:
    """Write a version in which the entries `before` have become those of `after`; none where nothing is different.

    `streams` are all streams of the new version, None where they stay; `join_window` is that of the new version.
    """
    added = [entry for id, entry in after.items() if id not in before]
    changed = [entry for id, entry in after.items() if id in before and before[id] != entry]
    removed = [id for id in before if id not in after]
    touched = {entry.id for entry in changed}
    unchanged = tuple(id for id in after if id in before and id not in touched)
    version = newest(connection)[0]
    has_other_window = join_window != read_join_window(connection)
    if added or changed or removed or has_other_window or _streams_differ(connection, streams):
        version += 1
        connection.execute(
            insert(VERSIONS).values(
                version=version,
                at=microseconds(datetime.now(UTC)),
                author=author,
                reason=reason,
                added=len(added),
                changed=len(changed),
                removed=len(removed),
                next_number=next_number,
                join_window=length_as_kept(join_window),
            )
        )
        _end(connection, [*(entry.id for entry in changed), *removed], version)
        _begin(connection, [*changed, *added], version)
        _declare(connection, streams, version)
    return Change(
        version,
        added=tuple(entry.id for entry in added),
        changed=tuple(entry.id for entry in changed),
        removed=tuple(removed),
        unchanged=unchanged,
        spark_only=tuple(entry.id for entry in (*changed, *added) if entry.spark_only),
    )


def _end(connection: Connection, ids: Sequence[str], version: int) -> None:
    ended = (
        update(QUERIES)
        .where(QUERIES.c.id == bindparam("ended"), QUERIES.c.to_version == OPEN)
        .values(to_version=version)
    )
    for first in range(0, len(ids), BATCH):
        connection.execute(ended, [{"ended": id} for id in ids[first : first + BATCH]])


def _begin(connection: Connection, entries: Sequence[Entry], version: int) -> None:
    for first in range(0, len(entries), BATCH):
        connection.execute(
            insert(QUERIES), [row_of(entry, version) for entry in entries[first : first + BATCH]]
        )


def _streams_differ(connection: Connection, streams: Sequence[Stream] | None) -> bool:
    return streams is not None and _by_key(read_streams(connection)) != _by_key(streams)


def _declare(connection: Connection, streams: Sequence[Stream] | None, version: int) -> None:
    if streams is None:
        return
    before, after = _by_key(read_streams(connection)), _by_key(streams)
    for key in before:
        if after.get(key) != before[key]:
            connection.execute(
                update(STREAMS)
                .where(STREAMS.c.key == key, STREAMS.c.to_version == OPEN)
                .values(to_version=version)
            )
    rows: list[dict[str, Any]] = [
        stream_row(stream, version) for key, stream in after.items() if before.get(key) != stream
    ]
    if rows:
        connection.execute(insert(STREAMS), rows)


def _by_key(streams: Sequence[Stream]) -> dict[str, Stream]:
    return {stream.name.lower(): stream for stream in streams}
