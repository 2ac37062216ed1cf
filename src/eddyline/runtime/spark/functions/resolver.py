"""Types of functions and expressions that only Spark has, asked of Spark: analysis alone, no job."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from eddyline.errors import EddylineError, QueryError, SetupError
from eddyline.model import types as t
from eddyline.model.catalog import Stream, spark_type
from eddyline.model.expression import EXTERNAL, SPARK_TEXT, Call, Column, Expression, Literal, walk
from eddyline.runtime.spark.base.schemas import arrow_type, foreign_collation, type_text
from eddyline.runtime.spark.functions.wording import in_short, own_name, sql_of
from eddyline.sql import refused
from eddyline.sql.spark_only.functions import FUNCTIONS
from eddyline.sql.spark_only.rewriting import PLAIN, NotReadable, quoted
from eddyline.sql.spark_only.spark_text import SparkText

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

MAX_REMEMBERED: Final = 100_000
_Columns = tuple[Column, ...]


def spark_resolver(
    spark: SparkSession, streams: Iterable[Stream] = (), *, allowed: Collection[str] = ()
) -> SparkResolver:
    """What `QuerySet.build(..., resolver=...)` takes so that every deterministic scalar function of Spark can be used.

    `allowed` names functions of the session's catalog that queries may use, too.
    """
    return SparkResolver(spark, streams, allowed)


class SparkResolver:
    """Asks a session what type something has; each answer is remembered, so that a shape of queries costs one question.

    A question takes Spark some 10 ms.
    """

    judges = True

    def __init__(
        self, spark: SparkSession, streams: Iterable[Stream] = (), allowed: Collection[str] = ()
    ) -> None:
        self.allowed = frozenset(name.lower() for name in allowed)
        for name in sorted(self.allowed & refused.FUNCTIONS.keys()):
            reason = refused.FUNCTIONS[name].message
            raise EddylineError(f'function "{name}" cannot be allowed: {reason}')
        for name in sorted(self.allowed):
            if not PLAIN.fullmatch(name):
                raise EddylineError(
                    f'function "{name}" cannot be allowed: queries call functions by one plain name',
                    hint="create a temporary function with such a name",
                )
        self.functions = FUNCTIONS | self.allowed
        self._spark = spark
        self._streams = list(streams)
        self._frames: dict[_Columns, DataFrame] = {}
        self._answers: dict[tuple[str, _Columns], t.DataType | QueryError] = {}

    def call(self, name: str, arguments: Sequence[Expression]) -> t.DataType | None:
        """The type of a call, or None for a function that queries may not use."""
        if name not in self.functions:
            return None
        return self._ask(Call(EXTERNAL + name, tuple(arguments), t.VOID))

    def expression(self, piece: SparkText) -> t.DataType:
        """The type of a piece of text."""
        return self._ask(Call(SPARK_TEXT, (Literal(piece.text, t.STRING), *piece.columns), t.VOID))

    def _ask(self, call: Call) -> t.DataType:
        columns = tuple(dict.fromkeys(e for e in walk(call) if isinstance(e, Column)))
        key = (sql_of(call, own_name, self.allowed), columns)
        if key not in self._answers:
            if len(self._answers) >= MAX_REMEMBERED:
                self._answers.clear()
            self._answers[key] = self._answer(*key)
        answer = self._answers[key]
        if isinstance(answer, QueryError):
            raise type(answer)(answer.message, hint=answer.hint)
        return answer

    def _answer(self, text: str, columns: _Columns) -> t.DataType | QueryError:
        from pyspark import errors
        from pyspark.sql import functions as F

        refusals = (
            errors.AnalysisException,
            errors.ArithmeticException,
            errors.ArrayIndexOutOfBoundsException,
            errors.DateTimeException,
            errors.IllegalArgumentException,
            errors.NumberFormatException,
            errors.SparkRuntimeException,
            errors.SparkUpgradeException,
            errors.UnsupportedOperationException,
        )

        try:
            frame = self._frame(columns)
            return _type_of(frame.select("*", F.expr(text).alias("eddyline")).schema[-1].dataType)
        except errors.ParseException as error:
            return NotReadable(f"Spark cannot read it: {in_short(error)}")
        except refusals as error:
            return QueryError(f"Spark refuses it: {in_short(error)}")
        except errors.PySparkException as error:  # nobody's query: the session has ended, the server is away
            raise SetupError(f"Spark cannot be asked about queries: {in_short(error)}") from error
        except QueryError as error:
            return error
        except Exception as error:  # the same, as the ways to Spark tell it
            raise SetupError(f"Spark cannot be asked about queries: {error}") from error

    def _frame(self, columns: _Columns) -> DataFrame:
        """An empty DataFrame with these columns, one for all questions about a stream."""
        for stream in self._streams:
            if all(stream.types.get(column.name) == column.type for column in columns):
                columns = tuple([Column(name, kind) for name, kind in stream.types.items()])
                break
        if columns not in self._frames:
            listed = ", ".join(f"{quoted(c.name)} {type_text(c.type)}" for c in columns)
            self._frames[columns] = self._spark.createDataFrame([], listed or "eddyline_nothing INT")
        return self._frames[columns]


def _type_of(kind: DataType) -> t.DataType:
    arrow = arrow_type(kind)
    found = None if arrow is None or foreign_collation(kind) is not None else spark_type(arrow)
    if found is None:
        raise QueryError(
            f"its type is {kind.simpleString()}, which queries cannot pass on",
            hint="compare it, or convert it to text or a number",
        )
    return found
