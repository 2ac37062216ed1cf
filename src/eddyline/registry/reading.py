"""Looks at a registry: the queries and streams of any version, versions, one query's history, differences."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Table, and_, func, not_, null, or_, select, text

from eddyline.errors import RegistryError
from eddyline.model.catalog import Stream
from eddyline.model.query_state import State
from eddyline.registry.rows import (
    ENTRY,
    SINCE,
    VERSION,
    entries_of,
    join_window_of,
    stream_of,
    tag_text,
    version_of,
)
from eddyline.registry.tables import OPEN, QUERIES, SCHEMA_VERSION, STREAMS, VERSIONS
from eddyline.registry.values import Diff, Entry, Step, Version

CHUNK: Final = 500  # ids in one question
MANY: Final = 10_000  # ids from which on everything is read instead
EVERY_COLUMN: Final = text("*")  # an older registry that may only be read has fewer than the tables say


def newest(connection: Connection) -> tuple[int, int]:
    """The version in force, and the first query number that is not given away."""
    last = select(VERSIONS.c.version, VERSIONS.c.next_number).order_by(VERSIONS.c.version.desc()).limit(1)
    row = connection.execute(last).first()
    return (0, 0) if row is None else (row[0], row[1])


def check_version(connection: Connection, version: int) -> None:
    """Refuse a version that never was; version 0 is the empty registry."""
    last = newest(connection)[0]
    if not 0 <= version <= last:
        raise RegistryError(
            f"there is no version {version}", hint=f"the versions are 0, which is empty, to {last}"
        )


def at(table: Table, version: int | None) -> ColumnElement[bool]:
    """Which rows hold at a version; None for now."""
    if version is None:
        return table.c.to_version == OPEN
    return and_(table.c.from_version <= version, table.c.to_version > version)


def entry_columns(connection: Connection) -> list[ColumnElement[Any]]:
    """The columns of entries; those that an older registry, which may only be read, does not have yet are NULL."""
    format = connection.scalar(select(SCHEMA_VERSION.c.format)) or 0
    return [c if SINCE.get(c.name, 0) <= format else null().label(c.name) for c in ENTRY]


def read_entries(
    connection: Connection,
    version: int | None = None,
    *,
    state: State | None = None,
    tags: Collection[str] = (),
    owner: str | None = None,
    search: str | None = None,
) -> list[Entry]:
    """The queries of a version that fit all filters, in the order of their numbers."""
    wanted = [at(QUERIES, version)]
    if state is not None:
        wanted.append(QUERIES.c.state == state.value)
    if owner is not None:
        wanted.append(QUERIES.c.owner == owner)
    # a tag's text inside the array's text, which may say too much and never too little
    wanted += [QUERIES.c.tags.contains(tag_text([tag])[1:-1], autoescape=True) for tag in tags]
    if search:
        columns = (QUERIES.c.id, QUERIES.c.sql, QUERIES.c.destination, QUERIES.c.metadata)
        found_in = [column.icontains(search, autoescape=True) for column in columns]
        escaped = json.dumps(search)[1:-1]  # as it stands in the metadata
        wanted.append(or_(*found_in, QUERIES.c.metadata.icontains(escaped, autoescape=True)))
    rows = connection.execute(select(*entry_columns(connection)).where(*wanted).order_by(QUERIES.c.number))
    found = entries_of(rows)
    asked = set(tags)
    return [entry for entry in found if asked.issubset(entry.tags)] if asked else found


def read_entry(connection: Connection, id: str, version: int | None = None) -> Entry | None:
    """The query of an id at a version."""
    rows = connection.execute(
        select(*entry_columns(connection)).where(QUERIES.c.id == id, at(QUERIES, version))
    )
    found = entries_of(rows)
    return found[0] if found else None


def read_ids(connection: Connection) -> list[str]:
    """The ids that are registered now."""
    return list(connection.scalars(select(QUERIES.c.id).where(at(QUERIES, None))))


def entries_by_id(connection: Connection, ids: Collection[str]) -> dict[str, Entry]:
    """The queries now registered under some ids."""
    if len(ids) > MANY:
        wanted = set(ids)
        return {entry.id: entry for entry in read_entries(connection) if entry.id in wanted}
    found: dict[str, Entry] = {}
    columns = entry_columns(connection)
    for chunk in chunks(ids):
        rows = connection.execute(select(*columns).where(at(QUERIES, None), QUERIES.c.id.in_(chunk)))
        found.update((entry.id, entry) for entry in entries_of(rows))
    return found


def entries_by_digest(connection: Connection, digests: Collection[str]) -> list[Entry]:
    """The queries now registered whose normal forms have one of some digests, by number."""
    found: list[Entry] = []
    columns = entry_columns(connection)
    for chunk in chunks(digests):
        wanted = select(*columns).where(at(QUERIES, None), QUERIES.c.digest.in_(chunk))
        found += entries_of(connection.execute(wanted))
    return sorted(found, key=lambda entry: entry.number)


def entries_without_digest(connection: Connection, format: str) -> list[Entry]:
    """The queries now registered of which no digest of a format is known; not those that only Spark can read."""
    unknown = or_(QUERIES.c.digest.is_(None), not_(QUERIES.c.digest.startswith(format)))
    wanted = select(*entry_columns(connection)).where(
        at(QUERIES, None), unknown, QUERIES.c.spark_only.is_(False)
    )
    return entries_of(connection.execute(wanted.order_by(QUERIES.c.number)))


def last_revisions(connection: Connection, ids: Collection[str]) -> dict[str, int]:
    """The highest revision that each of some ids ever had."""
    highest = select(QUERIES.c.id, func.max(QUERIES.c.revision)).group_by(QUERIES.c.id)
    if len(ids) > MANY:
        return {row[0]: row[1] for row in connection.execute(highest)}
    found: dict[str, int] = {}
    for chunk in chunks(ids):
        found.update((id, top) for id, top in connection.execute(highest.where(QUERIES.c.id.in_(chunk))))
    return found


def chunks(ids: Iterable[str]) -> Iterable[list[str]]:
    """Ids in pieces that one question takes."""
    listed = list(ids)
    return (listed[first : first + CHUNK] for first in range(0, len(listed), CHUNK))


def read_streams(connection: Connection, version: int | None = None) -> list[Stream]:
    """The streams of a version, in the order in which they were declared."""
    rows = (
        select(EVERY_COLUMN)
        .select_from(STREAMS)
        .where(at(STREAMS, version))
        .order_by(STREAMS.c.from_version, STREAMS.c.key)
    )
    return [stream_of(dict(row)) for row in connection.execute(rows).mappings()]


def read_join_window(connection: Connection, version: int | None = None) -> str | int | None:
    """The join window of a version; None where it has none."""
    wanted = select(EVERY_COLUMN).select_from(VERSIONS).order_by(VERSIONS.c.version.desc()).limit(1)
    if version is not None:
        wanted = wanted.where(VERSIONS.c.version == version)
    row = connection.execute(wanted).mappings().first()
    return None if row is None else join_window_of(dict(row))


def read_versions(connection: Connection, numbers: Collection[int] | None = None) -> list[Version]:
    """All versions, or those of some numbers, the newest last."""
    wanted = select(*VERSION).order_by(VERSIONS.c.version)
    if numbers is not None:
        wanted = wanted.where(VERSIONS.c.version.in_(sorted(numbers)))
    return [version_of(row) for row in connection.execute(wanted)]


def read_history(connection: Connection, id: str) -> list[Step]:
    """What happened to one query, the oldest first."""
    columns = (QUERIES.c.from_version, QUERIES.c.to_version, *entry_columns(connection))
    rows = connection.execute(
        select(*columns).where(QUERIES.c.id == id).order_by(QUERIES.c.from_version)
    ).all()
    entries = entries_of(row[2:] for row in rows)
    bounds = [(row[0], row[1]) for row in rows]
    ends = {end for _, end in bounds if end != OPEN}
    versions = {
        version.number: version
        for version in read_versions(connection, {start for start, _ in bounds} | ends)
    }
    steps: list[Step] = []
    for place, ((start, end), entry) in enumerate(zip(bounds, entries, strict=True)):
        follows = place > 0 and bounds[place - 1][1] == start
        steps.append(Step(versions[start], "changed" if follows else "added", entry))
        if end != OPEN and not (place + 1 < len(bounds) and bounds[place + 1][0] == end):
            steps.append(Step(versions[end], "removed", None))
    return steps


def read_diff(connection: Connection, old: int, new: int) -> Diff:
    """What is different in version `new` from version `old`."""
    check_version(connection, old)
    check_version(connection, new)
    before, after = _only_in(connection, old, new), _only_in(connection, new, old)
    windows = read_join_window(connection, old), read_join_window(connection, new)
    return Diff(
        old,
        new,
        added=tuple(entry for id, entry in after.items() if id not in before),
        removed=tuple(entry for id, entry in before.items() if id not in after),
        changed=tuple(
            (before[id], entry) for id, entry in after.items() if id in before and before[id] != entry
        ),
        streams=stream_pairs(read_streams(connection, old), read_streams(connection, new)),
        join_window=None if windows[0] == windows[1] else windows,
    )


def _only_in(connection: Connection, here: int, there: int) -> dict[str, Entry]:
    """The rows that hold at one version and not at the other."""
    ended = QUERIES.c.to_version <= there if here < there else QUERIES.c.from_version > there
    rows = select(*entry_columns(connection)).where(at(QUERIES, here), ended).order_by(QUERIES.c.number)
    return {entry.id: entry for entry in entries_of(connection.execute(rows))}


def stream_pairs(
    old: Sequence[Stream], new: Sequence[Stream]
) -> tuple[tuple[Stream | None, Stream | None], ...]:
    """Streams that are declared otherwise, as they were and as they are; None where one was not, or is not any more."""
    before = {stream.name.lower(): stream for stream in old}
    after = {stream.name.lower(): stream for stream in new}
    pairs = [(before.get(key), after.get(key)) for key in dict.fromkeys([*before, *after])]
    return tuple((one, other) for one, other in pairs if one != other)
