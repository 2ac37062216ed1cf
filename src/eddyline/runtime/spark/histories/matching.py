"""Parquet of any size against queries: counts, pairs of row and query, and the rows that queries ask for.

Only counts come to the driver; pairs and rows are made by the workers, in no order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from eddyline.delivery.json_text import unique
from eddyline.model import types as t
from eddyline.model.catalog import Stream, spark_type
from eddyline.model.expression import Call
from eddyline.project.select_lists import LEAD, SelectLists
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.base.schemas import quoted, type_text
from eddyline.runtime.spark.functions import find_culprits, pin_text
from eddyline.runtime.spark.histories.matching_worker import (
    FileSelection,
    counts,
    json_texts,
    pairs,
    several_lists,
)
from eddyline.runtime.spark.histories.parquet_files import ParquetRows, explained
from eddyline.runtime.spark.histories.sending import Sending, despite_failures
from eddyline.runtime.spark.sessions import session_checks
from eddyline.runtime.spark.transport.carrying import carried_rows
from eddyline.runtime.spark.transport.shipping import Shipment, ship

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

PAIRS: Final = "query STRING, file STRING, row BIGINT"


@dataclass(frozen=True)
class Matching:
    """Queries of a set over the rows of one of its streams; `nulled` are calls that fail and count as NULL, by text."""

    rows: ParquetRows
    queries: QuerySet
    stream: Stream
    shipment: Shipment
    nulled: frozenset[str] = frozenset()

    @staticmethod
    def of(rows: ParquetRows, queries: QuerySet, stream: Stream, folder: str | None = None) -> Matching:
        """Ready to run; `folder` is where compiled queries are put for the workers, as for `match`."""
        spark = rows.frame.sparkSession
        session_checks.check(spark, time_zone=queries.time_zone)
        shipment = ship(queries, folder=folder, local=session_checks.is_local(spark))
        return Matching(rows, queries, stream, shipment)

    def counts(self) -> tuple[dict[str, int], dict[Call, str]]:
        """How many rows each query matches, those with none left out, and the calls that fail with the reason."""
        sending = replace(self._sending(), files=None)
        work = partial(counts, self.shipment, sending, self.stream.name)

        def count(nulled: Collection[str]) -> list[tuple[str, int]]:
            found = sending.frame(self.rows, nulled).mapInArrow(carried_rows(work), "query STRING, n BIGINT")
            return [(row[0], row[1]) for row in found.groupBy("query").sum("n").collect()]

        with explained():
            found, culprits = despite_failures(self.rows, sending.externals, count)
        return dict(found), culprits

    def without(self, culprits: Collection[Call]) -> Matching:
        """The same with more calls that count as NULL."""
        return replace(self, nulled=self.nulled | {pin_text(call) for call in culprits})

    def failing_outputs(self, lists: SelectLists) -> dict[Call, str]:
        """Calls of SELECT lists alone that only Spark can compute and that fail on some row; looked for only if there are any."""
        known = {*self.queries.externals(self.stream.name)}
        calls = [call for call in self._selection(lists).sending.externals if call not in known]
        return find_culprits(self.rows.frame, calls) if calls else {}

    def pairs(self) -> DataFrame:
        """Which query matched which row: columns `query`, `file`, `row`."""
        sending = self._sending()
        work = partial(pairs, self.shipment, sending, self.stream.name)
        return sending.frame(self.rows, self.nulled).mapInArrow(carried_rows(work), PAIRS)

    def lines(self, lists: SelectLists) -> DataFrame:
        """What queries select, one JSON object per line, whatever their SELECT lists: columns `list` and `value`."""
        selection = self._selection(lists)
        work = partial(json_texts, selection)
        frame = selection.sending.frame(self.rows, self.nulled)
        return frame.mapInArrow(carried_rows(work), "list INT, value STRING")

    @contextmanager
    def tables(self, lists: SelectLists, kind: str) -> Iterator[dict[int, DataFrame]]:
        """What queries select: for each SELECT list over the stream a table, as parquet, csv or jsonl has it.

        The rows of several lists are found in one pass and kept by Spark until all are written.
        """
        mine = tuple(select.number for select in lists.lists if select.stream == self.stream)
        found = self.lines(lists) if kind == "jsonl" else self._structs(lists, mine, kind != "parquet")
        if len(mine) > 1:
            found = found.persist()
        chosen = {number: "value" if kind == "jsonl" else f"p{number}.*" for number in mine}
        yield {
            number: found.where(found["list"] == number).select(column) for number, column in chosen.items()
        }
        if len(mine) > 1:
            found.unpersist()

    def _structs(self, lists: SelectLists, mine: tuple[int, ...], as_text: bool) -> DataFrame:
        """The rows of all lists, each in a column of its own."""
        selection = self._selection(lists)
        kinds = [f"p{number} STRUCT<{_ddl(lists.lists[number].schema, as_text)}>" for number in mine]
        work = partial(several_lists, selection, mine, as_text)
        frame = selection.sending.frame(self.rows, self.nulled)
        return frame.mapInArrow(carried_rows(work), ", ".join(["list INT", *kinds]))

    def _sending(self, columns: Iterable[str] = (), calls: Iterable[Call] = ()) -> Sending:
        """What predicates need, and more."""
        name = self.stream.name
        externals = dict.fromkeys([*self.queries.externals(name), *calls])
        return Sending.of(self.rows, self.stream, {*self.queries.columns_read(name), *columns}, externals)

    def _selection(self, lists: SelectLists) -> FileSelection:
        mine = [select for select in lists.lists if select.stream == self.stream]
        calls = [call for select in mine for call in select.externals]
        columns = [name for select in mine for name in select.columns]
        return FileSelection(self.shipment, self._sending(columns, calls), self.stream.name, lists)


def _ddl(selected: pa.Schema, as_text: bool) -> str:
    fields = [*LEAD, *selected]
    kinds = ["STRING" if as_text else _type(field.type) for field in fields]
    names = unique([field.name for field in fields])
    return ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(names, kinds, strict=True))


def _type(kind: pa.DataType) -> str:
    known = spark_type(kind)
    assert known is not None, "what Spark handed over has a type in Spark"
    return "STRING" if known == t.VOID else type_text(known)  # no file holds columns of VOID
