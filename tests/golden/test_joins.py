"""Joins bound: golden files of a query and what it becomes, or of a query and why it is refused.

A case is the query, and the bound join as SQL, or the error; see `golden_cases.py`.
Spark is given both halves of an accepted case, and has to find the same rows for them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.join import BoundJoin, virtual_source
from eddyline.model.query import Query
from eddyline.sql import bind, render_join
from tests.comparisons import compared
from tests.golden.golden_cases import cases, check_golden

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).parent / "joins"
STREAMS = [
    Stream(
        "quotes",
        pa.schema(
            [
                ("price", pa.float64()),
                ("symbol", pa.string()),
                ("lot", pa.int32()),
                ("ts", pa.timestamp("us", "UTC")),
                ("venue", pa.struct([("name", pa.string()), ("t", pa.int32())])),
                ("bid", pa.int64()),
            ]
        ),
    ),
    Stream(
        "trades",
        pa.schema(
            [
                ("symbol", pa.string()),
                ("Price", pa.float64()),
                ("lot", pa.int64()),
                ("ts", pa.timestamp("us", "UTC")),
                ("day", pa.date32()),
                ("venue", pa.list_(pa.string())),
                ("odd.name", pa.int32()),
            ]
        ),
    ),
    Stream("market.orders", pa.schema([("symbol", pa.string()), ("clock", pa.time64("us"))])),
]
BY_NAME = {stream.name: stream for stream in STREAMS}


def bound(sql: str) -> BoundJoin:
    found = bind(Query("q", sql), STREAMS)
    assert isinstance(found, BoundJoin)
    return found


def outcome(sql: str) -> str:
    try:
        text = render_join(bound(sql))
    except QueryError as error:
        return str(error)
    return text.replace(" FROM ", "\nFROM ").replace(" ON ", "\nON ")


@pytest.mark.parametrize("file", ["bound.txt", "refused.txt"])
def test_golden(file: str, rewrite_golden: bool) -> None:
    check_golden(FOLDER / file, outcome, rewrite=rewrite_golden)


@pytest.mark.parametrize("sql", cases(FOLDER / "bound.txt"))
def test_bound_again(sql: str) -> None:
    """What a join is rendered as means the same, and speaks of columns of the virtual source."""
    join = bound(sql)
    text = render_join(join)
    assert render_join(bound(text)) == text
    virtual = virtual_source(join.sources, BY_NAME)
    names = {output.name.lower() for output in join.outputs}
    assert len(names) == len(join.outputs) and virtual.name == join.stream


@pytest.mark.parametrize("sql", cases(FOLDER / "refused.txt"))
def test_refused(sql: str) -> None:
    with pytest.raises(QueryError) as caught:
        bound(sql)
    assert caught.value.span is not None and caught.value.query == "q"


ROWS = {
    "quotes": [
        "(1.5D, 'A', 1, TIMESTAMP'2026-01-01 00:00:00Z', named_struct('name', 'x', 't', 1), 5L)",
        "(2.5D, 'A', 2, TIMESTAMP'2026-01-01 00:00:03Z', named_struct('name', 'y', 't', 2), 6L)",
        "(2.5D, 'B', CAST(NULL AS INT), TIMESTAMP'2026-01-01 00:00:04Z', NULL, 7L)",
        "(CAST('NaN' AS DOUBLE), NULL, 2, TIMESTAMP'2026-01-01 00:00:05Z', named_struct('name', NULL, 't', 3), NULL)",
    ],
    "trades": [
        "('A', 1.6D, 1L, TIMESTAMP'2026-01-01 00:00:01Z', DATE'2026-01-01', array('x'), 1)",
        "('A', 2.5D, 2L, TIMESTAMP'2026-01-01 00:00:03Z', DATE'2026-01-02', array('y', 'z'), 2)",
        "('B', 9.0D, 5000000000L, TIMESTAMP'2026-01-01 00:00:02Z', NULL, NULL, NULL)",
        "(NULL, 2.5D, 2L, TIMESTAMP'2026-01-01 00:00:06Z', DATE'2026-01-01', array(), 4)",
    ],
    "market.orders": ["('A', NULL)", "('C', NULL)"],
}


@pytest.mark.long
def test_spark_finds_the_same_rows(spark: SparkSession) -> None:
    for stream in STREAMS:
        columns = ", ".join(f"`{name}`" for name in stream.schema.names)
        rows = ", ".join(ROWS[stream.name])
        spark.sql(
            f"CREATE OR REPLACE TEMP VIEW `{stream.name}` AS SELECT * FROM VALUES {rows} AS r({columns})"
        )
    for sql in cases(FOLDER / "bound.txt"):
        join = bound(sql)
        text = sql.replace("market.orders", "`market.orders`")  # Spark would look for a database "market"
        given, written = spark.sql(text), spark.sql(render_join(join))
        assert sorted(map(repr, (tuple(row) for row in given.collect()))) == sorted(
            map(repr, (tuple(row) for row in written.collect()))
        ), sql
        assert len(given.columns) == len(join.outputs), sql
        compared("Spark: joins bound", 1)
