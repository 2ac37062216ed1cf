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
SPELLINGS = ("EPOCH", " Epoch ", "epoch UTC", "epoch  Europe/Paris", "epoch+01:00")
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


def matched(conditions: list[str]) -> list[bool]:
    """Whether the one row satisfies each condition, by the reference and by the engine."""
    texts = {str(i): f"SELECT * FROM events WHERE {condition}" for i, condition in enumerate(conditions)}
    found = reference.match(texts, ROW, streams=[EVENTS], time_zone=ZONE).counts()
    assert QuerySet.build(texts, streams=[EVENTS], time_zone=ZONE).match(ROW).counts() == found
    return [count == 1 for count in found.values()]


def test_epoch(spark: SparkSession) -> None:
    """One job: a column for each condition."""
    conditions = [form.format("epoch") for form in (*FORMS, *TYPED)]
    conditions += [form.format(word) for form in FORMS[:3] for word in SPELLINGS]
    conditions += [f"day = TRY_CAST('{word}' AS DATE)" for word in NO_MOMENTS]
    row = "SELECT DATE'1970-01-01' AS day, timestamp_micros(0) AS at, TIMESTAMP_NTZ'1970-01-01 00:00:00' AS clock, 'epoch' AS t"
    columns = ", ".join(f"({condition}) IS TRUE" for condition in conditions)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    try:
        [expected] = spark.sql(f"SELECT {columns} FROM ({row})").collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    found = matched(conditions)
    wrong = [c for c, ours, theirs in zip(conditions, found, expected, strict=True) if ours != theirs]
    assert not wrong, wrong
    assert any(found) and not all(found)


@pytest.mark.parametrize("form", [*FORMS[:-1], *TYPED])
def test_words_that_the_clock_decides(form: str) -> None:
    for word in ("now", "today", "Tomorrow", " yesterday", "today Europe/Paris"):
        sql = f"SELECT * FROM events WHERE {form.format(word)}"
        with pytest.raises(QueryError, match="the clock decides"):
            QuerySet.build({"q": sql}, streams=[EVENTS])
        with pytest.raises(QueryError, match="the clock decides"):
            reference.match({"q": sql}, ROW, streams=[EVENTS])


def test_words_that_are_only_text() -> None:
    assert matched(["t <> 'today'", "t = 'now'", "concat(t, 'now') = 'epochnow'"]) == [True, False, True]
