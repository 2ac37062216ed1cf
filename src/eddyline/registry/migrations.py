"""The form of a registry's tables, and how an older form becomes the newest: one function a step, never edited later.

A new registry goes through all steps, too. So a step that changes a table of an earlier one needs that table as it was
then: keep a copy of it in the earlier step before `tables.py` changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from uuid import uuid4

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    delete,
    insert,
    inspect,
    select,
    text,
)

from eddyline.errors import RegistryError
from eddyline.registry.tables import (
    BUDGETS,
    COUNTED,
    COUNTERS,
    IDENTITY,
    QUERIES,
    SCHEMA_VERSION,
    STREAMS,
    VERSIONS,
)


def make_versions(connection: Connection) -> None:
    """Format 1: versions, queries and streams.

    The tables are as format 1 had them: those in tables.py have columns that later migrations add. SCHEMA_VERSION is
    still the same; freeze it here before it changes.
    """
    streams = Table(
        STREAMS.name,
        MetaData(),
        Column("key", Text, primary_key=True),
        Column("from_version", BigInteger, primary_key=True, autoincrement=False),
        Column("to_version", BigInteger, nullable=False),
        Column("name", Text, nullable=False),
        Column("schema", Text, nullable=False),
        Column("event_time", Text),
        Index("eddyline_streams_open", "key", "to_version", unique=True),
    )
    versions = Table(
        VERSIONS.name,
        MetaData(),
        Column("version", BigInteger, primary_key=True, autoincrement=False),
        Column("at", BigInteger, nullable=False),
        Column("author", Text, nullable=False),
        Column("reason", Text, nullable=False),
        Column("added", Integer, nullable=False),
        Column("changed", Integer, nullable=False),
        Column("removed", Integer, nullable=False),
        Column("next_number", BigInteger, nullable=False),
    )
    queries = Table(
        QUERIES.name,
        MetaData(),
        Column("id", Text, primary_key=True),
        Column("from_version", BigInteger, primary_key=True, autoincrement=False),
        Column("to_version", BigInteger, nullable=False),
        Column("sql", Text, nullable=False),
        Column("revision", Integer, nullable=False),
        Column("number", BigInteger, nullable=False),
        Column("state", String(16), nullable=False),
        Column("tags", Text, nullable=False),
        Column("owner", Text),
        Column("destination", Text),
        Column("metadata", Text, nullable=False),
        Column("spark_only", Boolean(create_constraint=False), nullable=False),
        Index("eddyline_queries_open", "id", "to_version", unique=True),
        Index("eddyline_queries_from", "from_version"),
        Index("eddyline_queries_to", "to_version"),
    )
    for table in (SCHEMA_VERSION, versions, queries, streams):
        table.create(connection)


def add_budgets_and_counters(connection: Connection) -> None:
    """Format 2: what queries may cost, and what they have counted."""
    for table in (BUDGETS, COUNTERS):
        table.create(connection)


def add_counted(connection: Connection) -> None:
    """Format 3: which batches were counted."""
    COUNTED.create(connection)


def add_identity(connection: Connection) -> None:
    """Format 4: which registry this is."""
    IDENTITY.create(connection)
    connection.execute(insert(IDENTITY).values(identity=uuid4().hex))


def add_lengths(connection: Connection) -> None:
    """Format 5: how late tuples of a stream may be, how far ahead, and after how long it is idle."""
    for name in ("lateness", "ahead", "idle"):
        connection.execute(text(f"ALTER TABLE {STREAMS.name} ADD COLUMN {name} TEXT"))


def add_join_window(connection: Connection) -> None:
    """Format 6: the window of joins that name no time bound."""
    connection.execute(text(f"ALTER TABLE {VERSIONS.name} ADD COLUMN join_window TEXT"))


def add_digests(connection: Connection) -> None:
    """Format 7: what tells queries that say the same, and whose alias a query is."""
    connection.execute(text(f"ALTER TABLE {QUERIES.name} ADD COLUMN digest VARCHAR(34)"))
    connection.execute(text(f"ALTER TABLE {QUERIES.name} ADD COLUMN same_as TEXT"))
    connection.execute(text(f"CREATE INDEX eddyline_queries_digest ON {QUERIES.name} (digest, to_version)"))


MIGRATIONS: Final[tuple[Callable[[Connection], None], ...]] = (
    make_versions,
    add_budgets_and_counters,
    add_counted,
    add_identity,
    add_lengths,
    add_join_window,
    add_digests,
)
FORMAT: Final = len(MIGRATIONS)
READABLE: Final = 3  # the oldest form in which nothing is missing that readers ask for


def identity_of(connection: Connection) -> str | None:
    """What tells this registry from every other one."""
    return connection.scalar(select(IDENTITY.c.identity))


def format_of(connection: Connection, where: str, *, shared: bool) -> int:
    """The form in which a database is, 0 for an empty one; what is no registry or a newer one is refused.

    `shared` says that other tables may stand beside ours, as in a PostgreSQL database.
    """
    names = set(inspect(connection).get_table_names())
    if SCHEMA_VERSION.name not in names:
        if names and not shared:
            raise RegistryError(
                f'"{where}" is a database of something else: it has the table "{min(names)}"',
                hint="name another file",
            )
        return 0
    found = list(connection.scalars(select(SCHEMA_VERSION.c.format)))
    if len(found) != 1:
        raise RegistryError(f'the registry "{where}" is damaged: it does not say its format')
    if found[0] > FORMAT:
        raise RegistryError(
            f'the registry "{where}" has format {found[0]}, and this version of eddyline knows formats up to {FORMAT}',
            hint="use the version of eddyline that wrote it, or a newer one",
        )
    return int(found[0])


def migrate(connection: Connection, found: int) -> None:
    """Bring a database from the form `found` to the newest, inside the caller's transaction."""
    for step in MIGRATIONS[found:]:
        step(connection)
    connection.execute(delete(SCHEMA_VERSION))
    connection.execute(insert(SCHEMA_VERSION).values(format=FORMAT))
