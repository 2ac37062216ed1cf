"""Changes of a registry: the rows that hold until a version end there, the new ones begin, and the version says who."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, update

from eddyline.model.catalog import Stream
from eddyline.registry.reading import newest, read_join_window, read_streams, stream_pairs
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
    digested: Iterable[Entry] = (),
) -> Change:
    """Write a version in which the entries `before` have become those of `after`; none where nothing is different.

    `streams` are all streams of the new version, None where they stay; `join_window` is that of the new version.
    `digested` are entries that stay and whose digests are known now: these are entered where they stand, since no query
    becomes another one by that.
    """
    added = [entry for id, entry in after.items() if id not in before]
    changed = [entry for id, entry in after.items() if id in before and before[id] != entry]
    removed = [id for id in before if id not in after]
    touched = {entry.id for entry in changed}
    unchanged = tuple(id for id in after if id in before and id not in touched)
    version = newest(connection)[0]
    redeclared = () if streams is None else stream_pairs(read_streams(connection), streams)
    has_other_window = join_window != read_join_window(connection)
    if added or changed or removed or redeclared or has_other_window:
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
        _declare(connection, redeclared, version)
    _enter_digests(connection, digested)
    return Change(
        version,
        added=tuple(entry.id for entry in added),
        changed=tuple(entry.id for entry in changed),
        removed=tuple(removed),
        unchanged=unchanged,
        spark_only=tuple(entry.id for entry in (*changed, *added) if entry.spark_only),
        streams=redeclared,
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


def _enter_digests(connection: Connection, entries: Iterable[Entry]) -> None:
    """Only where the text is still the one that was digested, which its number tells."""
    entered = (
        update(QUERIES)
        .where(
            QUERIES.c.id == bindparam("digested"),
            QUERIES.c.to_version == OPEN,
            QUERIES.c.number == bindparam("of_number"),
        )
        .values(digest=bindparam("found"))
    )
    rows = [{"digested": e.id, "of_number": e.number, "found": e.digest} for e in entries]
    for first in range(0, len(rows), BATCH):
        connection.execute(entered, rows[first : first + BATCH])


def forget_digests(connection: Connection) -> None:
    """Take away all digests of queries that are registered: what they were made for is declared otherwise now."""
    connection.execute(update(QUERIES).where(QUERIES.c.to_version == OPEN).values(digest=None))


def _declare(
    connection: Connection, redeclared: Sequence[tuple[Stream | None, Stream | None]], version: int
) -> None:
    for before, _ in redeclared:
        if before is not None:
            connection.execute(
                update(STREAMS)
                .where(STREAMS.c.key == before.name.lower(), STREAMS.c.to_version == OPEN)
                .values(to_version=version)
            )
    rows: list[dict[str, Any]] = [stream_row(after, version) for _, after in redeclared if after is not None]
    if rows:
        connection.execute(insert(STREAMS), rows)
