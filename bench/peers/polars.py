"""Polars: one boolean expression a query in one select, and a join with a table of rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, or_
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from bench.workloads.predicates import All, Any, Compare, Like, Not, Predicate, Scaled
from bench.workloads.workload import Workload

_COMPARE: Final[dict[str, Callable[..., pl.Expr]]] = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq}


def expression(predicate: Predicate) -> pl.Expr:
    """The predicate as an expression; NULLs follow SQL's logic in Polars too."""
    match predicate:
        case Compare(column, operator, value):
            return _COMPARE[operator](pl.col(column), value)
        case Like(column, pattern):
            return _like(pl.col(column).str, pattern)
        case Scaled(column, factor, operator, other):
            return _COMPARE[operator](pl.col(column) * factor, pl.col(other))
        case All(parts):
            return reduce(and_, map(expression, parts))
        case Any(parts):
            return reduce(or_, map(expression, parts))
        case Not(part):
            return ~expression(part)


def _like(text: object, pattern: str) -> pl.Expr:
    """The cheapest form that a user would write by hand."""
    inner = pattern.strip("%")
    if "%" not in inner and "_" not in inner:
        if pattern == f"%{inner}%":
            return text.contains(inner, literal=True)
        if pattern == f"{inner}%":
            return text.starts_with(inner)
        if pattern == f"%{inner}":
            return text.ends_with(inner)
    parts = {"%": ".*", "_": "."}
    return text.contains("(?s)^" + "".join(parts.get(c) or re.escape(c) for c in pattern) + "$")


class Select:
    """All queries of a workload as columns of one lazy select; subexpressions are shared by Polars."""

    def __init__(self, workload: Workload) -> None:
        self._expressions = [expression(workload.predicate(i)).alias(str(i)) for i in range(workload.queries)]

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        """One boolean column a query."""
        return frame.lazy().select(self._expressions).collect()

    def counts(self, batch: pa.RecordBatch) -> np.ndarray:
        """Number of matches of every query."""
        found = self(frame_of(batch))
        return np.array([column.sum() for column in found.iter_columns()], np.int64)


def frame_of(batch: pa.RecordBatch) -> pl.DataFrame:
    """A batch as a data frame, outside of any timing."""
    return pl.from_arrow(pa.table(batch))


class Join:
    """Equi-joins with tables of rules, one for each list of columns joined on, and filters behind them."""

    def __init__(self, shapes: list[tuple[list[str], pa.Table]], where: pl.Expr | None = None) -> None:
        self._shapes = [(columns, pl.from_arrow(rules)) for columns, rules in shapes]
        self._where = where

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        """All pairs, as columns `row` and `query`."""
        return pl.concat([self._join(frame.with_row_index("row"), *shape) for shape in self._shapes])

    def _join(self, frame: pl.DataFrame, columns: list[str], rules: pl.DataFrame) -> pl.DataFrame:
        joined = frame.lazy().join(rules.lazy(), on=columns)
        joined = joined if self._where is None else joined.filter(self._where)
        return joined.select("row", "query").collect(engine="streaming")
