"""Words such as `epoch` and `today`: every form in which Spark reads them, and what becomes of it here."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import QuerySet, Stream, reference
from eddyline.errors import QueryError

EVENTS = Stream(
    "events",
    pa.schema(
        {"day": pa.date32(), "at": pa.timestamp("us", "UTC"), "clock": pa.timestamp("us"), "t": pa.string()}
    ),
)
ZONE = "America/New_York"
SPELLINGS = ("epoch", "EPOCH", " Epoch ", "epoch UTC", "epoch  Europe/Paris", "epoch+01:00")
NO_MOMENTS = ("epoch xx", "epochs", "now UTC")
FORMS = (
    "day = '{}'",
    "at = '{}'",
    "clock = '{}'",
    "day IN ('2020-01-01', '{}')",
    "day BETWEEN '{}' AND '2020-01-01'",
    "day <=> '{}'",
    "day = CAST('{}' AS DATE)",
    "at = TRY_CAST('{}' AS TIMESTAMP)",
    "clock = CAST('{}' AS TIMESTAMP_NTZ)",
    "day = CAST(concat('', '{}') AS DATE)",
    "day = to_date('{}')",
    "at = to_timestamp('{}')",
    "year('{}') = 1970",
    "hour('{}') = 19",
    "date_add('{}', 1) > day",
    "datediff(day, '{}') = 0",
    "coalesce(nullif(day, day), '{}') = day",
    "CASE day WHEN '{}' THEN true END",
    "t = '{}'",
)
TYPED = ("day = DATE'{}'", "at = TIMESTAMP'{}'", "at = TIMESTAMP_LTZ '{}'", "clock = TIMESTAMP_NTZ'{}'")
ROW = pa.record_batch({"day": [0], "at": [0], "clock": [0], "t": ["epoch"]}, schema=EVENTS.schema)


def matched(condition: str) -> bool:
    """Whether the one row matches, by the reference and by both ways to compile."""
    sql = f"SELECT * FROM events WHERE {condition}"
    found = reference.match({"q": sql}, ROW, streams=[EVENTS], time_zone=ZONE)
    queries = QuerySet.build({"one": sql, "two": sql}, streams=[EVENTS], time_zone=ZONE).match(ROW)
    assert queries.counts() == dict.fromkeys(("one", "two"), len(found))
    return len(found) == 1


def test_epoch(spark: SparkSession) -> None:
    """One job: a column for each condition."""
    conditions = [form.format(word) for form in (*FORMS, *TYPED) for word in SPELLINGS]
    conditions += [f"day = TRY_CAST('{word}' AS DATE)" for word in NO_MOMENTS]
    row = "SELECT DATE'1970-01-01' AS day, timestamp_micros(0) AS at, TIMESTAMP_NTZ'1970-01-01 00:00:00' AS clock, 'epoch' AS t"
    columns = ", ".join(f"({condition}) IS TRUE" for condition in conditions)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    try:
        [expected] = spark.sql(f"SELECT {columns} FROM ({row})").collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    found = [matched(condition) for condition in conditions]
    wrong = [c for c, ours, theirs in zip(conditions, found, expected, strict=True) if ours != theirs]
    assert not wrong, wrong
    assert any(found) and not all(found)


@pytest.mark.parametrize("word", ["now", "today", "Tomorrow", " yesterday", "today Europe/Paris"])
@pytest.mark.parametrize("form", [*FORMS[:-1], *TYPED])
def test_words_that_the_clock_decides(form: str, word: str) -> None:
    sql = f"SELECT * FROM events WHERE {form.format(word)}"
    for compiled in (
        lambda: QuerySet.build({"q": sql}, streams=[EVENTS]),
        lambda: reference.match({"q": sql}, ROW, streams=[EVENTS]),
    ):
        with pytest.raises(QueryError, match="the clock decides"):
            compiled()


def test_words_that_are_only_text() -> None:
    assert matched("t <> 'today'") and not matched("t = 'now'") and matched("concat(t, 'now') = 'epochnow'")
