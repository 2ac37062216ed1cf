"""Spark as the judge: values of very many expressions over one batch, with those named that Spark refuses or fails on.

All expressions are columns of a few SELECTs. Spark's errors say where in the text they arose, so one look finds the
culprit; it is set aside and the rest is asked again. Without generated code a SELECT of 100 columns takes 0.1 s
instead of 0.7 s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from eddyline.model.catalog import Stream

CHUNK = 60
SMALL_CHUNK = 10  # where many are refused, and each costs its chunk another look
_RULES = "org.apache.spark.sql.catalyst.optimizer."
# Left out of Spark's optimizer: the shortcut that evaluates small tables before the other rules have run, and rules that
# change results. Constants of a sum are added first, which hides overflows; a cast of a column is moved to the constant
# that it is compared with, which hides casts that fail; lower(upper(x)) becomes lower(x), which differs for ß.
EXCLUDED = (
    "ConvertToLocalRelation",
    "ReorderAssociativeOperator",
    "UnwrapCastInBinaryComparison",
    "SimplifyCaseConversionExpressions",
)
_PLACE = re.compile(r"line (\d+),? pos(?:ition)? (\d+)")


@dataclass(frozen=True)
class Values:
    """What an expression gives for every row, and Spark's name of its type."""

    type: str
    array: pa.ChunkedArray | None


@dataclass(frozen=True)
class Refused:
    """Spark does not accept the text."""

    reason: str


@dataclass(frozen=True)
class Failed:
    """Spark accepts the text but fails on some row."""

    reason: str
    type: str


Verdict = Values | Refused | Failed


@contextmanager
def settings(spark: SparkSession, **values: str) -> Iterator[None]:
    """Settings of the session for a while; two underscores stand for a dot."""
    names = {name.replace("__", "."): value for name, value in values.items()}
    before = {name: spark.conf.get(name, None) for name in names}
    for name, value in names.items():
        spark.conf.set(name, value)
    _log_level(spark, "OFF")  # each failing row would be logged four times with Java's stack
    try:
        yield
    finally:
        _log_level(spark, "ERROR")
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def _log_level(spark: SparkSession, level: str) -> None:
    with suppress(PySparkException):  # a session of Spark Connect has no context
        spark.sparkContext.setLogLevel(level)


def load(spark: SparkSession, batch: pa.RecordBatch) -> DataFrame:
    """The batch as a DataFrame; without a schema Spark would take wall clocks for timestamps."""
    schema = ", ".join(f"`{name}` {kind}" for name, kind in Stream("rows", batch.schema).types.items())
    return spark.createDataFrame(pa.Table.from_batches([batch]), schema=schema)


def judge(
    spark: SparkSession,
    batch: pa.RecordBatch,
    expressions: Sequence[str],
    *,
    stream: str = "everything",
    alias: str = "",
    time_zone: str = "UTC",
    codegen: bool = False,
    only_types: bool = False,
) -> list[Verdict]:
    """What Spark says about every expression over the rows of the batch; `only_types` does not evaluate them."""
    verdicts: list[Verdict] = []
    mode = "CODEGEN_ONLY" if codegen else "NO_CODEGEN"
    with settings(
        spark,
        spark__sql__session__timeZone=time_zone,
        spark__sql__codegen__wholeStage=str(codegen).lower(),
        spark__sql__codegen__factoryMode=mode,
        spark__sql__optimizer__excludedRules=",".join(_RULES + rule for rule in EXCLUDED),
    ):
        load(spark, batch).createOrReplaceTempView(stream)
        source = f"{stream} {alias}"
        chunk = SMALL_CHUNK if only_types else CHUNK
        for start in range(0, len(expressions), chunk):
            verdicts += _chunk(spark, list(expressions[start : start + chunk]), source, only_types)
    return verdicts


def _chunk(spark: SparkSession, expressions: list[str], source: str, only_types: bool) -> list[Verdict]:
    verdicts: dict[int, Verdict] = {}
    left = list(range(len(expressions)))
    while left:
        text, starts = _select([expressions[i] for i in left], source)
        types: list[str] = []
        try:
            frame = spark.sql(text)
            types = [field.dataType.simpleString() for field in frame.schema.fields]
            table = None if only_types else frame.toArrow()
        except (PySparkException, Py4JJavaError, ValueError) as error:
            place = _place(error, text, starts)
            if len(left) > 1 and (place is None or place < starts[0]):  # no hint: halves find it
                middle = len(left) // 2
                for half in (left[:middle], left[middle:]):
                    again = _chunk(spark, [expressions[i] for i in half], source, only_types)
                    verdicts.update(zip(half, again, strict=True))
                break
            culprit = max(k for k, start in enumerate(starts) if place is None or start <= place)
            reason = _reason(error)
            verdicts[left.pop(culprit)] = Failed(reason, types[culprit]) if types else Refused(reason)
            continue
        verdicts.update((i, Values(types[k], table and table.column(k))) for k, i in enumerate(left))
        break
    return [verdicts[i] for i in range(len(expressions))]


def _select(expressions: list[str], source: str) -> tuple[str, list[int]]:
    """The SELECT and where in it each expression starts."""
    text, starts = "SELECT ", []
    for i, expression in enumerate(expressions):
        starts.append(len(text))
        text += f"({expression}\n) AS c{i}{',' if i + 1 < len(expressions) else ''} "
    return text + f"FROM {source}", starts


def _place(error: Exception, text: str, starts: list[int]) -> int | None:
    """Offset of what went wrong."""
    if isinstance(error, ValueError):  # Spark calls the column never NULL, but it is
        column = re.search(r"field 'c(\d+)' with null values", str(error))
        return starts[int(column[1])] if column else None
    contexts = (error.getQueryContext() or []) if isinstance(error, PySparkException) else []
    for context in contexts:
        try:
            if context.startIndex() >= 0:
                return int(context.startIndex())
        except PySparkException:
            continue
    if found := _PLACE.search(str(error)):
        line, column = int(found[1]), int(found[2])
        lines = text.split("\n")
        if line <= len(lines):
            return sum(len(piece) + 1 for piece in lines[: line - 1]) + column
    return None


def _reason(error: Exception) -> str:
    if causes := re.findall(r"^Caused by: (.*)$", str(error), re.MULTILINE):
        return str(causes[-1])[:300]
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
