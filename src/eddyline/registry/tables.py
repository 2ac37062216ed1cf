"""The tables of a registry.

A row of `queries` holds one query from one version up to, and without, another; `OPEN` stands for "still so".

    id      from  to    sql                 revision  number
    cheap      1   3    ... price < 10             1       0       versions 1 and 2
    cheap      3  OPEN  ... price < 8              2       7       version 3 and later

Invariant: the rows of one id do not overlap, and at most one of them is open.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, MetaData, String, Table, Text

OPEN: Final = 2**62  # no version: the end of what still holds
PREFIX: Final = "eddyline_"  # a PostgreSQL database may hold other tables, too

METADATA: Final = MetaData()

SCHEMA_VERSION: Final = Table(
    PREFIX + "schema_version", METADATA, Column("format", Integer, primary_key=True, autoincrement=False)
)

# One row: what tells this registry from every other one, also from one that stands in its place later.
IDENTITY: Final = Table(PREFIX + "identity", METADATA, Column("identity", String(32), primary_key=True))

VERSIONS: Final = Table(
    PREFIX + "versions",
    METADATA,
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("author", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("added", Integer, nullable=False),
    Column("changed", Integer, nullable=False),
    Column("removed", Integer, nullable=False),
    Column("next_number", BigInteger, nullable=False),  # the first query number not given away
    Column("join_window", Text),  # of joins that name no time bound: a length as people write it, or a number
)

QUERIES: Final = Table(
    PREFIX + "queries",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("from_version", BigInteger, primary_key=True, autoincrement=False),
    Column("to_version", BigInteger, nullable=False),
    Column("sql", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("state", String(16), nullable=False),
    Column("tags", Text, nullable=False),  # a JSON array
    Column("owner", Text),
    Column("destination", Text),
    Column("metadata", Text, nullable=False),  # a JSON object
    Column("spark_only", Boolean(create_constraint=False), nullable=False),
    # of the normal form, for the declarations of the newest version; NULL: not known
    Column("digest", String(34)),
    Column("same_as", Text),  # the query whose alias it was let in as
    Index(PREFIX + "queries_open", "id", "to_version", unique=True),
    Index(PREFIX + "queries_from", "from_version"),
    Index(PREFIX + "queries_to", "to_version"),
    Index(PREFIX + "queries_digest", "digest", "to_version"),
)

STREAMS: Final = Table(
    PREFIX + "streams",
    METADATA,
    Column("key", Text, primary_key=True),  # the name in lower case
    Column("from_version", BigInteger, primary_key=True, autoincrement=False),
    Column("to_version", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("schema", Text, nullable=False),  # Arrow's form of a schema, in base64
    Column("event_time", Text),
    Column("lateness", Text),  # lengths of time, as people write them; numbers where the event time is one
    Column("ahead", Text),
    Column("idle", Text),
    Index(PREFIX + "streams_open", "key", "to_version", unique=True),
)

BUDGETS: Final = Table(
    PREFIX + "budgets",
    METADATA,
    Column("scope", String(16), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("bytes", BigInteger),
    Column("nanoseconds", Float(53)),
    Column("over", String(16), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("author", Text, nullable=False),
)

COUNTERS: Final = Table(
    PREFIX + "counters",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

# The last batch of each origin whose counts were added: a batch that is delivered again is not counted again.
COUNTED: Final = Table(
    PREFIX + "counted",
    METADATA,
    Column("origin", Text, primary_key=True),
    Column("batch", BigInteger, nullable=False),
)
