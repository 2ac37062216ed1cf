"""Types of expressions: golden files, bound by us and judged by Spark."""

from pathlib import Path

import pyarrow as pa
import pytest

from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.sql import bind

FOLDER = Path(__file__).parent / "binding"
STREAM = Stream(
    "t",
    pa.schema(
        [
            ("b", pa.bool_()),
            ("i8", pa.int8()),
            ("i16", pa.int16()),
            ("i32", pa.int32()),
            ("i64", pa.int64()),
            ("f", pa.float32()),
            ("d", pa.float64()),
            ("dec", pa.decimal128(10, 2)),
            ("dec20", pa.decimal128(20, 0)),
            ("dec38", pa.decimal128(38, 10)),
            ("s", pa.string()),
            ("bin", pa.binary()),
            ("dt", pa.date32()),
            ("ts", pa.timestamp("us", "UTC")),
            ("tn", pa.timestamp("us")),
            ("ai", pa.list_(pa.int32())),
            ("as_", pa.list_(pa.string())),
            ("m", pa.map_(pa.string(), pa.int32())),
            ("st", pa.struct([("x", pa.int32()), ("y", pa.string())])),
        ]
    ),
)
DDL = ", ".join(f"{name} {kind}" for name, kind in STREAM.types.items())


def lines(file: str) -> list[str]:
    text = (FOLDER / file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def typed(file: str) -> list[tuple[str, str]]:
    return [(a, b) for a, b in (line.rsplit(" => ", 1) for line in lines(file))]


def our_type(expression: str) -> str:
    return str(bind(Query("q", f"SELECT {expression} AS r FROM t"), [STREAM]).outputs[0].expression.type)


@pytest.mark.parametrize(("expression", "expected"), typed("types.txt"))
def test_types(expression: str, expected: str) -> None:
    # Eddyline keeps one kind of day-time and one of year-month interval; Spark also tells the fields apart.
    months = "year" in expected or "month" in expected
    interval = "interval year to month" if months else "interval day to second"
    assert our_type(expression) == (interval if expected.startswith("interval") else expected)


@pytest.mark.parametrize("expression", lines("refused.txt") + [a for a, _ in typed("narrower.txt")])
def test_refused(expression: str) -> None:
    with pytest.raises(QueryError) as caught:
        our_type(expression)
    assert caught.value.span is not None


def test_spark_gives_the_same_types(spark) -> None:
    table = spark.createDataFrame([], DDL)
    table.createOrReplaceTempView("t")
    expected = typed("types.txt") + typed("narrower.txt")
    frame = spark.sql("SELECT " + ", ".join(f"{a} AS c{i}" for i, (a, _) in enumerate(expected)) + " FROM t")
    found = [(a, kind) for (a, _), (_, kind) in zip(expected, frame.dtypes, strict=True)]
    assert found == expected


def test_spark_refuses_the_same(spark) -> None:
    spark.createDataFrame([], DDL).createOrReplaceTempView("t")
    accepted = []
    for expression in lines("refused.txt"):
        try:
            spark.sql(f"SELECT {expression} AS r FROM t")
        except Exception:
            continue
        accepted.append(expression)
    assert accepted == []
