"""Spark as the judge of joins: batch SQL for each stretch of a script over which a join stands.

Texts are asked as they are written, or, where Spark fails on some row, in its forms that give NULL instead.
"""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from eddyline.model import types as t
from eddyline.model.join import BoundJoin
from eddyline.model.query import Query
from eddyline.sql import bind, render_join
from eddyline.testing.joins.scripts import POSITIONS, JoinScript, run_reference
from tests.comparisons import compared
from tests.differential.join_stretches import (
    JoinReport,
    Pairs,
    Stretch,
    arrived,
    as_written,
    judge_pairs,
    limits,
    stretches,
)
from tests.differential.judge import EXCLUDED, load, settings

_RULES = "org.apache.spark.sql.catalyst.optimizer."
_NUMBERS = {
    t.TIMESTAMP: "unix_micros({})",
    # by way of text: as an instant of the session's zone, a wall clock would be moved where clocks change
    t.TIMESTAMP_NTZ: "unix_micros(CAST(concat(CAST({} AS STRING), 'Z') AS TIMESTAMP))",
    t.DATE: "unix_date({})",
}


def judge_spark(spark: SparkSession, script: JoinScript, report: JoinReport) -> None:
    """Compare what the reference finds with what Spark does."""
    result = run_reference(script)
    with settings(
        spark,
        spark__sql__session__timeZone=script.streams.zone,
        spark__sql__codegen__wholeStage="false",
        spark__sql__codegen__factoryMode="NO_CODEGEN",
        spark__sql__optimizer__excludedRules=",".join(_RULES + rule for rule in EXCLUDED),
    ):
        for name, tuples in arrived(script, result).items():
            load(spark, tuples).createOrReplaceTempView(name)
        try:
            answers = _ask(spark, [as_written(script, stretch, _NUMBERS) for stretch in stretches(script)])
        except (PySparkException, Py4JJavaError):
            report.failed += 1
            answers = _ask(spark, [_rendered(script, stretch) for stretch in stretches(script)])
    compared("Spark: joins", len(answers))
    judge_pairs(script, result, answers, "spark", report)


def _ask(spark: SparkSession, texts: list[str]) -> list[Pairs]:
    """The pairs that each text gives, all asked for at once."""
    parts = [f"SELECT {number} AS number, * FROM ({text})" for number, text in enumerate(texts)]
    rows = spark.sql(" UNION ALL ".join(parts)).collect()
    return [{(row[1], row[2]) for row in rows if row[0] == number} for number in range(len(texts))]


def _rendered(script: JoinScript, stretch: Stretch) -> str:
    query = Query(stretch.id, str(stretch.statement))
    bound = bind(query, script.streams.both, time_zone=script.streams.zone)
    assert isinstance(bound, BoundJoin), "two streams are joined"
    return f"{render_join(bound, [POSITIONS], try_forms=True)} WHERE {limits(script, stretch, _NUMBERS)}"
