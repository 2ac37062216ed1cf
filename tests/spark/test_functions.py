"""Every deterministic scalar function of Spark works in a WHERE and in a SELECT list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from eddyline import QueryError, QuerySet
from eddyline.compile import Compiler
from eddyline.errors import EddylineError
from eddyline.functions import table
from eddyline.model.expression import is_external
from eddyline.model.query import Query
from eddyline.runtime.spark.base.schemas import stream_of
from eddyline.runtime.spark.functions import (
    culprits,
    external_name,
    externals_of,
    find_culprits,
    pin_text,
    spark_resolver,
    with_externals,
)
from eddyline.sql import refused
from eddyline.sql.spark_only import functions as spark_only
from tests.spark.function_rows import CONDITIONS, interpreted, judged, matched, some_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ITEMS_QUERY = "SELECT * FROM s WHERE levenshtein(a, b) < 3"
ITEMS = ["levenshtein(a, b)", "transform(arr, x -> x + 1)", "n & 1", "sha2(concat(a, 'x'), 256)", "d * pi()"]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Iterator[DataFrame]:
    df = some_rows(spark).cache()
    yield df
    df.unpersist()


def test_conditions(spark: SparkSession, rows: DataFrame) -> None:
    stream = stream_of("s", rows.schema)
    conditions = {f"q{number}": text for number, text in enumerate(CONDITIONS)}
    queries = {id: f"SELECT * FROM s WHERE {text.split(' ## ')[0]}" for id, text in conditions.items()}
    qs = QuerySet.build(
        queries, streams=[stream], resolver=spark_resolver(spark, [stream]), on_error="collect"
    )
    assert [f"{conditions[str(e.query)]}: {e.message}" for e in qs.problems] == []
    with interpreted(spark):
        told = judged(rows, {id: text.split(" ## ")[-1] for id, text in conditions.items()})
        found = matched(qs, rows)
    assert {conditions[id]: found[id] for id in told if found[id] != told[id]} == {}
    assert sum(bool(rows) for rows in told.values()) > 0.9 * len(told), "most conditions hold somewhere"
    assert len(CONDITIONS) > 120


def test_match_and_count(spark: SparkSession, rows: DataFrame) -> None:
    """The whole way: calls computed by Spark are arguments of the matcher, and no column of the result."""
    from eddyline.runtime.spark.dataframe.count import count
    from eddyline.spark import match

    stream = stream_of("s", rows.schema)
    queries = {
        "alone": "SELECT * FROM s WHERE soundex(a) = soundex(b)",
        "mixed": "SELECT * FROM s WHERE n > 2 AND exists(arr, x -> x >= n)",
        "ours": "SELECT * FROM s WHERE n < 5",
    }
    resolver = spark_resolver(spark, [stream])
    for ids in (["alone"], list(queries)):
        qs = QuerySet.build({id: queries[id] for id in ids}, streams=[stream], resolver=resolver)
        df = rows.transform(match(qs, explode=True))
        assert df.columns == [*rows.columns, "query_id"]
        found = sorted((row.query_id, row.id) for row in df.select("id", "query_id").collect())
        expected = [("alone", 1), ("mixed", 0), ("mixed", 1), ("ours", 0), ("ours", 2)]
        assert found == [pair for pair in expected if pair[0] in ids]
    counted = {row.query_id: row.matches for row in rows.transform(count(qs)).collect()}
    assert counted == {id: sum(query == id for query, _ in found) for id in queries}


def test_conditions_stay_conditions(spark: SparkSession, rows: DataFrame) -> None:
    """Constants that a call is compared with are regions of one subject, computed once."""
    stream = stream_of("s", rows.schema)
    queries = {f"q{n}": f"SELECT * FROM s WHERE levenshtein(a, b) < {n} AND n = {n % 8}" for n in range(200)}
    qs = QuerySet.build(queries, streams=[stream], resolver=spark_resolver(spark, [stream]))
    assert [pin_text(call) for call in externals_of(qs)] == ["levenshtein(a, b)"]
    assert qs.columns_read("s") == ("n",)
    assert matched(qs, rows)["q11"] == [0]


def test_parts_that_are_ours_stay_ours(spark: SparkSession, rows: DataFrame) -> None:
    stream = stream_of("s", rows.schema)
    resolver = spark_resolver(spark, [stream])
    sql = "SELECT * FROM s WHERE n > 2 AND exists(arr, x -> x > n) AND lower(a) = 'x'"
    qs = QuerySet.build({"q": sql}, streams=[stream], resolver=resolver)
    assert [pin_text(call) for call in externals_of(qs)] == ["(exists ( `arr` , `x` -> `x` > `n` ))"]
    assert sorted(qs.columns_read("s")) == ["a", "n"]


def test_outputs(spark: SparkSession, rows: DataFrame) -> None:
    from eddyline.functions.evaluate import Evaluation

    stream = stream_of("s", rows.schema)
    compiler = Compiler([stream], resolver=spark_resolver(spark, [stream]))
    listed = ", ".join(f"{text} AS c{place}" for place, text in enumerate(ITEMS))
    outputs = [
        output.expression for output in compiler.compile(Query("q", f"SELECT {listed} FROM s")).outputs
    ]
    empty = QuerySet.build({}, streams=[stream])
    calls = externals_of(empty, "s", outputs)
    assert len(calls) == len(ITEMS) and all(is_external(call) for call in calls)
    given = with_externals(rows, calls).toArrow()
    known = {call: given.column(external_name(place)) for place, call in enumerate(calls)}
    evaluation = Evaluation(given.to_batches()[0], known=known)
    told = rows.selectExpr(*(f"{text} AS c{place}" for place, text in enumerate(ITEMS))).toArrow()
    for place, output in enumerate(outputs):
        assert str(evaluation.values(output).to_pylist()) == str(told.column(place).to_pylist())


def test_saved_and_loaded_without_a_resolver(spark: SparkSession, rows: DataFrame, tmp_path: Path) -> None:
    stream = stream_of("s", rows.schema)
    queries = {
        "a": "SELECT * FROM s WHERE soundex(a) = soundex(b)",
        "b": "SELECT * FROM s WHERE exists(arr, x -> x = n)",
        "c": "SELECT * FROM s WHERE n > 2",
    }
    qs = QuerySet.build(queries, streams=[stream], resolver=spark_resolver(spark, [stream]))
    qs.save(tmp_path / "set")
    loaded = QuerySet.load(tmp_path / "set")
    assert externals_of(loaded) == externals_of(qs)
    assert matched(loaded, rows) == matched(qs, rows) == {"a": [1], "b": [0], "c": [0, 1]}
    with pytest.raises(EddylineError, match="only Spark can compute"):
        loaded.match(rows.toArrow())
    assert loaded.remove(["a", "b"]).add({"d": "SELECT * FROM s WHERE n < 2"}).number("d") == 3


def test_other_spelling_and_narrower_types(spark: SparkSession, rows: DataFrame) -> None:
    """A call gets what is declared, whatever the DataFrame calls it and however narrow it holds it."""
    stream = stream_of("s", rows.withColumn("n", rows["n"].cast("bigint")).schema)
    queries = {"q": f"SELECT * FROM s WHERE hash(n) = {hash_of(spark, 3)} AND exists(arr, x -> x = n)"}
    qs = QuerySet.build(queries, streams=[stream], resolver=spark_resolver(spark, [stream]))
    assert matched(qs, rows.withColumnRenamed("n", "N")) == {"q": [0]}


def hash_of(spark: SparkSession, value: int) -> int:
    return int(spark.sql(f"SELECT hash(cast({value} AS BIGINT)) AS h").collect()[0].h)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("levenshtein(a, arr) < 3", "Spark refuses it: .*STRING"),
        ("exists(arr, x -> x > array(1))", "Spark refuses it"),
        ("exists(arr, x -> prise > x)", 'has no column "prise"'),
        ("exists(arr, x -> )", "lambda functions are not supported"),
        ("levenshtein(a) < 3", "Spark refuses it: .*parameters"),
        ("date_format(ts, 'bad') = '", "never closed"),
        ("from_json(a, 'x NOTYPE').x = 1", "Spark refuses it"),
        ("lowr(a) = 'x'", 'function "lowr" is not known'),
        ("n & a = 1 OR exists(arr, x -> y)", "Spark refuses it|no column"),
        ("my_function(n) = 1", 'function "my_function" is not known'),
        ("n + arr > 1", "."),
    ],
)
def test_what_spark_rejects(spark: SparkSession, rows: DataFrame, condition: str, message: str) -> None:
    stream = stream_of("s", rows.schema)
    with pytest.raises(QueryError, match=message) as caught:
        QuerySet.build(
            {"q": f"SELECT * FROM s WHERE {condition}"},
            streams=[stream],
            resolver=spark_resolver(spark, [stream]),
        )
    assert caught.value.query == "q"


def test_verdicts(spark: SparkSession, rows: DataFrame) -> None:
    stream = stream_of("s", rows.schema)
    verified = Compiler([stream], resolver=spark_resolver(spark, [stream]))
    verdict = verified.check(Query("q", "SELECT sha(a) AS x FROM s WHERE soundex(a) = 'x' AND n & 1 = 1"))
    assert verdict.spark_only and verdict.note == "Spark runtime only: soundex, `n` & 1 = 1, sha"
    assert not verified.check(Query("q", "SELECT * FROM s WHERE n > 1")).spark_only


def test_allowed_functions_of_the_catalog(spark: SparkSession, rows: DataFrame) -> None:
    stream = stream_of("s", rows.schema)
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION eddyline_plus(x INT) RETURNS INT RETURN x + 1")
    try:
        queries = {
            "a": "SELECT * FROM s WHERE eddyline_plus(n) = 4",
            "b": "SELECT * FROM s WHERE eddyline_plus(n) & 4 = 4",
        }
        with pytest.raises(QueryError, match='"eddyline_plus" is not known'):
            QuerySet.build(queries, streams=[stream], resolver=spark_resolver(spark, [stream]))
        allowed = ["Eddyline_Plus"]
        resolver = spark_resolver(spark, [stream], allowed=allowed)
        qs = QuerySet.build(queries, streams=[stream], resolver=resolver)
        assert matched(qs, rows, allowed=resolver.allowed) == {"a": [0], "b": [0]}
    finally:
        spark.sql("DROP TEMPORARY FUNCTION eddyline_plus")
    for name in ("reflect", "catalog.schema.function", "two words"):
        with pytest.raises(EddylineError, match=f'"{name}" cannot be allowed'):
            spark_resolver(spark, allowed=[name])


def test_culprits(spark: SparkSession, rows: DataFrame) -> None:
    stream = stream_of("s", rows.schema)
    queries = {f"q{n}": f"SELECT * FROM s WHERE bround(d, {n}) > 1" for n in range(6)}
    queries["bad"] = "SELECT * FROM s WHERE sequence(n, 1, 2)[0] = 1"
    queries["worse"] = "SELECT * FROM s WHERE exists(arr, x -> 1 % (x - 9) = 0)"
    qs = QuerySet.build(queries, streams=[stream], resolver=spark_resolver(spark, [stream]))
    calls = externals_of(qs)
    culprits = find_culprits(rows, calls)
    assert sorted(map(pin_text, culprits)) == [
        "(exists ( `arr` , `x` -> 1 % ( `x` - 9 ) = 0 ))",
        "sequence(n, 1, 2)",
    ]
    assert all(culprits.values())
    nulled = [pin_text(call) for call in culprits]
    found = matched(qs, rows, nulled=nulled)
    assert found["bad"] == found["worse"] == [] and found["q0"] == [0, 2]
    good = [call for call in calls if call not in culprits]
    assert find_culprits(rows, good) == {}
    assert len(find_culprits(rows, calls, most_runs=2)) > len(culprits), (
        "those that are not cleared are suspects"
    )


def test_exceptions_of_java(spark: SparkSession, rows: DataFrame) -> None:
    """Those that Spark has no class for reach Python as errors of another kind."""
    stream = stream_of("s", rows.schema)
    queries = {"bad": "SELECT * FROM s WHERE format_string('%d', a) = '1'", "good": ITEMS_QUERY}
    qs = QuerySet.build(queries, streams=[stream], resolver=spark_resolver(spark, [stream]))
    ((call, reason),) = find_culprits(rows, externals_of(qs)).items()
    assert "format_string" in pin_text(call) and "IllegalFormatConversion" in reason


def test_a_job_that_is_stopped_blames_nobody(
    spark: SparkSession, rows: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    says_so = F.expr("raise_error('[SPARK_JOB_CANCELLED] Job 3 cancelled')")
    stream = stream_of("s", rows.schema)
    qs = QuerySet.build({"q": ITEMS_QUERY}, streams=[stream], resolver=spark_resolver(spark, [stream]))
    monkeypatch.setattr(culprits, "external_columns", lambda *_, **__: [says_so])
    with pytest.raises(PySparkException, match="CANCELLED"):
        find_culprits(rows, externals_of(qs))


def test_failures_of_the_data_are_nobodys_fault(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    broken = spark.range(1).selectExpr("raise_error('no') AS a")
    with pytest.raises(PySparkException):
        find_culprits(broken, ())


def test_forms_that_give_null(spark: SparkSession, rows: DataFrame) -> None:
    """What fails for a tuple is NULL where Spark has a form for it: nothing to look for."""
    stream = stream_of("s", rows.schema)
    conditions = [
        "element_at(arr, 9) IS NULL",
        "to_number(a, '99') IS NULL",
        "parse_json(a) IS NULL",
        "exists(arr, x -> cast(a AS INT) = x) IS NULL",
        "bround(cast(a AS DOUBLE), 1) IS NULL",
    ]
    queries = {text: f"SELECT * FROM s WHERE {text}" for text in conditions}
    qs = QuerySet.build(queries, streams=[stream], resolver=spark_resolver(spark, [stream]))
    assert all(rows for rows in matched(qs, rows).values())


# What SHOW SYSTEM FUNCTIONS lists and is written otherwise than as a call.
SYNTAX = {
    *"! != % & * + - / < << <= <=> <> = == > >= >> >>> ^ | || ~".split(),
    "and",
    "or",
    "not",
    "in",
    "div",
}


def test_every_function_has_its_place(spark: SparkSession) -> None:
    names = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    placed = {*table.FUNCTIONS, *spark_only.FUNCTIONS, *refused.FUNCTIONS, *SYNTAX, "case", "cast"}
    assert sorted(names - placed) == []


def test_empty_batches(spark: SparkSession, rows: DataFrame) -> None:
    stream = stream_of("s", rows.schema)
    queries = {"q": "SELECT * FROM s WHERE soundex(a) = 'x'"}
    qs = QuerySet.build(queries, streams=[stream], resolver=spark_resolver(spark, [stream]))
    assert matched(qs, rows.where("false")) == {"q": []}
    assert isinstance(with_externals(rows, ()).toArrow(), pa.Table)
