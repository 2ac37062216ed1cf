"""Whom binding asks about what only Spark knows: functions outside of the table, and pieces of text as a whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from eddyline.model.expression import Expression
from eddyline.model.types import DataType
from eddyline.sql.spark_only.spark_text import SparkText


class Resolver(Protocol):
    """Gives the types of what only Spark can compute."""

    @property
    def functions(self) -> Collection[str]:
        """Names, in lower case, of the functions that queries may use besides those of the table."""

    @property
    def judges(self) -> bool:
        """Whether the answers are Spark's own, so that it may be asked about what we read and find wrong."""

    def call(self, name: str, arguments: Sequence[Expression]) -> DataType | None:
        """The type of a call; None for a function that is not known, `QueryError` for arguments that do not fit."""

    def expression(self, piece: SparkText) -> DataType:
        """The type of a piece of text that was checked; `NotReadable` or another `QueryError` where Spark refuses it."""
