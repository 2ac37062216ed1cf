"""The ways that users of Spark have today to ask many rules of every tuple.

boolean-columns   one boolean column a rule
if-array          an array of `if`s, the numbers of the rules that hold
rules-join        a broadcast table of rules, joined by ranges
python-udf        a Python function that goes through the rules
query-per-rule    one streaming query a rule
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from bench.workloads.predicates import All, Compare, Like, Not, Predicate, Scaled, sql
from bench.workloads.predicates import Any as AnyOf
from bench.workloads.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Peer(Protocol):
    """A way to match the tuples of a DataFrame."""

    name: str

    def numbers(self, df: DataFrame) -> DataFrame:
        """The tuples that match, with the numbers of the queries as `query_numbers`, or what stands for them."""

    def counts(self, df: DataFrame) -> DataFrame:
        """The number of matches of each query."""


class BooleanColumns:
    """The rules as columns `q0`, `q1` ... of truth values."""

    name = "boolean-columns"

    def __init__(self, workload: Workload) -> None:
        self._rules = [sql(workload.predicate(i)) for i in range(workload.queries)]

    def numbers(self, df: DataFrame) -> DataFrame:
        return df.selectExpr("*", *(f"{rule} AS q{i}" for i, rule in enumerate(self._rules)))

    def counts(self, df: DataFrame) -> DataFrame:
        return df.selectExpr(*(f"count_if({rule}) AS q{i}" for i, rule in enumerate(self._rules)))


class IfArray:
    """One array of numbers, NULL where a rule does not hold, then without the NULLs."""

    name = "if-array"

    def __init__(self, workload: Workload) -> None:
        self._rules = [f"if({sql(workload.predicate(i))}, {i}, NULL)" for i in range(workload.queries)]

    def numbers(self, df: DataFrame) -> DataFrame:
        several = df.selectExpr("*", f"array_compact(array({', '.join(self._rules)})) AS query_numbers")
        return several.where("size(query_numbers) > 0")

    def counts(self, df: DataFrame) -> DataFrame:
        return _counted(
            df.selectExpr(f"explode(array_compact(array({', '.join(self._rules)}))) AS query_number")
        )


class RulesJoin:
    """The rules as a table of ranges that every task has; tuples are told apart by a number that the join carries."""

    name = "rules-join"

    def __init__(self, rules: DataFrame) -> None:
        self._rules = rules.hint("broadcast")
        columns = [name.removeprefix("low") for name in rules.columns if name.startswith("low")]
        self._inside = " AND ".join(f"a{a} BETWEEN low{a} AND high{a}" for a in columns)

    def _pairs(self, df: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        return df.join(self._rules, F.expr(self._inside)).withColumnRenamed("query", "query_number")

    def numbers(self, df: DataFrame) -> DataFrame:
        """One row a match, the tuple and the number: gathering the numbers of a tuple would cost a shuffle more."""
        return self._pairs(df).select(*df.columns, "query_number")

    def counts(self, df: DataFrame) -> DataFrame:
        return _counted(self._pairs(df))


class PythonUdf:
    """A function of all columns that asks each rule in turn."""

    name = "python-udf"

    def __init__(self, workload: Workload) -> None:
        self._rules = [python(workload.predicate(i)) for i in range(workload.queries)]

    def _lists(self, df: DataFrame) -> Any:
        from pyspark.sql import functions as F

        columns, texts = ", ".join(df.columns), self._rules
        compiled: list[list[Callable[..., bool]]] = []  # made once in each worker: functions do not travel

        def holding(*values: Any) -> list[int]:
            if not compiled:
                compiled.append([eval(f"lambda {columns}: {text}") for text in texts])
            return [number for number, rule in enumerate(compiled[0]) if rule(*values)]

        # by Arrow, Spark 4.2.0 waits for ever when the columns come straight from Parquet
        return F.udf(holding, "array<int>", useArrow=False).asNondeterministic()(*df.columns)

    def numbers(self, df: DataFrame) -> DataFrame:
        return df.withColumn("query_numbers", self._lists(df)).where("size(query_numbers) > 0")

    def counts(self, df: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        return _counted(df.select(F.explode(self._lists(df)).alias("query_number")))


def _counted(df: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    return df.groupBy("query_number").agg(F.count("*").alias("matches"))


def python(predicate: Predicate) -> str:
    """The predicate as a Python expression over names of columns without NULLs.

    >>> python(All((Compare("a", "=", 3), Not(AnyOf((Compare("b", "<", 1), Compare("c", ">", 2)))))))
    '(a == 3 and not (b < 1 or c > 2))'
    """
    match predicate:
        case Compare(column, operator, value):
            return f"{column} {'==' if operator == '=' else operator} {value!r}"
        case All(parts):
            return "(" + " and ".join(map(python, parts)) + ")"
        case AnyOf(parts):
            return "(" + " or ".join(map(python, parts)) + ")"
        case Not(part):
            return f"not {python(part)}"
        case Scaled(column, factor, operator, other):
            return f"{column} * {factor!r} {'==' if operator == '=' else operator} {other}"
        case Like():
            raise ValueError("no workload on Spark has patterns")
