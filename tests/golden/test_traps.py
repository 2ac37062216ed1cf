"""Places where SQL engines go wrong: golden rows of queries over one small table, judged by Spark.

Where Spark's ANSI mode fails on a row, its failing-as-NULL forms are the judge. Where there is no such form the expected
half says `fails`: Spark fails, and here the operation is NULL, so that no row matches. `make golden` writes what Spark
says.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from eddyline import reference
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.query import BoundQuery, Query
from eddyline.sql import bind, render
from tests.comparisons import compared
from tests.differential.agreement import canonical
from tests.differential.judge import load, settings

FOLDER = Path(__file__).parent / "traps"
ZONE = "Europe/Berlin"
UTC = datetime.UTC

COLUMNS = {
    "id": pa.int32(),
    "i32": pa.int32(),
    "i64": pa.int64(),
    "f32": pa.float32(),
    "f64": pa.float64(),
    "dec": pa.decimal128(10, 2),
    "s": pa.string(),
    "b": pa.bool_(),
    "day": pa.date32(),
    "ts": pa.timestamp("us", tz="UTC"),
    "ntz": pa.timestamp("us"),
    "ns": pa.timestamp("ns"),
}
NEW_YEAR = datetime.datetime(2020, 1, 1)
ROWS: tuple[tuple[object, ...], ...] = (
    (
        1,
        1,
        1,
        0.1,
        0.1,
        Decimal("1.50"),
        "5",
        True,
        NEW_YEAR.date(),
        NEW_YEAR,
        NEW_YEAR,
        1_577_836_800_000_000_001,
    ),
    (2, -1, 2**53 + 1, 0.5, 2.0**53, Decimal("0.00"), "5.0", False, None, NEW_YEAR, None, 999),
    (3, 5, 2**63 - 1, float("nan"), float("nan"), Decimal("5.00"), " 5 ", None, None, None, NEW_YEAR, -1),
    (4, 0, -(2**63), -0.0, -0.0, None, "straße", True, datetime.date(1969, 12, 31), None, None, 1000),
    (5, 2**31 - 1, 2**53, float("inf"), float("inf"), Decimal("-0.01"), "a%b", False, None, None, None, None),
    (6, -(2**31), 0, 0.0, 0.0, Decimal("99999999.99"), "a\\b", None, None, None, None, None),
    (7, None, None, None, None, None, None, None, None, None, None, None),
    (
        8,
        3,
        3,
        3.0,
        3.0,
        Decimal("3.00"),
        "İΣ",
        True,
        None,
        NEW_YEAR - datetime.timedelta(hours=1),
        None,
        None,
    ),
)
STREAM = Stream("traps", pa.schema(list(COLUMNS.items())))
BATCH = pa.RecordBatch.from_arrays(
    [pa.array([row[i] for row in ROWS], kind) for i, kind in enumerate(COLUMNS.values())],
    schema=STREAM.schema,
)


@dataclass(frozen=True)
class Case:
    notes: tuple[str, ...]
    sql: str
    expected: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((*self.notes, self.sql, "----", *self.expected)) + "\n"

    @property
    def fails(self) -> bool:
        return self.expected == ("fails",)


def cases(file: Path) -> list[Case]:
    found = []
    for piece in file.read_text(encoding="utf-8").split("\n\n"):
        lines = piece.strip("\n").split("\n")
        head = lines.index("----")
        notes = tuple(line for line in lines[:head] if line.startswith("#"))
        found.append(Case(notes, "\n".join(lines[len(notes) : head]), tuple(lines[head + 1 :])))
    return found


FILES = sorted(FOLDER.glob("*.txt"))
CASES = [pytest.param(case, id=f"{file.stem}: {case.sql}") for file in FILES for case in cases(file)]


def text(values: tuple[object, ...]) -> str:
    return " | ".join("NULL" if value is None else str(value) for value in values)


@pytest.mark.parametrize("case", CASES)
def test_reference(case: Case) -> None:
    bound = bind(Query("q", case.sql), [STREAM], time_zone=ZONE)
    rows = [row for row in reference.rows(BATCH, STREAM) if true(bound, row)]
    assert tuple(text(outputs(bound, row)) for row in rows) == (() if case.fails else case.expected)


def true(bound: BoundQuery, row: object) -> bool:
    return reference.evaluate(bound.predicate, row, time_zone=ZONE) is True


def outputs(bound: BoundQuery, row: object) -> tuple[object, ...]:
    return tuple(reference.evaluate(output.expression, row, time_zone=ZONE) for output in bound.outputs)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_spark(spark: SparkSession, file: Path, rewrite_golden: bool) -> None:
    found = []
    with settings(spark, spark__sql__session__timeZone=ZONE):
        load(spark, BATCH).createOrReplaceTempView("traps")
        for case in cases(file):
            compared("Spark: traps", 1)
            found.append(Case(case.notes, case.sql, tuple(ask(spark, case.sql))))
    if rewrite_golden:
        file.write_text("\n".join(map(str, found)), encoding="utf-8")
    wrong = [f"{a}\nbut Spark says {b.expected}" for a, b in zip(cases(file), found, strict=True) if a != b]
    assert not wrong, "\n".join(wrong)


def ask(spark: SparkSession, sql: str) -> list[str]:
    """The rows that Spark gives, in order of the table; with failing-as-NULL forms where it fails."""
    table = rows_of(spark, sql)
    if table is None:
        bound = bind(Query("q", sql), [STREAM], time_zone=ZONE)
        columns = ", ".join(
            f"{render(o.expression, try_forms=True)} AS c{i}" for i, o in enumerate(bound.outputs)
        )
        table = rows_of(spark, f"SELECT {columns} FROM traps WHERE {render(bound.predicate, try_forms=True)}")
    if table is None:
        return ["fails"]
    return [text(row) for row in zip(*(canonical(column) for column in table.columns), strict=True)]


def rows_of(spark: SparkSession, sql: str) -> pa.Table | None:
    try:
        return spark.sql(sql).toArrow()
    except PySparkException:
        return None


def test_the_table_has_every_kind() -> None:
    assert STREAM.types["ntz"] == t.TIMESTAMP_NTZ
    assert STREAM.types["ns"] == t.TIMESTAMP_NTZ
    assert STREAM.types["ts"] == t.TIMESTAMP
