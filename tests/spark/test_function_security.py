"""The text of a query runs no code and reads nothing but the columns of its stream, however it is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eddyline import QueryError, QuerySet
from eddyline.runtime.spark.base.schemas import stream_of
from eddyline.runtime.spark.functions import spark_resolver
from tests.spark.function_rows import judged, matched, some_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Iterator[DataFrame]:
    df = some_rows(spark).cache()
    yield df
    df.unpersist()


# Nothing of these may ever be computed; each is refused when the query is compiled.
ATTACKS = [
    "reflect('java.lang.System', 'getProperty', 'user.home') = a",
    "java_method('java.lang.System', 'getProperty', 'user.home') = a",
    "exists(arr, x -> reflect('java.lang.System', 'getProperty', 'user.home') = a)",
    "IDENTIFIER('refl' || 'ect')('java.lang.System', 'getProperty', 'user.home') = a",
    "`reflect`('java.lang.System', 'getProperty', 'user.home') = a",
    "builtin.reflect('java.lang.System', 'getProperty', 'user.home') = a",
    "input_file_name() = a",
    "_metadata.file_path = a",
    "exists(arr, x -> _metadata.file_path = a)",
    "current_user() = a",
    "session_user = a",
    "current_catalog() = a OR n & 1 = 1",
    "eddyline_secret = a",
    "exists(arr, x -> eddyline_secret = a)",
    "session.eddyline_secret = a AND n & 1 = 1",
    "a = (SELECT 1)",
    "exists(SELECT 1)",
    "exists(arr, x -> x IN (SELECT 1))",
    "n IN (TABLE t)",
    "from_xml(a, 'x INT', map('rowValidationXSDPath', '/etc/passwd')) IS NULL",
    "from_protobuf(bin, 'A', '/etc/passwd') IS NULL",
    "now() > ts",
    "unix_timestamp() > n",
    "ts > TIMESTAMP'now' AND n & 1 = 1",
    "exists(arr, x -> rand() > 0.5)",
    "struct(*) IS NULL",
    "raise_error(a) IS NULL",
]


def test_attacks_are_refused(spark: SparkSession, rows: DataFrame) -> None:
    spark.sql("DECLARE OR REPLACE VARIABLE eddyline_secret STRING DEFAULT 'kitten'")
    try:
        stream = stream_of("s", rows.schema)
        resolver = spark_resolver(spark, [stream])
        assert judged(rows, {"q": "eddyline_secret = a"}) == {"q": [0]}, (
            "Spark itself would read the variable"
        )
        queries = {text: f"SELECT * FROM s WHERE {text}" for text in ATTACKS}
        qs = QuerySet.build(queries, streams=[stream], resolver=resolver, on_error="collect")
        assert sorted(str(e.query) for e in qs.problems) == sorted(ATTACKS)
        items = {text: f"SELECT {text} AS x FROM s" for text in ATTACKS}
        qs = QuerySet.build(items, streams=[stream], resolver=resolver, on_error="collect")
        assert sorted(str(e.query) for e in qs.problems) == sorted(ATTACKS)
    finally:
        spark.sql("DROP TEMPORARY VARIABLE eddyline_secret")


def test_substitution_reaches_no_text_of_ours(spark: SparkSession, rows: DataFrame) -> None:
    """With the setting that users have by default, `${...}` would be replaced even inside of a constant."""
    stream = stream_of("s", rows.schema)
    setting = "spark.sql.variable.substitute"
    spark.conf.set(setting, "true")
    try:
        told = judged(rows, {"q": "length('${env:PATH}') = length(concat('$', '{env:PATH}'))"})
        assert told == {"q": []}, "Spark itself would replace it"
        same = "md5('11') = md5('11')"
        for text in (
            "'${env:PATH}'",
            '"${env:PATH}"',
            "r'${env:PATH}'",
            "'$' '{env:PATH}'",
            "'${env' ':PATH}'",
        ):
            conditions = [
                f"md5({text}) = md5(concat(char(36), '{{env:PATH}}'))",
                f"exists(arr, x -> {text} = concat(char(36), '{{env:PATH}}') OR arr IS NULL)",
                f"concat_ws('', {text}, 'x') = concat_ws('', char(36), '{{env:PATH}}x')",
                f"concat_ws('', '$', '{{env:PATH}}') = {text} AND {same}",
            ]
            queries = {condition: f"SELECT * FROM s WHERE {condition}" for condition in conditions}
            qs = QuerySet.build(queries, streams=[stream], resolver=spark_resolver(spark, [stream]))
            assert [len(rows) for rows in matched(qs, rows).values()] == [4, 2, 4, 4]
        schema = {"q": "SELECT * FROM s WHERE from_json(a, '${env:PATH} INT') IS NULL"}
        with pytest.raises(QueryError, match="Spark refuses it: Syntax error at or near '\\$'"):
            QuerySet.build(schema, streams=[stream], resolver=spark_resolver(spark, [stream]))
    finally:
        spark.conf.set(setting, "false")


def test_xml_reads_no_files(spark: SparkSession, rows: DataFrame, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("kitten")
    text = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]><a>&x;</a>'
    stream = stream_of("s", rows.schema)
    queries = {
        "a": f"SELECT * FROM s WHERE xpath_string('{text}', '/a') = 'kitten'",
        "b": f"SELECT * FROM s WHERE from_xml('{text}', 'a STRING').a = 'kitten'",
        "c": f"SELECT * FROM s WHERE exists(arr, x -> xpath_string('{text}', '/a') = 'kitten')",
    }
    qs = QuerySet.build(queries, streams=[stream], resolver=spark_resolver(spark, [stream]))
    assert matched(qs, rows) == {"a": [], "b": [], "c": []}
