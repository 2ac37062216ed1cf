"""Rows of files on their way to the workers: some columns, the place of each row, what only Spark could compute."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.errors import EddylineError
from eddyline.model.catalog import Stream
from eddyline.model.expression import Call
from eddyline.runtime.spark.base.schemas import quoted
from eddyline.runtime.spark.functions import external_columns, external_name, find_culprits, pin_text
from eddyline.runtime.spark.histories.parquet_files import FILE, ROW, LocatedFile, ParquetRows
from eddyline.standing.version import Known

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

T = TypeVar("T")


@dataclass(frozen=True)
class Sending:
    """What travels, in this order: file and row, columns of the stream, values of calls. It is known at both ends."""

    schema: pa.Schema
    files: dict[int, LocatedFile] | None  # None: nobody asks for places, and file and row stay at home
    externals: tuple[Call, ...] = ()

    @staticmethod
    def of(
        rows: ParquetRows, stream: Stream, columns: Iterable[str], externals: Iterable[Call] = ()
    ) -> Sending:
        """These columns of a stream, in its order."""
        wanted = set(columns)
        schema = pa.schema([field for field in stream.schema if field.name in wanted])
        return Sending(schema, rows.files, tuple(externals))

    def frame(self, rows: ParquetRows, nulled: Collection[str] = ()) -> DataFrame:
        """What the workers get; calls that are `nulled`, by their text, are NULL."""
        from pyspark.sql import functions as F

        computed = external_columns(rows.frame, self.externals, nulled=nulled)
        named = [column.alias(external_name(index)) for index, column in enumerate(computed)]
        origin = [FILE, ROW] if self.files is not None or not (self.schema or named) else []
        # mapInArrow does not find columns whose names have dots: they travel by number
        own = [F.col(quoted(name)).alias(f"c{index}") for index, name in enumerate(self.schema.names)]
        return rows.frame.select(*origin, *own, *named)

    def runs(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Run]:
        """In the worker: what came, cut where a file ends."""
        for batch in batches:
            lead = batch.num_columns - len(self.schema) - len(self.externals)
            columns = batch.columns[lead : lead + len(self.schema)]
            own = [_as(column, field.type) for column, field in zip(columns, self.schema, strict=True)]
            whole = pa.RecordBatch.from_arrays(
                own or [pa.nulls(batch.num_rows)], names=self.schema.names or [FILE]
            )
            known = dict(zip(self.externals, batch.columns[lead + len(self.schema) :], strict=True))
            if self.files is None:
                yield Run(whole, LocatedFile("", 0), 0, known)
            else:
                yield from _cut(self.files, batch, whole, known)


def _cut(
    files: dict[int, LocatedFile], batch: pa.RecordBatch, whole: pa.RecordBatch, known: Known
) -> Iterator[Run]:
    file, row = np.asarray(batch.column(0)), np.asarray(batch.column(1))
    cuts = np.flatnonzero((np.diff(file) != 0) | (np.diff(row) != 1)) + 1
    for start, end in pairwise([0, *cuts.tolist(), batch.num_rows]):
        if end > start:
            values = {call: column.slice(start, end - start) for call, column in known.items()}
            yield Run(whole.slice(start, end - start), files[int(file[start])], int(row[start]), values)


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive rows of one file; `first` is the number of the first one in it, counted from 0."""

    batch: pa.RecordBatch
    file: LocatedFile
    first: int
    known: Known

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The rows' numbers in their file, counted from 0."""
        return np.arange(self.first, self.first + self.batch.num_rows)


def _as(column: Any, kind: pa.DataType) -> Any:
    return column if column.type == kind else column.cast(kind)


def despite_failures(
    rows: ParquetRows, externals: Collection[Call], action: Callable[[Collection[str]], T]
) -> tuple[T, dict[Call, str]]:
    """What an action gives that gets the texts of calls to count as NULL, and those calls with the reason of each.

    It is tried again without the calls that fail on some row: what fails for one query must not end all.
    """
    culprits: dict[Call, str] = {}
    while True:
        try:
            return action({pin_text(call) for call in culprits}), culprits
        except EddylineError:
            raise
        except Exception:
            healthy = [call for call in externals if call not in culprits]
            found = find_culprits(rows.frame, healthy) if healthy else {}
            if not found:
                raise
            culprits |= found
